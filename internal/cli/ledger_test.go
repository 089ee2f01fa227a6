package cli

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	nodeOne  = "apiVersion: v1\nkind: Node\nmetadata: {name: new-1}\nstatus: {allocatable: {cpu: \"8\", memory: 8Gi, pods: \"110\"}}\n"
	podOne   = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"one"},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}]}}` + "\n"
	podOther = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: two, namespace: shop}, spec: {containers: [{name: c, image: i}]}}\n"
)

// says runs a command and wants its exit code, and texts of its output.
func (c call) says(t *testing.T, code int, args []string, texts ...string) result {
	t.Helper()
	r := c.run(t, args...)
	if r.code != code {
		t.Fatalf("%v: %d\n%s%s", args, r.code, r.out, r.err)
	}
	for _, text := range texts {
		if !strings.Contains(r.out+r.err, text) {
			t.Errorf("%v lacks %q:\n%s%s", args, text, r.out, r.err)
		}
	}
	return r
}

// TestLedgerCommands: what kubectl would say, and what came of it.
func TestLedgerCommands(t *testing.T) {
	_, online := uploaded(t)
	online.in = nodeOne + "---\n" + podOne + "---\n---\n" + podOther
	online.says(t, exitYes, []string{"apply", "-f", "-", "--dry-run"}, "node/new-1 created (dry run)\npod/one created (dry run)\n")
	if r := online.says(t, exitYes, []string{"apply", "-f", "-"}); r.out != "node/new-1 created\npod/one created\npod/two created\n" {
		t.Error(r.out)
	}
	if r := online.says(t, exitYes, []string{"apply", "-f", "-"}); r.out != "node/new-1 unchanged\npod/one unchanged\npod/two unchanged\n" {
		t.Error(r.out)
	}
	online.in = strings.Replace(nodeOne, `"8"`, `"9"`, 1) + "---\n" + podOne
	if r := online.says(t, exitYes, []string{"apply", "-f", "-"}); r.out != "node/new-1 configured\npod/one unchanged\n" {
		t.Error(r.out)
	}
	online.says(t, exitYes, []string{"apply", "-f", "-", "-o", "json"}, `"id": "prod@3"`)
	online.says(t, exitYes, []string{"patch", "no", "new-1", "-p", "spec: {unschedulable: true}"}, "node/new-1 patched")
	online.says(t, exitYes, []string{"patch", "nodes", "new-1", "--type", "merge", "-p", `{"spec":{"unschedulable":true}}`}, "node/new-1 patched (no change)")
	online.says(t, exitYes, []string{"patch", "node/new-1", "--type", "json", "-p", `[{"op":"remove","path":"/spec/unschedulable"}]`}, "node/new-1 patched")
	online.says(t, exitYes, []string{"bind", "one", "new-1"}, "pod/one bound to new-1")
	online.says(t, exitYes, []string{"bind", "one", "new-1"}, "pod/one bound to new-1") // again is no error
	online.says(t, exitBroken, []string{"bind", "one", "n-a1"}, "pod/one is not bound", "new-1")
	online.says(t, exitBroken, []string{"bind", "gone", "new-1"}, "has no pod/gone", "apply -f")
	online.says(t, exitYes, []string{"snapshot", "fork", "trial"}, "trial@1 forked from prod@latest")
	online.says(t, exitBroken, []string{"snapshot", "fork", "trial", "--from", "prod@1"}, "cluster trial@1 exists", "DELETE /v1/clusters/trial")
	online.says(t, exitYes, []string{"delete", "pod", "one", "shop/two"}, "pod/one deleted\npod/two deleted\n")
	online.says(t, exitBroken, []string{"delete", "pod", "one"}, "not found: pod/one", "--ignore-not-found")
	online.says(t, exitYes, []string{"delete", "pod/one", "--ignore-not-found"})
	online.in = nodeOne
	online.says(t, exitYes, []string{"delete", "-f", "-"}, "node/new-1 deleted")
	online.says(t, exitYes, []string{"bind", "one", "new-1", "--cluster", "trial"}) // the copy has both still
}

func TestLedgerCommandsRefuse(t *testing.T) {
	_, online := uploaded(t)
	for in, c := range map[string]struct {
		args  []string
		texts []string
	}{
		"":          {[]string{"apply", "-f", "-"}, []string{"holds no object"}},
		"kind: Pod": {[]string{"apply", "-f", "-"}, []string{"document 1", "metadata.name"}},
		strings.Replace(podOne, "spec", "specs", 1): {[]string{"apply", "-f", "-"}, []string{"specs", "did you mean spec"}},
		strings.Replace(nodeOne, "8Gi", "8GB", 1):   {[]string{"apply", "-f", "-"}, []string{"status.allocatable", "8G"}},
		"a": {[]string{"patch", "gadget", "x", "-p", "{}"}, []string{`"gadget" is no kind`}},
		"b": {[]string{"patch", "node", "n-a1", "-p", "{}", "--type", "odd"}, []string{"merge, json or strategic"}},
		"c": {[]string{"patch", "node", "n-a1"}, []string{"-p"}},
		"d": {[]string{"delete"}, []string{"which objects?"}},
		"e": {[]string{"delete", "pod"}, []string{"which pod?"}},
		"f": {[]string{"delete", "pod", "x", "--cluster", "none"}, []string{"no cluster none", "begins with an upload"}},
		"g": {[]string{"delete", "pod", "x", "--cluster", "prod@1"}, []string{"newest", "snapshot fork"}},
		"h": {[]string{"watch", "--after", "odd"}, []string{"after"}},
	} {
		online.in = in
		online.says(t, exitBroken, c.args, c.texts...)
	}
	offline := call{}
	for _, args := range [][]string{{"apply", "-f", "-"}, {"delete", "pod", "x"}, {"bind", "a", "b"}, {"watch"}, {"snapshot", "fork", "x"}, {"patch", "node", "x", "-p", "{}"}} {
		offline.says(t, exitBroken, args, "--server", "kubectl")
	}
	// A server that follows the cluster.
	followed := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusConflict)
		_, _ = w.Write([]byte(`{"status":409,"title":"Conflict","detail":"cluster prod is followed through its apiserver: change it there"}`))
	}))
	defer followed.Close()
	online.in = nodeOne
	online.env = map[string]string{"BERTH_SERVER": followed.URL, "BERTH_CLUSTER": "prod"}
	online.says(t, exitBroken, []string{"apply", "-f", "-"}, "cluster prod is followed: its apiserver has the say", "kubectl apply", "snapshot fork NAME --from prod@latest")
}

// flawed forwards to a server, and loses the answers of the first writes.
func flawed(t *testing.T, to string, lost int32) (string, *sync.Map) {
	t.Helper()
	at, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	proxy, keys, n := httputil.NewSingleHostReverseProxy(at), &sync.Map{}, atomic.Int32{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			keys.Store(r.Header.Get("Idempotency-Key"), true)
			if n.Add(1) <= lost {
				proxy.ServeHTTP(httptest.NewRecorder(), r) // done, and not answered
				if n.Load()%2 == 0 {
					w.WriteHeader(http.StatusBadGateway)
					return
				}
				panic(http.ErrAbortHandler)
			}
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, keys
}

// TestWritesAreDoneOnce: a write whose answers are lost is sent again under its key, and is done
// once; so is a command that is run again with the same key.
func TestWritesAreDoneOnce(t *testing.T) {
	server, online := uploaded(t)
	behind, keys := flawed(t, server, 2)
	online.env = map[string]string{"BERTH_SERVER": behind, "BERTH_CLUSTER": "prod"}
	online.in = podOne
	if r := online.says(t, exitYes, []string{"apply", "-f", "-"}); r.out != "pod/one created\n" {
		t.Error(r.out)
	}
	n := 0
	keys.Range(func(key, _ any) bool { n++; return key != "" })
	if n != 1 {
		t.Errorf("%d keys for one write", n)
	}
	online.says(t, exitYes, []string{"apply", "-f", "-", "-o", "json"}, `"id": "prod@2"`)
	online.says(t, exitYes, []string{"delete", "pod", "one", "--idempotency-key", "mine"}, "pod/one deleted")
	online.says(t, exitYes, []string{"delete", "pod", "one", "--idempotency-key", "mine"}, "pod/one deleted")
	online.says(t, exitBroken, []string{"delete", "pod", "two", "--idempotency-key", "mine"}, "Idempotency-Key")
}

// lines collects what is written, and stops the command at the last one.
type lines struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	want int
	stop func()
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	n, err := l.buf.Write(p)
	if strings.Count(l.buf.String(), "\n") >= l.want {
		l.stop()
	}
	return n, err
}

// TestWatchGoesOn: a stream that breaks after each event is opened again behind it, so that each
// comes once.
func TestWatchGoesOn(t *testing.T) {
	server, online := uploaded(t)
	online.in = nodeOne
	online.says(t, exitYes, []string{"apply", "-f", "-"})
	online.says(t, exitYes, []string{"delete", "node", "new-1"})
	at, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	opened := atomic.Int32{}
	proxy := httputil.NewSingleHostReverseProxy(at)
	proxy.FlushInterval = -1
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		opened.Add(1)
		proxy.ServeHTTP(&breaking{ResponseWriter: w}, r)
	}))
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out := &lines{want: 3, stop: cancel}
	var errs bytes.Buffer
	code := Run(ctx, "berth", []string{"watch", "--after", "0", "-o", "json", "--server", s.URL, "--cluster", "prod"}, Streams{
		In: strings.NewReader(""), Out: out, Err: &errs, Env: func(string) string { return "" }, Now: time.Now,
	}, Version{})
	text := out.buf.String()
	if code != exitYes || strings.Count(text, "\n") != 3 || opened.Load() < 3 {
		t.Fatalf("%d, %d connections\n%s%s", code, opened.Load(), text, errs.String())
	}
	for i, want := range []string{`"revision":1,`, `"revision":2,`, `"revision":3,`} {
		if line := strings.Split(text, "\n")[i]; !strings.Contains(line, want) || !strings.HasPrefix(line, `{"id":"`) || !strings.Contains(line, `"event":"revision"`) {
			t.Errorf("line %d: %s", i, line)
		}
	}
}

// breaking breaks the connection behind the first event that is no bookmark.
type breaking struct {
	http.ResponseWriter
	told bool
}

func (b *breaking) Write(p []byte) (int, error) {
	if b.told {
		panic(http.ErrAbortHandler)
	}
	if at := bytes.Index(p, []byte("event: revision")); at >= 0 {
		end := at + bytes.Index(p[at:], []byte("\n\n")) + 2
		_, _ = b.ResponseWriter.Write(p[:end])
		b.Flush()
		b.told = true
		panic(http.ErrAbortHandler)
	}
	return b.ResponseWriter.Write(p)
}

func (b *breaking) Flush() { _ = http.NewResponseController(b.ResponseWriter).Flush() }
