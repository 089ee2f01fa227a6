package rules

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"berth/internal/engine"
	"berth/internal/semantics"
)

var update = flag.Bool("update", false, "write the table of docs/rules.md, plugins.md and testdata/events.txt again")

const (
	docsFile  = "../../../docs/rules.md"
	docsBegin = "<!-- plugins: written by go test ./internal/engine/rules -run Docs -update -->\n"
	docsEnd   = "<!-- end of plugins -->\n"
	listFile  = "plugins.md"
)

// TestDocs holds the table of plugins in docs/rules.md, and plugins.md, to the registry.
func TestDocs(t *testing.T) {
	raw, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(raw), docsBegin)
	part, after, ended := strings.Cut(rest, docsEnd)
	if !ok || !ended {
		t.Fatalf("%s lacks the marks around the plugins", docsFile)
	}
	list, err := os.ReadFile(listFile)
	if err != nil {
		t.Fatal(err)
	}
	table, texts := plugins()
	if *update {
		if err := os.WriteFile(docsFile, []byte(before+docsBegin+table+docsEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(listFile, []byte(texts), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff([]string{table, texts}, []string{part, string(list)}); diff != "" {
		t.Errorf("docs/rules.md or plugins.md is out of date, run this test with -update (-want +got):\n%s", diff)
	}
}

// TestDocsOfEvents holds testdata/events.txt to the hints of the default profile: the events after
// which a pod that the plugin rejected is tried again.
func TestDocsOfEvents(t *testing.T) {
	profile, err := Build(DefaultSpec())
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, d := range Describe(semantics.Default()) {
		if r := profile.RuleNamed(d.Plugin); r != nil && len(r.Hints) > 0 {
			fmt.Fprintf(&b, "%s: %s\n", d.Plugin, events(r.Hints))
		}
	}
	const file = "testdata/events.txt"
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if raw, err := os.ReadFile(file); err != nil || string(raw) != b.String() {
		t.Errorf("%s is out of date, run this test with -update (-want +got): %v\n%s", file, err, cmp.Diff(b.String(), string(raw)))
	}
}

// TestDocsAreComplete: no plugin is without words, and every reason that the code
// has is listed.
func TestDocsAreComplete(t *testing.T) {
	var reasons []string
	for _, d := range Describe(semantics.Default()) {
		if d.Judges == "" || d.Upstream == "" || len(d.Phases) == 0 {
			t.Errorf("%s is not described: %+v", d.Plugin, d)
		}
		reasons = append(reasons, d.Reasons...)
	}
	if got := reasonsInCode(t); !slices.Equal(got, slices.Sorted(slices.Values(reasons))) {
		t.Errorf("reasons (-code +described):\n%s", cmp.Diff(got, slices.Sorted(slices.Values(reasons))))
	}
}

// reasonsInCode reads the reasons' constants from the package's own files.
func reasonsInCode(t *testing.T) []string {
	t.Helper()
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	constant := regexp.MustCompile(`(?m)^(?:const|\t)\s*(Reason\w+)\s*= (Reason\w+ \+ )?"(.*)"$`)
	values := map[string]string{}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		raw, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range constant.FindAllStringSubmatch(string(raw), -1) {
			values[m[1]] = values[strings.TrimSuffix(m[2], " + ")] + m[3]
		}
	}
	out := make([]string, 0, len(values))
	for _, v := range values {
		out = append(out, v)
	}
	slices.Sort(out)
	return out
}

// plugins writes the table of docs/rules.md, and plugins.md.
func plugins() (table, texts string) {
	var b strings.Builder
	b.WriteString("| Plugin | Phases | Weight | Rejects with |\n| --- | --- | --- | --- |\n")
	for _, d := range Describe(semantics.Default()) {
		weight, code := "", d.Code
		if d.Weight > 0 {
			weight = fmt.Sprint(d.Weight)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", d.Plugin, strings.Join(d.Phases, ", "), weight, code)
	}
	table = b.String()
	b.Reset()
	b.WriteString("# The plugins, one by one\n\n" + wrapped("Written by `go test ./internal/engine/rules -run Docs -update`. "+
		"Paths are below `pkg/scheduler/framework/plugins` of Kubernetes.", 100) + "\n")
	for _, d := range Describe(semantics.Default()) {
		text := fmt.Sprintf("**%s** (`%s`). %s", d.Plugin, strings.ReplaceAll(d.Upstream, ", ", "`, `"), d.Judges)
		if len(d.Reasons) > 0 {
			quoted := make([]string, len(d.Reasons))
			for i, r := range d.Reasons {
				quoted[i] = "`" + r + "`"
				if strings.HasSuffix(r, " ") {
					quoted[i] = "`" + r + "<resource>`"
				}
			}
			text += fmt.Sprintf(" Reasons: %s.", strings.Join(quoted, ", "))
		}
		if len(d.Details) > 0 {
			kinds := make([]string, len(d.Details))
			for i, k := range d.Details {
				kinds[i] = strings.TrimSuffix(fmt.Sprintf("`%s` (%s)", k.Name, k.Fields), " ()")
			}
			text += fmt.Sprintf(" Details: %s.", strings.Join(kinds, "; "))
		}
		if d.Differs != "" {
			text += " What differs: " + d.Differs
		}
		b.WriteString("\n" + wrapped(text, 100) + "\n")
	}
	return table, b.String()
}

// events lists what hints register for, a kind once.
func events(hints []engine.Hint) string {
	var kinds []string
	actions := map[string]engine.Action{}
	for _, h := range hints {
		if actions[h.Kind] == 0 {
			kinds = append(kinds, h.Kind)
		}
		actions[h.Kind] |= h.Action
	}
	for i, kind := range kinds {
		kinds[i] = fmt.Sprintf("%s (%s)", kind, strings.ReplaceAll(actions[kind].String(), "|", ", "))
	}
	return strings.Join(kinds, "; ")
}

// wrapped breaks a text into lines of so many columns, between words and outside of short code.
func wrapped(text string, width int) string {
	const short = 80
	var b strings.Builder
	column, inCode := 0, false
	words := strings.Fields(text)
	for i := 0; i < len(words); i++ {
		w := words[i]
		if strings.Count(w, "`")%2 == 1 {
			end := i + 1 + slices.IndexFunc(words[i+1:], func(o string) bool { return strings.Count(o, "`")%2 == 1 })
			whole := strings.Join(words[i:max(i, end)+1], " ")
			if !inCode && end > i && len(whole) <= short {
				w, i = whole, end
			} else {
				inCode = !inCode
			}
		}
		n := utf8.RuneCountInString(w)
		switch {
		case column == 0:
		case column+1+n > width:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(w)
		column += n
	}
	return b.String()
}
