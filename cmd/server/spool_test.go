package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"berth/internal/decision/record"
	"berth/test/pgtest"
)

// count asks a server's own database for its decisions, by id.
func recordedIDs(t *testing.T, base string) map[string]int {
	t.Helper()
	seen, cursor := map[string]int{}, ""
	for {
		resp, err := http.Get(base + "/v1/decisions?limit=500" + cursor)
		if err != nil {
			t.Fatal(err)
		}
		var page struct {
			Items []struct{ ID string } `json:"items"`
			Next  string                `json:"cursor"`
		}
		err = json.NewDecoder(resp.Body).Decode(&page)
		_ = resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("status %d, %v", resp.StatusCode, err)
		}
		for _, d := range page.Items {
			seen[d.ID]++
		}
		if page.Next == "" {
			return seen
		}
		cursor = "&cursor=" + page.Next
	}
}

const question = `{"explain":"none","pod":{"metadata":{"name":%q,"annotations":{"a":"canary-in-annotations"}},"spec":{"containers":[{"name":"c","command":["canary-in-command"],"env":[{"name":"E","value":"canary-in-env"}]}]}}}`

// callers keep a list of their own of what they were told.
type callers struct {
	mu       sync.Mutex
	ids      []string
	spooled  int
	refused  atomic.Int64
	answered atomic.Int64
	stop     atomic.Bool
	wait     sync.WaitGroup
}

func (c *callers) start(t *testing.T, base string, n int) {
	for i := range n {
		c.wait.Go(func() {
			for k := 0; !c.stop.Load(); k++ {
				resp, err := client.Post(base+"/v1/decisions", "application/json", strings.NewReader(fmt.Sprintf(question, fmt.Sprintf("p-%d-%d", i, k))))
				if err != nil {
					return // the server is dead
				}
				body, err := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				if err != nil {
					return
				}
				var d struct{ ID, Durability string }
				switch {
				case resp.StatusCode == http.StatusServiceUnavailable:
					c.refused.Add(1)
					continue
				case resp.StatusCode != http.StatusCreated || json.Unmarshal(body, &d) != nil:
					t.Errorf("status %d: %s", resp.StatusCode, body)
					return
				}
				c.mu.Lock()
				c.ids = append(c.ids, d.ID)
				if d.Durability == "spool" {
					c.spooled++
				}
				c.mu.Unlock()
				c.answered.Add(1)
			}
		})
	}
}

// more waits until so many more calls were answered.
func (c *callers) more(t *testing.T, n int64) {
	t.Helper()
	have := c.answered.Load()
	for deadline := time.Now().Add(time.Minute); c.answered.Load() < have+n; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("only %d of %d more calls were answered; %d were refused", c.answered.Load()-have, n, c.refused.Load())
		}
	}
}

func (c *callers) end() {
	c.stop.Store(true)
	c.wait.Wait()
}

// settled waits until nothing waits for the database any more.
func settled(t *testing.T, base string) {
	t.Helper()
	text := ""
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if text = get(t, base+"/readyz"); text == "ok\n" {
			return
		}
	}
	t.Fatalf("the spool is not empty: %s", text)
}

func get(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// onceEach wants every answered id on record, once.
func onceEach(t *testing.T, base string, ids []string) {
	t.Helper()
	seen := recordedIDs(t, base)
	for _, id := range ids {
		if seen[id] != 1 {
			t.Errorf("%s was answered and is on record %d times", id, seen[id])
		}
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("%s is on record %d times", id, n)
		}
	}
}

// TestDatabaseAway takes the database away under load, in each way that there
// is: decisions go on, what needs the database says so at once, and afterwards
// every answer is on record once.
func TestDatabaseAway(t *testing.T) {
	pg := pgtest.Private(t, pgtest.Options{})
	onPostgres := func(s *settings) { s.DatabaseURL = pg.URL() }
	if code, out, errs := command(t, "migrate", "up", "--database-url", pg.URL()); code != 0 {
		t.Fatalf("%d %s %s", code, out, errs)
	}
	r := serve(t, t.TempDir(), onPostgres)
	if code, out := r.post(t, "/v1/snapshots", oneNode); code != http.StatusCreated {
		t.Fatalf("%d %s", code, out)
	}
	c := &callers{}
	c.start(t, r.url, 8)
	defer c.end()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, outage := range map[string]struct{ begin, end func() error }{
		"stopped":   {func() error { return pg.Halt(syscall.SIGINT) }, pg.Launch},
		"crashed":   {func() error { return pg.Halt(syscall.SIGQUIT) }, pg.Launch},
		"suspended": {func() error { return suspend(pg, syscall.SIGSTOP) }, func() error { return suspend(pg, syscall.SIGCONT) }},
	} {
		c.more(t, 50)
		must(outage.begin())
		c.more(t, 200)
		text := ""
		for deadline := time.Now().Add(time.Minute); !strings.HasPrefix(text, "ok\n[!]spool: database away since "); time.Sleep(20 * time.Millisecond) {
			if text = get(t, r.url+"/readyz"); time.Now().After(deadline) {
				t.Fatalf("%s: readyz says %q", name, text)
			}
		}
		began := time.Now()
		for _, call := range []func() (int, []byte){
			func() (int, []byte) { return r.post(t, "/v1/snapshots", strings.Replace(oneNode, "64", "65", 1)) },
			func() (int, []byte) { return r.post(t, "/v1/decisions", decisionOn("bound-"+name)) },
		} {
			code, out := call()
			if code != http.StatusServiceUnavailable || !strings.Contains(string(out), "store-unavailable") {
				t.Errorf("%s: %d %s", name, code, out)
			}
		}
		resp, err := http.Get(r.url + "/v1/decisions")
		must(err)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" {
			t.Errorf("%s: a list gets %d", name, resp.StatusCode)
		}
		t.Logf("%s: three calls that need the database were refused in %v", name, time.Since(began))
		must(outage.end())
		c.more(t, 50)
	}
	c.end()
	settled(t, r.url)
	onceEach(t, r.url, c.ids)
	if c.spooled == 0 {
		t.Error("no answer is marked as of the spool")
	}
	if text := get(t, r.url+"/metrics"); !strings.Contains(text, "berth_database_up 1") || !strings.Contains(text, "\nberth_spool_records 0") {
		t.Error("the metrics do not show the spool")
	}
	if code, out := r.post(t, "/v1/decisions", decisionOn("after")); code != http.StatusCreated {
		t.Errorf("a bind afterwards: %d %s", code, out)
	}
	t.Logf("%d answered, %d of them by the spool, %d refused", len(c.ids), c.spooled, c.refused.Load())
}

// suspend signals the server's process and all that it started.
func suspend(pg *pgtest.Server, sig syscall.Signal) error {
	raw, err := os.ReadFile(filepath.Join(filepath.Dir(pg.Socket()), "data", "postmaster.pid"))
	if err != nil {
		return err
	}
	pid, _, _ := strings.Cut(string(raw), "\n")
	children, err := os.ReadFile(filepath.Join("/proc", pid, "task", pid, "children"))
	if err == nil {
		for child := range strings.FieldsSeq(string(children)) {
			var n int
			if _, err := fmt.Sscan(child, &n); err == nil {
				_ = syscall.Kill(n, sig) // it may have ended
			}
		}
	}
	return pg.Signal(sig)
}

// noCanary looks for what must not be stored in the spool's files.
func noCanary(t *testing.T, files []string) {
	t.Helper()
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(b, []byte("canary")) {
			t.Errorf("%s holds a canary", name)
		}
		// What a replay is given is packed.
		inputs := regexp.MustCompile(`"Input":"([^"]*)"`).FindAllSubmatch(b, -1)
		if len(inputs) == 0 {
			t.Errorf("%s holds no record", name)
		}
		for _, js := range inputs {
			input, err := base64.StdEncoding.DecodeString(string(js[1]))
			if err != nil {
				t.Fatal(err)
			}
			if plain, err := record.InputText(input); err != nil || bytes.Contains(plain, []byte("canary")) {
				t.Fatalf("an input in %s holds a canary, or cannot be read: %v", name, err)
			}
		}
	}
}

// TestKilledWithoutDatabase kills the server itself while its database is away:
// what it answered until then is in the spool, and the next start hands it over.
func TestKilledWithoutDatabase(t *testing.T) {
	program := filepath.Join(t.TempDir(), "server")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build the server: %v\n%s", err, out)
	}
	t.Cleanup(client.CloseIdleConnections)
	pg := pgtest.Private(t, pgtest.Options{})
	if code, out, errs := command(t, "migrate", "up", "--database-url", pg.URL()); code != 0 {
		t.Fatalf("%d %s %s", code, out, errs)
	}
	t.Setenv("DATABASE_URL", pg.URL())
	dir := t.TempDir()
	var ids []string
	for round := range 2 {
		p := launch(t, program, dir)
		if round == 0 {
			p.must(t, http.StatusCreated, http.MethodPost, "/v1/snapshots", oneNode)
		}
		c := &callers{}
		c.start(t, p.url, 16)
		c.more(t, 100)
		if err := pg.Halt(syscall.SIGQUIT); err != nil {
			t.Fatal(err)
		}
		c.more(t, 300)
		p.kill(t)
		c.end()
		ids = append(ids, c.ids...)
		if c.spooled == 0 {
			t.Error("no answer is marked as of the spool")
		}
		if left, err := filepath.Glob(filepath.Join(dir, "spool", "*.spool")); err != nil || len(left) == 0 {
			t.Fatalf("no spool is left: %v", err)
		} else {
			noCanary(t, left)
		}
		if err := pg.Launch(); err != nil {
			t.Fatal(err)
		}
	}
	p := launch(t, program, dir)
	settled(t, p.url)
	onceEach(t, p.url, ids)
	p.stop(t)
	t.Logf("%d answered before two kills", len(ids))
}
