package main

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"berth/test/pgtest"
)

// docRun is a command of a document that TestDocumentsRun runs: the lines of a page that begin with
// it. want is a pattern of what it prints, for pages that do not show it; empty: what stands below
// the command there is the pattern.
type docRun struct {
	page, begins string
	ends         int // its exit code
	want         string
	stopped      bool // no server runs beside it
}

var docRuns = []docRun{
	{"docs/access.md", "curl -H", 0, `^\{.*"name":"first"`, false},
	{"docs/explorer.md", "curl -s -H", 0, `^\{.*"snapshot":"sample@1".*"name":"report"`, false},
	{"docs/diagnostics.md", "curl -s 127.0.0.1:6060/statusz", 0, "", false},
	{"docs/api.md", "server replay --cluster demo --since", 0, `(?s)1 decision.*identical`, false},
	{"docs/audit.md", "berth audit verify --server", 0, `^demo: GOOD\. Seals 1 to`, false},
	{"docs/sql.md", "sqlite3 -header", 0, `^time +pod +outcome +node *\n-+ +-+ +-+ +-+ *\n\S+ +web-4 +Scheduled +node-`, false},
	{"docs/diagnostics.md", "server doctor", 2, "", true},
	{"docs/audit.md", "server audit verify      ", 0, `demo: GOOD\. Seals 1 to`, true},
	{"docs/audit.md", "server audit verify --database-url", 0, `^schema: GOOD`, true}, // of an empty log
	{"docs/audit.md", "server audit head", 0, `^$`, true},
	{"docs/audit.md", "server audit verify --anchor", 0, `demo: GOOD\. Seals 1 to`, true},
	{"docs/api.md", "server replay --cluster demo --config", 0, `(?s)1 decision`, true},
	{"docs/access.md", "server token create", 0, `^$`, true},
}

// ranHere reports whether TestDocumentsRun runs a line of a page.
func ranHere(page, line string) bool {
	for _, r := range docRuns {
		if r.page == page && strings.HasPrefix(strings.TrimPrefix(line, "$ "), r.begins) {
			return true
		}
	}
	return false
}

// TestDocumentsRun runs commands of documents as their readers do, by programs on a path, beside a
// server and on its data directory, and compares what they print.
func TestDocumentsRun(t *testing.T) {
	needs(t, "bash", "curl", "sqlite3")
	bin, dir := t.TempDir(), t.TempDir()
	for name, of := range map[string]string{"server": ".", "berth": "../berth"} {
		if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(bin, name), of).CombinedOutput(); err != nil {
			t.Fatalf("build: %v\n%s", err, out)
		}
	}
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	example := func(name string) string {
		raw, err := os.ReadFile(filepath.Join("..", "..", "examples", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	put("other.yaml", example("packed.yaml"))
	put("kube-scheduler.yaml", strings.ReplaceAll(example("kube-scheduler.yaml"), "httpTimeout: 5s", "httpTimeout: 3s"))
	p := launch(t, filepath.Join(bin, "server"), filepath.Join(dir, "data"), "--admin-listen", "127.0.0.1:0")
	t.Cleanup(client.CloseIdleConnections)
	for _, call := range [][2]string{{"/v1/snapshots?cluster=demo", example("cluster.yaml")}, {"/v1/decisions", example("decision.json")}, {"/v1/snapshots?cluster=sample", example("cluster.yaml")}} {
		if status, body, err := p.ask(http.MethodPost, call[0], call[1]); err != nil || status/100 != 2 {
			t.Fatalf("%s: %d %s %v", call[0], status, body, err)
		}
	}
	_, raw, err := p.ask(http.MethodPost, "/v1/tokens", `{"name":"first","grants":[{"role":"admin","clusters":["*"],"namespaces":["*"]}]}`)
	var made struct{ Secret string }
	if err != nil || json.Unmarshal(raw, &made) != nil || made.Secret == "" {
		t.Fatalf("%s %v", raw, err)
	}
	put("token", made.Secret)
	admin := regexp.MustCompile(`admin[^\n]*?(127\.0\.0\.1:\d+)`).FindStringSubmatch(p.stderr.String())
	if admin == nil {
		t.Fatalf("no admin listener in %s", p.stderr)
	}
	database := pgtest.Database(t, "")
	if code, _, errs := command(t, "migrate", "up", "--database-url", database); code != 0 {
		t.Fatal(errs)
	}
	text := pages(t)
	for _, stopped := range []bool{false, true} {
		if stopped {
			p.stop(t)
		}
		for _, r := range docRuns {
			if r.stopped != stopped {
				continue
			}
			command, shown := lineOf(text[r.page], r.begins)
			if command == "" {
				t.Errorf("%s has no %q", r.page, r.begins)
				continue
			}
			run := strings.NewReplacer("https://berth.example:8443", p.url, "http://127.0.0.1:8080", p.url, "127.0.0.1:6060", admin[1], "$B", p.url, "$DATABASE_URL", database, "--server URL", "--server "+p.url,
				"--cluster prod", "--cluster demo").Replace(command)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			c := exec.CommandContext(ctx, "bash", "-uc", run)
			c.Dir, c.Env = dir, append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
			out, err := c.Output()
			cancel()
			if err != nil && c.ProcessState == nil || c.ProcessState.ExitCode() != r.ends {
				t.Errorf("%s: %s: %v\n%s", r.page, run, err, out)
				continue
			}
			want := shape(regexp.MustCompile(`\d[\d.]*`).ReplaceAllString(shown, "…"))
			if r.want != "" {
				want = regexp.MustCompile(r.want)
			}
			if !want.MatchString(string(out)) {
				t.Errorf("%s: %s\nprints\n%s\nwant %s", r.page, run, out, want)
			}
		}
	}
	if second, err := os.ReadFile(filepath.Join(dir, "token")); err != nil || len(second) < 40 || string(second) == made.Secret {
		t.Errorf("server token create wrote %q, %v", second, err)
	}
}

// lineOf returns the first command of a page that begins so, and what its block shows below it.
func lineOf(page, begins string) (command, shown string) {
	for _, block := range fenced.FindAllStringSubmatch(page, -1) {
		lines := strings.Split(strings.ReplaceAll(block[2], "\\\n", " "), "\n")
		for i, l := range lines {
			if l = strings.TrimPrefix(l, "$ "); strings.HasPrefix(l, begins) {
				return l, strings.Join(lines[i+1:], "\n")
			}
		}
	}
	return "", ""
}
