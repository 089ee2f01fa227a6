package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"berth/internal/handlers/limits"
	"berth/internal/semantics"
	"berth/test/pgtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Around(m)) }

// command runs a command line and gives its exit code and outputs.
func command(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = run(context.Background(), args, &o, &e)
	return code, o.String(), e.String()
}

// running is a server that was started.
type running struct {
	url  string
	dir  string
	log  *logs
	stop func() error
}

type logs struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// valid are settings that a server starts with.
func valid(t *testing.T) settings {
	t.Helper()
	return settings{
		Listen: "127.0.0.1:0", DataDir: t.TempDir(), ReadyFile: filepath.Join(t.TempDir(), "ready"), LogLevel: "info", LogFormat: "json",
		ShutdownTimeout: 10 * time.Second, Audit: "strict", SpoolLimit: 1 << 30, Limits: limits.Default(),
	}
}

func serve(t *testing.T, dir string, more ...func(*settings)) *running {
	t.Helper()
	c := &serveCmd{settings: valid(t)}
	c.DataDir = dir
	for _, set := range more {
		set(&c.settings)
	}
	ctx, cancel := context.WithCancel(context.Background())
	log := &logs{}
	ended := make(chan error, 1)
	go func() { ended <- c.serve(ctx, newLogger(log, "json", "info")) }()
	var once sync.Once
	var result error
	r := &running{dir: dir, log: log, stop: func() error {
		once.Do(func() {
			cancel()
			result = <-ended
		})
		return result
	}}
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		if err := r.stop(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(c.ReadyFile); err == nil {
			t.Error("the ready file outlives the server")
		}
	})
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(5 * time.Millisecond) {
		select {
		case err := <-ended:
			ended <- err // for the clean-up
			t.Fatalf("%v\n%s", err, log)
		default:
		}
		if address, err := os.ReadFile(c.ReadyFile); err == nil {
			r.url = "http://" + string(address)
			return r
		}
	}
	t.Fatalf("not ready: %s", log)
	return nil
}

func (r *running) post(t *testing.T, path, body string, headers ...string) (int, []byte) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, r.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	out, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, out
}

const oneNode = `{"kind":"List","apiVersion":"v1","items":[{"kind":"Node","apiVersion":"v1","metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"64","memory":"8Gi","pods":"110"}}}]}`

func decisionOn(name string) string {
	return fmt.Sprintf(`{"snapshot":"default@latest","bind":true,"pod":{"metadata":{"name":%q,"namespace":"d"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}}}`, name)
}

func TestServeDecideRestartReplay(t *testing.T) {
	dir := t.TempDir()
	r := serve(t, dir)
	if !strings.Contains(r.log.String(), "serves on "+r.url) {
		t.Errorf("the log does not name the address: %s", r.log.String())
	}
	resp, err := http.Get(r.url + "/readyz?verbose")
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if code, out := r.post(t, "/v1/snapshots", oneNode); code != http.StatusCreated {
		t.Fatalf("%d %s", code, out)
	}
	code, out := r.post(t, "/v1/decisions", decisionOn("a"))
	var d struct{ ID, Node string }
	if err := json.Unmarshal(out, &d); err != nil || code != http.StatusCreated || d.Node != "n1" {
		t.Fatalf("%d %s", code, out)
	}
	if code, out, errs := command(t, "replay", d.ID, "--server", r.url); code != 0 || !strings.Contains(out, `"identical": true`) {
		t.Errorf("%d %s %s", code, out, errs)
	}
	if code, _, errs := command(t, "replay", d.ID, "--data-dir", dir); code != 1 || !strings.Contains(errs, "--server") {
		t.Errorf("a store that is open was opened again: %d %s", code, errs)
	}
	if code, _, errs := command(t, "replay", "01938f3e-0000-7000-8000-000000000000", "--server", r.url); code != 1 || !strings.Contains(errs, "404") {
		t.Errorf("%d %s", code, errs)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := command(t, "replay", d.ID, "--data-dir", dir); code != 0 || !strings.Contains(out, `"identical": true`) {
		t.Errorf("%d %s %s", code, out, errs)
	}
	again := serve(t, dir)
	if code, out := again.post(t, "/v1/decisions/"+d.ID+"/replay", ""); code != http.StatusOK || !bytes.Contains(out, []byte(`"identical":true`)) {
		t.Errorf("%d %s", code, out)
	}
}

// TestEndInOrder stops a server amid calls: each that was begun is answered, and each answer is on
// record.
func TestEndInOrder(t *testing.T) {
	dir := t.TempDir()
	r := serve(t, dir)
	if code, out := r.post(t, "/v1/snapshots", oneNode); code != http.StatusCreated {
		t.Fatalf("%d %s", code, out)
	}
	var mu sync.Mutex
	var answered []string
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for n := 0; ; n++ {
				resp, err := http.Post(r.url+"/v1/decisions", "application/json", strings.NewReader(strings.Replace(decisionOn(fmt.Sprintf("p%d-%d", i, n)), `"bind":true,`, "", 1)))
				if err != nil {
					return // the server is gone
				}
				out, err := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				var d struct{ ID string }
				if err != nil || resp.StatusCode != http.StatusCreated || json.Unmarshal(out, &d) != nil {
					t.Errorf("a call that was begun got %d %v", resp.StatusCode, err)
					return
				}
				mu.Lock()
				answered = append(answered, d.ID)
				mu.Unlock()
			}
		})
	}
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		mu.Lock()
		n := len(answered)
		mu.Unlock()
		if n > 50 || time.Since(began) > time.Minute {
			break
		}
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	group.Wait()
	if len(answered) < 50 {
		t.Fatalf("only %d calls were answered", len(answered))
	}
	again := serve(t, dir)
	for _, id := range answered {
		resp, err := http.Get(again.url + "/v1/decisions/" + id)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("%s was answered and is not on record", id)
		}
	}
}

func TestLogsNameRequestAndTrace(t *testing.T) {
	r := serve(t, t.TempDir())
	r.post(t, "/v1/decisions", `{`, "X-Request-Id", "req-1", "traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	var found bool
	for line := range strings.SplitSeq(r.log.String(), "\n") {
		if strings.Contains(line, `"refused"`) {
			found = strings.Contains(line, `"requestId":"req-1"`) && strings.Contains(line, `"traceId":"0af7651916cd43dd8448eb211c80319c"`)
		}
	}
	if !found {
		t.Error(r.log)
	}
}

func TestMetricsThere(t *testing.T) {
	r := serve(t, t.TempDir())
	if code, out := r.post(t, "/v1/snapshots", oneNode); code != http.StatusCreated {
		t.Fatalf("%d %s", code, out)
	}
	resp, err := http.Get(r.url + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"berth_build_info{", "berth_audit_queue_length ", "berth_audit_queue_capacity ", "berth_audit_records_total{", "berth_store_operation_duration_seconds_count{", "berth_snapshot_nodes{", "http_server_request_duration_seconds_count{", "go_goroutines "} {
		if !bytes.Contains(text, []byte("\n"+name)) {
			t.Errorf("no %s", name)
		}
	}
}

func TestSettings(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.yaml")
	if err := os.WriteFile(bad, []byte("kind: Pod\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string // in the message; empty: the settings are good
	}{
		{nil, ""},
		{[]string{"--listen", "localhost:0"}, ""},
		{[]string{"--listen", "[::1]:80"}, ""},
		{[]string{"--listen", "0.0.0.0:80", "--insecure"}, ""},
		{[]string{"--listen", "0.0.0.0:80"}, "--insecure"},
		{[]string{"--listen", ":80"}, "--insecure"},
		{[]string{"--listen", "berth.example:80"}, "--insecure"},
		{[]string{"--listen", "0.0.0.0:80", "--require-identity"}, "clear text"},
		{[]string{"--listen", "0.0.0.0:80", "--tls-cert", "c", "--tls-key", "k"}, ""},
		{[]string{"--extender-listen", "0.0.0.0:81", "--insecure"}, "--extender-insecure"},
		{[]string{"--extender-listen", "0.0.0.0:81", "--extender-insecure"}, ""},
		{[]string{"--extender-listen", "127.0.0.1:81", "--require-identity"}, "--extender-tls-client-ca"},
		{[]string{"--metrics-listen", "81"}, "--metrics-listen"},
		{[]string{"--listen", "80"}, "--listen"},
		{[]string{"--listen", "127.0.0.1:http-ish"}, "--listen"},
		{[]string{"--database-url", "postgres://u:secret@h/d"}, ""},
		{[]string{"--database-url", "mysql://u:secret@h/d"}, "--database-url"},
		{[]string{"--keep-decisions", "7d", "--keep-revisions", "1.5d"}, ""},
		{[]string{"--keep-decisions", "-1h"}, "--keep-decisions"},
		{[]string{"--keep-decisions", "-7d"}, "--keep-decisions"},
		{[]string{"--keep-decisions", "7 days"}, "--keep-decisions: \"7 days\" is not an age, such as 24h or 7d"},
		{[]string{"--keep-revisions", "200000d"}, "--keep-revisions"},
		{[]string{"--keep-revisions", "0.01d"}, "--keep-revisions must be at least 1h"},
		{[]string{"--data-dir", ""}, "--data-dir"},
		{[]string{"--otlp-endpoint", "localhost:4318"}, "--otlp-endpoint"},
		{[]string{"--shutdown-timeout", "0s"}, "--shutdown-timeout"},
		{[]string{"--pool-label", "instance type"}, "--pool-label is no key of a label: "},
		{[]string{"--spool-limit", "1000"}, "--spool-limit"},
		{[]string{"--audit", "relaxed"}, "--audit (or BERTH_AUDIT) can only be strict: every answer waits for its durable record; leave it out"},
		{[]string{"--audit", "strict"}, ""},
		{[]string{"--config", filepath.Join(dir, "none.yaml")}, "--config"},
		{[]string{"--config", bad}, "--config"},
		{[]string{"--log-level", "loud"}, "--log-level"},
		{[]string{"--log-format", "xml"}, "--log-format"},
		{[]string{"--max-connections", "0"}, "--max-connections"},
		{[]string{"--max-pods", "500001"}, "--max-pods must not be above 500000"},
		{[]string{"--extender-deadline", "900ms", "--hold-rejections", "0"}, "--extender-deadline must not be below 1s"},
		{[]string{"--memory-budget", "lots"}, "--memory-budget"},
		{[]string{"--max-pods", "-1"}, "--max-pods"},
		{[]string{"--no-such-flag"}, "--no-such-flag"},
	} {
		code, out, errs := command(t, append([]string{"config", "print"}, c.args...)...)
		if (code == 0) != (c.want == "") || !strings.Contains(errs, c.want) {
			t.Errorf("%q: %d %s", c.args, code, errs)
		}
		if strings.Contains(out+errs, "secret") {
			t.Errorf("%q: a secret is printed: %s %s", c.args, out, errs)
		}
	}
}

func TestOriginsOfSettings(t *testing.T) {
	t.Setenv("BERTH_MAX_NODES", "1234")
	t.Setenv("BERTH_LOG_LEVEL", "warn")
	code, out, errs := command(t, "config", "print", "--log-level", "error")
	if code != 0 {
		t.Fatal(errs)
	}
	for _, want := range []string{"max-nodes: 1234  # BERTH_MAX_NODES\n", "log-level: \"error\"  # flag\n", "max-pods: 200000  # default\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %s", want, out)
		}
	}
	t.Setenv("DATABASE_URL", "mysql://h/d")
	if code, _, errs := command(t, "config", "print"); code == 0 || !strings.Contains(errs, "--database-url") {
		t.Errorf("%d %s", code, errs)
	}
}

// TestLimitsFitIntoMemory: a limit that is not set is derived from the memory limit, and one that
// is set and does not fit is refused.
func TestLimitsFitIntoMemory(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1 << 30 / 10 * 9))
	code, out, errs := command(t, "config", "print", "--no-auto-memory")
	for _, line := range []string{"memory-budget: 518MiB"} {
		if code != 0 || !strings.Contains(out, "\n"+line+"  # memory limit of ") {
			t.Errorf("%q is not printed: %d %s", line, code, errs)
		}
	}
	if code, out, errs = command(t, "config", "print", "--no-auto-memory", "--memory-budget", "1GiB"); code == 0 || !strings.Contains(errs, "--memory-budget") || !strings.Contains(out, "memory-budget: 1GiB  # flag") {
		t.Errorf("%d %s", code, errs)
	}
}

// TestEveryLimitIsAFlag compares what handlers name in refusals with what the command line takes.
func TestEveryLimitIsAFlag(t *testing.T) {
	_, out, _ := command(t, "config", "print")
	_, help, _ := command(t, "serve", "--help")
	for i := range reflect.TypeFor[limits.Limits]().NumField() {
		name := reflect.TypeFor[limits.Limits]().Field(i).Tag.Get("name")
		if name == "" {
			continue // the fixed ones
		}
		if !strings.Contains(out, "\n"+name+": ") || !strings.Contains(help, "--"+name) {
			t.Errorf("--%s is not there", name)
		}
	}
}

func TestMigrateAndVersion(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		args []string
		want string
		code int
	}{
		{[]string{"migrate", "status", "--data-dir", dir}, "schema 0 of ", 0},
		{[]string{"migrate", "up", "--data-dir", dir}, "schema ", 0},
		{[]string{"migrate", "down", "--to", "99", "--data-dir", dir}, "", 1},
		{[]string{"migrate", "down", "--to", "0", "--data-dir", dir}, "schema 0 of ", 0},
		{[]string{"version"}, "knows " + semantics.Known(), 0},
		{[]string{"version", "-o", "json"}, `"semantics": "v1.36`, 0},
		{[]string{"--help"}, "Examples:", 0},
	} {
		if code, out, errs := command(t, c.args...); code != c.code || !strings.Contains(out, c.want) {
			t.Errorf("%q: %d %s %s", c.args, code, out, errs)
		}
	}
}

func TestLogFormats(t *testing.T) {
	for format, want := range map[string]string{"json": `{"time":`, "auto": `{"time":`, "text": "time="} {
		var b bytes.Buffer
		newLogger(&b, format, "info").With(slog.Int("a", 1)).WithGroup("g").Info("x", slog.Int("b", 2))
		if !strings.HasPrefix(b.String(), want) {
			t.Errorf("%s: %s", format, &b)
		}
	}
}

func TestReadyFileIsWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ready")
	for _, address := range []string{"127.0.0.1:1", "127.0.0.1:65535"} {
		if err := writeReady(path, address); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != address {
			t.Errorf("%q %v", got, err)
		}
	}
	if err := writeReady(filepath.Join(path, "x"), "a"); err == nil {
		t.Error("a file was written below a file")
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(path), ".ready-*")); err != nil || len(left) > 0 {
		t.Errorf("%v is left behind", left)
	}
}

// TestPasswordInArguments: a password on the command line leads to a warning that does not repeat
// it; a password from elsewhere is never shown.
func TestPasswordInArguments(t *testing.T) {
	const warned = "can read in the list of processes"
	for url, want := range map[string]bool{
		"postgres://u:secret@127.0.0.1:1/b": true, "postgres://u@127.0.0.1:1/b?password=secret": true, "postgres://u@127.0.0.1:1/b": false,
	} {
		for _, cmd := range [][]string{{"config", "print"}, {"migrate", "status"}} {
			_, _, errs := command(t, append(cmd, "--database-url", url)...)
			if strings.Contains(errs, warned) != want || strings.Contains(errs, "secret") {
				t.Errorf("%v %s: %s", cmd, url, errs)
			}
		}
	}
	t.Setenv("DATABASE_URL", "postgres://u:secret@127.0.0.1:1/b")
	if _, _, errs := command(t, "config", "print"); strings.Contains(errs, warned) {
		t.Errorf("by the environment: %s", errs)
	}
}
