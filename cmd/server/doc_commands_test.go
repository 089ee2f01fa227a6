package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	berth "berth/internal/cli"
)

// notRun are the blocks of documents whose commands no test runs, by page and by how their first
// command begins, each with the reason. Their subcommands and flags are checked all the same.
var notRun = map[string]string{
	"README.md: make run":                     "serves until it is stopped; TestTour serves by itself",
	"README.md: kubectl berth pending":        "needs the cluster of a kubeconfig; docs/cli.md shows the same commands on a dump, and they run",
	"docs/access.md: server --listen 0.0.0.0": "serves until it is stopped, with certificates of the reader's",
	"docs/cli.md: make build":                 "compiles; CI does",
	"docs/cli.md: export BERTH_SNAPSHOT":      "sets what the commands below it run with",
	"docs/cli.md: printf":                     "writes into the home directory",
	"docs/api.md: go run ./cmd/server":        "compiles; TestTour serves by itself",
	"docs/api.md: kubectl get":                "needs the cluster of a kubeconfig",
	"docs/configuration.md: server --config":  "the file is the reader's",
	"docs/explorer.md: make run":              "serves until it is stopped",
	"docs/kubernetes.md: kubectl":             "needs a cluster; test/cluster runs one",
	"docs/kubernetes.md: helm":                "needs a cluster; test/deploy renders the chart",
	"docs/kubernetes.md: for f in":            "needs a cluster",
	"docs/sql.md: berth export":               "asks a server; internal/cli's TestExport runs one",
}

// runsHere reports whether a command of a page is run: by TestDocumentsRun, by TestTour, by
// internal/cli's TestGuideIsTrue (those that begin with $ berth), and by TestPagesAreTrue.
func runsHere(page, first string) bool {
	if ranHere(page, first) {
		return true
	}
	switch page {
	case "docs/api.md", "docs/without-kubernetes.md":
		return regexp.MustCompile(`^(curl |for |[A-Z]+=)`).MatchString(first)
	case "docs/cli.md", "docs/stories.md":
		return strings.HasPrefix(first, "$ berth ") || strings.HasPrefix(first, "$ env -u BERTH_SNAPSHOT berth ")
	case "README.md":
		return strings.HasPrefix(first, "curl ") || strings.HasPrefix(first, "ID=") || strings.HasPrefix(first, "sqlite3 ")
	case "docs/extender.md":
		return strings.HasPrefix(first, "$ curl ")
	}
	return false
}

var (
	fenced = regexp.MustCompile("(?ms)^```([a-z ]*)\n(.*?)^```$")
	span   = regexp.MustCompile("`([^`\n]+)`")
	starts = regexp.MustCompile(`^(\$ )?(env -u \S+ )?(bin/|\./bin/)?(make|go run|server|berth|kubectl|curl|sqlite3|helm|docker|psql|printf|export|for|systemctl|[A-Z]+=\S) ?`)
)

// pages returns the texts of README.md and docs, by name.
func pages(t *testing.T) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..")
	names, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	if err != nil || len(names) < 20 {
		t.Fatal(names, err)
	}
	out := map[string]string{}
	for _, name := range append(names, filepath.Join(root, "README.md")) {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		short, err := filepath.Rel(root, name)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.ToSlash(short)] = string(raw)
	}
	return out
}

// TestEveryCommandIsRun: a block of commands is run by a test, or says here why not.
func TestEveryCommandIsRun(t *testing.T) {
	used := map[string]bool{}
	for page, text := range pages(t) {
		for _, block := range fenced.FindAllStringSubmatch(text, -1) {
			excused := false
			for i, line := range strings.Split(strings.ReplaceAll(block[2], "\\\n", " "), "\n") {
				// A reason is for the commands that follow it in its block, too.
				output := strings.Contains("\n"+block[2], "\n$ ") && !strings.HasPrefix(line, "$ ")
				if !starts.MatchString(line) || output || i > 0 && excused || runsHere(page, line) {
					continue
				}
				for at := range notRun {
					if strings.HasPrefix(page+": "+strings.TrimPrefix(line, "$ "), at) {
						used[at], excused = true, true
					}
				}
				if !excused {
					t.Errorf("%s: no test runs %q, and notRun has no reason", page, line)
				}
			}
		}
	}
	for at := range notRun {
		if !used[at] {
			t.Errorf("notRun has %q, which no page has", at)
		}
	}
}

// TestCommandsExist: what documents say of server and berth names subcommands and flags that there
// are, in blocks and within sentences.
func TestCommandsExist(t *testing.T) {
	checked := 0
	for page, text := range pages(t) {
		var lines []string
		for _, block := range fenced.FindAllStringSubmatch(text, -1) {
			prompted := strings.Contains("\n"+block[2], "\n$ ")
			for _, l := range strings.Split(strings.ReplaceAll(block[2], "\\\n", " "), "\n") {
				if block[1] == "sh" || strings.HasPrefix(l, "$ ") || block[1] == "" && !prompted {
					lines = append(lines, l)
				}
			}
		}
		for _, s := range span.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
			lines = append(lines, s[1])
		}
		for _, line := range lines {
			for _, c := range ours(line) {
				checked++
				if err := exists(c); err != nil {
					t.Errorf("%s: %s: %v", page, strings.Join(c, " "), err)
				}
			}
		}
	}
	if checked < 100 {
		t.Errorf("only %d commands", checked)
	}
	for _, wrong := range [][]string{{"server", "migrate", "to", "3"}, {"server", "--lisen", "x"}, {"berth", "explian"}, {"berth", "fit", "--bye", "zone"}} {
		if exists(wrong) == nil {
			t.Errorf("%q passes", wrong)
		}
	}
}

// ours returns the commands of ours in a line of a shell.
func ours(line string) (out [][]string) {
	line, _, _ = strings.Cut(strings.TrimPrefix(line, "$ "), " #")
	for _, part := range regexp.MustCompile(`\|\|?|&&?|;|\$\(|\)|>\s*\S+|<\s*\S+`).Split(line, -1) {
		words := strings.Fields(part)
		for len(words) > 0 && (regexp.MustCompile(`^[A-Z_]+=`).MatchString(words[0]) || words[0] == "exec") {
			words = words[1:]
		}
		switch {
		case len(words) > 2 && words[0] == "env" && words[1] == "-u":
			words = words[3:]
		case len(words) > 1 && words[0] == "kubectl" && words[1] == "berth":
			words = words[1:]
		case len(words) > 2 && words[0] == "go" && words[1] == "run" && words[2] == "./cmd/server":
			words = append([]string{"server"}, words[3:]...)
		}
		if len(words) < 2 {
			continue
		}
		switch name := filepath.Base(words[0]); name {
		case "server", "berth":
			if strings.HasPrefix(words[0], "bin/") || words[0] == name {
				out = append(out, append([]string{name}, words[1:]...))
			}
		}
	}
	return out
}

// placeholder is a word that stands for a value.
var placeholder = regexp.MustCompile(`^[A-Z][A-Z:_-]*$|…`)

// exists reports why a program has no such subcommand or flag. Values are not judged: documents
// have words that stand for them.
func exists(command []string) error {
	var args []string
	for _, a := range command[1:] {
		if a = strings.Trim(a, `"'`); a != "…" && a != "[]" {
			args = append(args, a)
		}
	}
	if command[0] == "berth" {
		var errs strings.Builder
		s := berth.Streams{In: strings.NewReader(""), Out: io.Discard, Err: &errs, Env: func(string) string { return "" }, Now: time.Now}
		if berth.Run(context.Background(), "berth", append(args, "--help"), s, berth.Version{}) != 0 && regexp.MustCompile(`unknown|no command`).MatchString(errs.String()) {
			return fmt.Errorf("%s", errs.String())
		}
		return nil
	}
	for i, a := range args {
		if placeholder.MatchString(a) {
			args[i] = "1"
		}
	}
	var line cli
	parser, err := kong.New(&line, kong.Exit(func(int) {}), kong.Writers(io.Discard, io.Discard))
	if err != nil {
		return err
	}
	if _, err = parser.Parse(args); err != nil && regexp.MustCompile(`unexpected argument|unknown flag`).MatchString(err.Error()) {
		return err
	}
	return nil
}

// shape makes a pattern of an output as a page shows it: … stands for anything, and white space for
// white space.
func shape(shown string) *regexp.Regexp {
	shown = changing.ReplaceAllString(strings.Join(strings.Fields(shown), " "), "…")
	return regexp.MustCompile(`(?s)^\s*` + strings.ReplaceAll(strings.ReplaceAll(regexp.QuoteMeta(shown), "…", ".*"), " ", `\s*`) + `\s*$`)
}

// needs skips a test where a program is missing, which in CI is an error.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
	}
}

// TestPagesAreTrue runs the commands of README.md and docs/extender.md against a server and
// compares what they print with what stands below them.
func TestPagesAreTrue(t *testing.T) {
	needs(t, "bash", "curl", "jq", "sqlite3")
	r := serve(t, t.TempDir())
	text := pages(t)
	id, ran := "", 0
	sh := func(command string) string {
		ran++
		command = regexp.MustCompile(`(http://127\.0\.0\.1|localhost):8080`).ReplaceAllString(command, r.url)
		command = strings.ReplaceAll(strings.ReplaceAll(command, "file:data/berth.db", "file:"+filepath.Join(r.dir, "berth.db")), "$ID", id)
		c := exec.CommandContext(t.Context(), "bash", "-euc", command)
		c.Dir = filepath.Join("..", "..")
		out, err := c.Output()
		if err != nil {
			t.Fatalf("%s: %v", command, err)
		}
		return string(out)
	}
	last := ""
	for _, block := range fenced.FindAllStringSubmatch(text["README.md"], -1) {
		first, _, _ := strings.Cut(block[2], "\n")
		if block[1] == "json" && last != "" {
			var shown, have any
			if err := json.Unmarshal([]byte(block[2]), &shown); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal([]byte(last), &have); err != nil {
				t.Fatal(err)
			}
			if !within(shown, have) {
				t.Errorf("README.md shows\n%s\nand the answer is\n%s", block[2], last)
			}
			id, _ = have.(map[string]any)["id"].(string)
		}
		if block[1] != "sh" || !runsHere("README.md", first) {
			continue
		}
		command := ""
		var shown []string
		check := func() {
			if strings.TrimSpace(command) == "" {
				return
			}
			last = sh(command)
			if want := strings.Join(shown, " "); !inOrder(want, last) {
				t.Errorf("%s\nprints\n%s\nwant\n%s", command, last, want)
			}
			command, shown = "", nil
		}
		for _, l := range strings.Split(block[2], "\n") {
			switch {
			case strings.HasPrefix(l, "ID="):
			case strings.HasPrefix(l, "# "):
				shown = append(shown, l[2:])
			default:
				if regexp.MustCompile(`^(curl|sqlite3) `).MatchString(l) {
					check()
				}
				command += l + "\n"
			}
		}
		check()
	}
	for _, block := range fenced.FindAllStringSubmatch(text["docs/extender.md"], -1) {
		if first, want, _ := strings.Cut(block[2], "\n"); runsHere("docs/extender.md", first) {
			if have := sh(strings.TrimPrefix(first, "$ ")); !shape(want).MatchString(strings.ReplaceAll(have, "\r", "")) {
				t.Errorf("%s\nprints\n%s\nwant\n%s", first, have, want)
			}
		}
	}
	if ran < 7 {
		t.Errorf("only %d commands ran", ran)
	}
}

// inOrder reports whether an output has all that is shown of it, in its order: members of JSON may
// be left out, and … stands for anything.
func inOrder(shown, have string) bool {
	have = strings.Join(strings.Fields(have), "")
	for _, part := range regexp.MustCompile(`…|,"|\s+`).Split(shown, -1) {
		i := strings.Index(have, part)
		if i < 0 {
			return false
		}
		have = have[i+len(part):]
	}
	return true
}

// within reports whether an answer has all that is shown of it.
func within(shown, have any) bool {
	switch s := shown.(type) {
	case map[string]any:
		h, is := have.(map[string]any)
		for k := range s {
			if !is || !within(s[k], h[k]) {
				return false
			}
		}
		return is
	case []any:
		h, is := have.([]any)
		for _, one := range s {
			found := false
			for _, other := range h {
				found = found || within(one, other)
			}
			if !found {
				return false
			}
		}
		return is
	case string:
		h, is := have.(string)
		return is && (h == s || strings.HasSuffix(s, "…"))
	}
	return shown == have
}
