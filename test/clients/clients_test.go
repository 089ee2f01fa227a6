// Package clients runs clients in several languages against a server whose answers get lost.
package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"berth/internal/version"
	"berth/test/process"
)

var root = filepath.Join("..", "..")

// want is what each client's program prints of its fleet: three pods placed by one call, one that
// takes the place of another, a hold that is committed, a pod that is removed, and the events of
// all that.
const want = `{"placed":3,"stopped":1,"train":"Scheduled","hold":"committed","removed":1,"decisions":6,"placements":3,"revisions":8}`

func TestClients(t *testing.T) {
	program := filepath.Join(t.TempDir(), "server")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, root+"/cmd/server").CombinedOutput(); err != nil {
		t.Fatalf("build the server: %v\n%s", err, out)
	}
	ready := filepath.Join(t.TempDir(), "ready")
	server, err := process.Start(exec.Command(program, "--listen", "127.0.0.1:0", "--data-dir", filepath.Join(t.TempDir(), "data"), "--ready-file", ready), ready)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
	fleet := filepath.Join(t.TempDir(), "fleet")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-C", filepath.Join(root, "client"), "-o", fleet, "./examples/fleet").CombinedOutput(); err != nil {
		t.Fatalf("build the client: %v\n%s", err, out)
	}
	compiled := t.TempDir()
	for cluster, program := range map[string][]string{
		"go":         {fleet},
		"python":     {"python3", "-B", filepath.Join(root, "examples", "python", "fleet.py")},
		"typescript": {"node", filepath.Join(compiled, "fleet.js")},
	} {
		t.Run(cluster, func(t *testing.T) {
			needs(t, program[0])
			if cluster == "typescript" {
				compile(t, compiled)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // a client that waits for an event in vain
			defer cancel()
			p := &lossy{t: t, server: "http://" + server.Host, tries: map[string]int{}}
			front := httptest.NewServer(p)
			defer front.Close()
			c := exec.CommandContext(ctx, program[0], append(program[1:], front.URL, cluster)...)
			var errs bytes.Buffer
			c.Stderr = &errs
			out, err := c.Output()
			if err != nil {
				t.Fatalf("%v\n%s", err, errs.Bytes())
			}
			var have, expected map[string]any
			if err := json.Unmarshal(out, &have); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if err := json.Unmarshal([]byte(want), &expected); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(expected, have); d != "" {
				t.Errorf("-want +have:\n%s", d)
			}
			if len(p.tries) < 7 || p.streams < 3 {
				t.Errorf("%d calls that write and %d streams came through", len(p.tries), p.streams)
			}
		})
	}
}

// compile compiles the client in TypeScript as tsconfig.json has it: strict, with a pod in it.
func compile(t *testing.T, to string) {
	t.Helper()
	needs(t, "tsc")
	from := filepath.Join(root, "client", "ts")
	if out, err := exec.CommandContext(t.Context(), "tsc", "--project", from, "--outDir", to).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(from, "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	var is struct{ Version, Type string }
	if err := json.Unmarshal(text, &is); err != nil || "v"+is.Version != version.Number {
		t.Errorf("client/ts/package.json is of version %s, and berth of %s: %v", is.Version, version.Number, err)
	}
	if err := os.WriteFile(filepath.Join(to, "package.json"), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// needs skips a test where a program is missing, which in CI is an error.
func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
}

// lossy stands between a client and its server. Of each call that writes it refuses the first try
// with 503, loses the answer of the second, and lets the third through; of each stream of events it
// lets a few through.
type lossy struct {
	t      *testing.T
	server string

	mu      sync.Mutex
	tries   map[string]int // by key
	streams int
}

func (l *lossy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	l.mu.Lock()
	key, try := r.Header.Get("Idempotency-Key"), 0
	if r.Method == http.MethodPost {
		l.tries[key]++
		try = l.tries[key]
	}
	l.mu.Unlock()
	if r.Method == http.MethodPost && key == "" {
		l.t.Errorf("%s without a key", r.URL)
	}
	if try == 1 {
		w.Header().Set("Retry-After", "0")
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	out, err := http.NewRequestWithContext(r.Context(), r.Method, l.server+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	out.Header = r.Header
	answer, err := http.DefaultTransport.RoundTrip(out)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer func() { _ = answer.Body.Close() }()
	if try == 2 {
		_, _ = io.Copy(io.Discard, answer.Body)
		panic(http.ErrAbortHandler) // it is done, and the client cannot know
	}
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.StatusCode)
	if strings.HasPrefix(answer.Header.Get("Content-Type"), "text/event-stream") {
		l.stream(w, answer.Body)
	}
	_, _ = io.Copy(w, answer.Body)
}

// stream lets some events through, and cuts the stream in the midst of one.
func (l *lossy) stream(w http.ResponseWriter, from io.Reader) {
	l.mu.Lock()
	l.streams++
	l.mu.Unlock()
	one := make([]byte, 1)
	for events := 0; events < 8; {
		if _, err := io.ReadFull(from, one); err != nil {
			break
		}
		_, _ = w.Write(one)
		if one[0] == '{' { // the data of an event begins
			events++
		}
		_ = http.NewResponseController(w).Flush()
	}
	panic(http.ErrAbortHandler)
}
