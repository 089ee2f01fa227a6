package object

import (
	"errors"
	"runtime"
	"strings"
	"testing"

	yamlv3 "go.yaml.in/yaml/v3"
)

func TestYAMLToJSON(t *testing.T) {
	for doc, want := range map[string]string{
		"pod:\n  metadata: {name: a}\n":      `{"pod":{"metadata":{"name":"a"}}}`,
		"---\n# first\na: 1\n---\n":          `{"a":1}`,
		"%YAML 1.1\n---\na: 1\n...\n# end\n": `{"a":1}`,
		`{"a": 1e3}`:                         `{"a": 1e3}`,
		"--- {a: 1}\n":                       `{"a":1}`,
		"# nothing\n":                        "null",
		"text: |\n  a\n   --- b\n":           `{"text":"a\n --- b\n"}`,
		"a: 1\n---\nb: 2\n":                  "!a second document",
		"a: 1\n--- {b: 2}\n":                 "!a second document",
		"a: 1\na: 2\n":                       "!already set in map",
		"a: &x 1\nb: *x\n":                   "!max-yaml-aliases=0",
		"\xff\xfea\x00":                      "!UTF-16",
		"a: [" + strings.Repeat("b,", 50):    "!max-yaml-tokens=20",
		strings.Repeat("- - - - - -\n", 10):  "!max-yaml-tokens=20",
		"a: \"" + strings.Repeat("b ", 50):   "!bad YAML",
		"{\"a\": 1}\n---\n{\"b\": 1}\n":      "!a second document",
	} {
		js, err := YAMLToJSON([]byte(doc), Limits{}, 20)
		if wrong, bad := strings.CutPrefix(want, "!"); bad && (err == nil || !strings.Contains(err.Error(), wrong)) || !bad && (err != nil || string(js) != want) {
			t.Errorf("%q: %s, %v; want %s", doc, js, err, want)
		}
	}
}

// A second document on the line of its mark was left out without a word.
func TestSecondDocumentOnItsMark(t *testing.T) {
	_, err := Read(strings.NewReader("apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n--- {apiVersion: v1, kind: Namespace, metadata: {name: b}}\n"), YAML, Limits{}, func(Object) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "a second document") {
		t.Error(err)
	}
}

// dense are documents that make the most of their bytes.
func dense(n int) map[string]string {
	return map[string]string{
		"flow":       "items: [" + strings.Repeat("a,", n/2) + "]",
		"flow maps":  "x: [" + strings.Repeat("{a},", n/4) + "]",
		"flow pairs": "x: [" + strings.Repeat("a: b,", n/5) + "]",
		"nested":     "x: [" + strings.Repeat("[[]],", n/5) + "]",
		"block":      strings.Repeat("- a\n", n/4),
		"dashes":     strings.Repeat("- - -\n", n/6),
	}
}

// TestYAMLIsBoundedBeforeItIsRead posts 32 MiB of the densest YAML, of which a tree would take
// gigabytes, and then what is just within the limit.
func TestYAMLIsBoundedBeforeItIsRead(t *testing.T) {
	allocated := func(f func()) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f()
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	for name, doc := range dense(32 << 20) {
		body := []byte(doc)
		n := allocated(func() {
			_, err := Read(strings.NewReader(doc), YAML, Limits{}, func(Object) error { return nil })
			var limit *LimitError
			if !errors.As(err, &limit) || limit.Limit != limitYAMLTokens && limit.Limit != limitObjectBytes {
				t.Errorf("%s: %v", name, err)
			}
		})
		if n > 256<<20 { // the document itself, which the reader holds while it grows
			t.Errorf("%s: %d MiB were allocated for 32 MiB", name, n>>20)
		}
		n = allocated(func() {
			var limit *LimitError
			if _, err := YAMLToJSON(body, Limits{}, 0); !errors.As(err, &limit) || limit.Limit != limitYAMLTokens {
				t.Errorf("%s: %v", name, err)
			}
		})
		if n > 1<<20 {
			t.Errorf("%s: a body took %d KiB before it was refused", name, n>>10)
		}
	}
	for name, doc := range dense(DefaultMaxYAMLTokens * 3 / 2) {
		body := []byte(doc)
		n := allocated(func() { _, _ = YAMLToJSON(body, Limits{}, 0) })
		t.Logf("%s: %d KiB of text, %d tokens: %d MiB allocated", name, len(doc)>>10, yamlTokens(body, 1<<30), n>>20)
		if n > 128<<20 {
			t.Errorf("%s: %d MiB were allocated within the limit", name, n>>20)
		}
	}
}

// FuzzYAMLTokens holds the count to the tree of the parser: it has no more than three nodes for
// each counted byte, and the few at its top.
func FuzzYAMLTokens(f *testing.F) {
	for _, doc := range dense(60) {
		f.Add([]byte(doc))
	}
	for _, doc := range []string{"a: b", "? a\n: b\n", "{? a, ? b}", "[a: b, ? c]", "- a\n- - b\n", "a: |\n  x, y\n", "\"a\":\"b\"", "{a,b: {c}}", "a\u2028b", "!!set {a, b}", "'a': [\"b\",'c']"} {
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		var root yamlv3.Node
		if len(doc) > 4096 || strings.HasPrefix(string(doc), "\xff\xfe") || strings.HasPrefix(string(doc), "\xfe\xff") || yamlv3.Unmarshal(doc, &root) != nil {
			return
		}
		if nodes, tokens := countNodes(&root), yamlTokens(doc, 1<<30); nodes > 3*tokens+4 {
			t.Fatalf("%q: %d nodes, %d tokens", doc, nodes, tokens)
		}
		if _, err := YAMLToJSON(doc, Limits{}, 0); err != nil {
			var limit *LimitError
			var syntax *SyntaxError
			if !errors.As(err, &limit) && !errors.As(err, &syntax) {
				t.Fatalf("%q: %v", doc, err)
			}
		}
	})
}

func countNodes(n *yamlv3.Node) int {
	sum := 1
	for _, c := range n.Content {
		sum += countNodes(c)
	}
	return sum
}
