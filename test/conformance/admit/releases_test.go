package admit

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var (
	update = flag.Bool("update", false, "write the list of what releases admit differently")
	random = flag.Int("random", 2000, "random pods beside those of each field")
)

// listed is the list that berth answers by; newest is the release whose packages berth judges with.
const (
	listed = "../../../internal/semantics/admission.txt"
	newest = "v1.37"
)

// release is one release's own package, as a process that judges cases.
type release struct {
	in  io.WriteCloser
	out *json.Decoder
}

// build makes the command of a release; that of go.mod has no requirements of its own.
func build(t *testing.T, name string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), name)
	args := []string{"build", "-o", bin}
	if mod := "releases/" + name + ".mod"; name != "v1.36" {
		args = append(args, "-modfile", mod, "-tags", strings.ReplaceAll(name, ".", "_"))
	}
	cmd := exec.CommandContext(t.Context(), "go", append(args, "./cmd/admission")...)
	cmd.Dir = ".."
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", name, err, out)
	}
	return bin
}

func run(t *testing.T, bin string) *release {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), bin, "-judge")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	return &release{in, json.NewDecoder(bufio.NewReader(out))}
}

func (r *release) judge(t *testing.T, c Case) (v Verdict) {
	t.Helper()
	if _, err := r.in.Write(append(Encode(c), '\n')); err != nil {
		t.Fatal(err)
	}
	if err := r.out.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// line is one difference: a release does something otherwise than the newest to pods that have
// all of some fields. Of the row of docs/releases.md the test only knows whether there is one.
type line struct {
	release, row, verb, what string
	needs                    []string
}

func (l *line) key() string {
	return strings.Join([]string{l.release, l.verb, l.what, strings.Join(l.needs, " ")}, "\t")
}

func (l *line) String() string {
	return strings.Join([]string{l.release, l.row, l.verb, strings.Join(l.needs, " "), l.what}, "\t")
}

// concerns reports whether the difference may be one of a case.
func (l *line) concerns(verb string, has map[string]bool) bool {
	return l.verb == verb && !slices.ContainsFunc(l.needs, func(path string) bool { return !has[path] })
}

func readList(t *testing.T) (list []*line, head string) {
	t.Helper()
	raw, err := os.ReadFile(listed)
	if err != nil {
		t.Fatal(err)
	}
	for text := range strings.Lines(string(raw)) {
		parts := strings.Split(strings.TrimSuffix(text, "\n"), "\t")
		if strings.HasPrefix(text, "#") {
			head += text
			continue
		}
		if len(parts) != 5 {
			t.Fatalf("%s: %q", listed, text)
		}
		list = append(list, &line{parts[0], parts[1], parts[2], parts[4], strings.Fields(parts[3])})
	}
	return list, head
}

func verbOf(c Case) string {
	if c.Old == nil {
		return "create"
	}
	return "update"
}

// TestReleases: each release's own package judges the same pods as the newest one's, and the list
// has each difference, with the fields without which there is none. It builds the command of every
// release, the first time in some minutes.
func TestReleases(t *testing.T) {
	if testing.Short() {
		t.Skip("builds every release")
	}
	mods, err := filepath.Glob("../releases/v1.*.mod")
	if err != nil {
		t.Fatal(err)
	}
	bins := map[string]string{"v1.36": build(t, "v1.36")}
	for _, mod := range mods {
		name := strings.TrimSuffix(filepath.Base(mod), ".mod")
		bins[name] = build(t, name)
	}
	var cases []Case
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(bins)) {
		out, err := exec.CommandContext(t.Context(), bins[name], "-draw", "-n", fmt.Sprint(*random)).Output()
		if err != nil {
			t.Fatal(err)
		}
		for text := range bytes.Lines(out) {
			if !seen[string(text)] {
				seen[string(text)] = true
				var c Case
				if err := json.Unmarshal(text, &c); err != nil {
					t.Fatal(err)
				}
				cases = append(cases, c)
			}
		}
	}
	was, head := readList(t)
	rows := map[string]string{}
	for _, l := range was {
		rows[l.key()] = l.row
	}
	now := run(t, bins[newest])
	verdicts := make([]Verdict, len(cases))
	for i, c := range cases {
		verdicts[i] = now.judge(t, c)
	}
	var list []*line
	delete(bins, newest)
	for _, name := range slices.Sorted(maps.Keys(bins)) {
		own, found := linesOf(t, run(t, bins[name]), now, cases, verdicts)
		for _, l := range own {
			l.release = name
			l.row = cmp.Or(rows[l.key()], "?")
			list = append(list, l)
		}
		t.Logf("%s: %d of %d cases differ, %d lines", name, found, len(cases), len(own))
		if found == 0 {
			t.Errorf("%s: no case differs", name)
		}
	}
	slices.SortFunc(list, func(a, b *line) int { return cmp.Compare(a.key(), b.key()) })
	var text strings.Builder
	text.WriteString(head)
	for _, l := range list {
		fmt.Fprintln(&text, l)
		if l.row == "?" {
			t.Errorf("no row of docs/releases.md: %s", l)
		}
	}
	if *update {
		if err := os.WriteFile(listed, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for _, l := range was {
		if !slices.ContainsFunc(list, func(n *line) bool { return n.key() == l.key() }) {
			t.Errorf("listed, and not found: %s", l)
		}
	}
	for _, l := range list {
		if _, ok := rows[l.key()]; !ok {
			t.Errorf("found, and not listed: %s", l)
		}
	}
}

// pair are a release and the newest one, and whether both store a pod as it is.
type pair struct {
	older, newer *release
	stored       map[string]bool
}

// usable reports whether an API server gets such a case: the newest release can read the pod, and
// both store the old one with all that it has.
func (p *pair) usable(t *testing.T, c Case, newer Verdict) bool {
	t.Helper()
	if slices.Contains(newer.Errors, unreadable) {
		return false
	}
	if c.Old == nil {
		return true
	}
	ok, known := p.stored[string(c.Old)]
	if !known {
		ok = keeps(p.older.judge(t, Case{Pod: c.Old}), c.Old) && keeps(p.newer.judge(t, Case{Pod: c.Old}), c.Old)
		p.stored[string(c.Old)] = ok
	}
	return ok
}

// keeps reports whether a pod is stored with all its fields.
func keeps(v Verdict, pod json.RawMessage) bool {
	if !v.Allowed {
		return false
	}
	has := Case{Pod: v.Pod}.Has()
	for path := range (Case{Pod: pod}).Has() {
		if !has[path] {
			return false
		}
	}
	return true
}

// linesOf compares a release with the newest, of whose verdicts it makes lines: one for each
// thing that is judged otherwise and that no line has of that case.
func linesOf(t *testing.T, older, newer *release, cases []Case, verdicts []Verdict) (list []*line, differ int) {
	t.Helper()
	both := &pair{older, newer, map[string]bool{}}
	for i, c := range cases {
		what := Differ(older.judge(t, c), verdicts[i])
		if len(what) == 0 || !both.usable(t, c, verdicts[i]) {
			continue
		}
		differ++
		verb, has := verbOf(c), c.Has()
		for _, w := range what {
			if slices.ContainsFunc(list, func(l *line) bool { return l.what == w && l.concerns(verb, has) }) {
				continue
			}
			small := Smaller(c, func(c Case) bool {
				now := newer.judge(t, c)
				return both.usable(t, c, now) && slices.Contains(Differ(older.judge(t, c), now), w)
			})
			l := &line{verb: verb, what: w, needs: small.Needs()}
			smallHas := small.Has()
			list = slices.DeleteFunc(list, func(o *line) bool {
				return o.what == w && o.verb == verb && !slices.ContainsFunc(l.needs, func(path string) bool {
					return !slices.Contains(o.needs, path)
				})
			})
			if !l.concerns(verb, smallHas) {
				t.Fatalf("%s does not concern %s", l, small.Pod)
			}
			list = append(list, l)
		}
	}
	return list, differ
}
