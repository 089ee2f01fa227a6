package kubeobj

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func ns(name string) string {
	return `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"` + name + `"}}`
}

func TestReadShapes(t *testing.T) {
	tests := []struct {
		name, body string
		format     Format
		want       []string
		ignored    map[string]int
	}{
		{name: "empty list", body: `{"kind":"List","apiVersion":"v1","items":[]}`},
		{name: "empty yaml list", format: YAML, body: "apiVersion: v1\nitems: []\nkind: List\n"},
		{name: "list", body: `{"apiVersion":"v1","kind":"List","items":[` + ns("a") + `,` + ns("b") + `]}`, want: []string{"a", "b"}},
		{name: "items before kind", body: `{"items":[` + ns("a") + `],"metadata":{"x":[1,{}]},"kind":"List","apiVersion":"v1"}`, want: []string{"a"}},
		{name: "empty list", body: `{"apiVersion":"v1","items":[],"kind":"List"}`},
		{name: "null items", body: `{"apiVersion":"v1","items":null,"kind":"List"}`},
		{name: "list of one kind", body: `{"kind":"NamespaceList","apiVersion":"v1","items":[{"metadata":{"name":"a"}}]}`, want: []string{"a"}},
		{name: "list within a list", body: `{"kind":"List","apiVersion":"v1","items":[{"kind":"List","apiVersion":"v1","items":[` + ns("a") + `]},` + ns("b") + `]}`, want: []string{"a", "b"}},
		{name: "array", body: `[` + ns("a") + `,` + ns("b") + `]`, want: []string{"a", "b"}},
		{name: "single", body: ns("a"), want: []string{"a"}},
		{name: "concatenated", body: ns("a") + "\n" + ns("b") + ns("c"), want: []string{"a", "b", "c"}},
		{name: "escaped keys", body: `{"apiVersion":"v1","\u006bind":"Namespace","metadata":{"\u006eame":"a"}}`, want: []string{"a"}},
		{name: "keys of another case", body: `{"apiVersion":"v1","kind":"Namespace","Kind":"Pod","metadata":{"name":"a","Name":"b"}}`, want: []string{"a"}},
		{
			name: "ignored kinds", want: []string{"a"}, ignored: map[string]int{"Secret": 2, "Service.serving.knative.dev": 1},
			body: `{"kind":"Secret","apiVersion":"v1","metadata":{"name":"s"}}{"kind":"SecretList","apiVersion":"v1","items":[{"metadata":{"name":"s"}}]}{"kind":"Service","apiVersion":"serving.knative.dev/v1","metadata":{"name":"s"}}` + ns("a"),
		},
		{name: "yaml documents", format: YAML, body: "---\n# one\n" + yamlNS("a", "") + "---\n" + yamlNS("b", "") + "...\n---\n", want: []string{"a", "b"}},
		{name: "yaml list", format: YAML, body: "apiVersion: v1\nitems:\n- " + yamlNS("a", "  ") + "\n# note\n- " + yamlNS("b", "  ") + "kind: List\nmetadata:\n  resourceVersion: \"\"\n", want: []string{"a", "b"}},
		{name: "yaml list, indented", format: YAML, body: "kind: List\nitems:\n  - " + yamlNS("a", "    ") + "  - " + yamlNS("b", "    ") + "apiVersion: v1\n---\n" + yamlNS("c", ""), want: []string{"a", "b", "c"}},
		{name: "yaml list of one kind", format: YAML, body: "kind: NamespaceList\napiVersion: v1\nitems:\n- metadata:\n    name: a\n", want: []string{"a"}},
		{name: "yaml flow", format: YAML, body: "apiVersion: v1\nkind: List\nitems: [" + ns("a") + "]\n", want: []string{"a"}},
		{name: "json as yaml", format: YAML, body: "\n" + ns("a") + ns("b"), want: []string{"a", "b"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			objs, ignored, err := readAll(tt.body, tt.format, Limits{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range objs {
				got = append(got, o.Name)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
			if tt.ignored == nil {
				tt.ignored = map[string]int{}
			}
			if diff := cmp.Diff(tt.ignored, ignored); diff != "" {
				t.Errorf("ignored (-want +got):\n%s", diff)
			}
			checkFixedPoint(t, objs)
			var slow []Object
			if _, err := Read(iotest.OneByteReader(strings.NewReader(tt.body)), tt.format, Limits{}, func(o Object) error {
				slow = append(slow, o)
				return nil
			}); err != nil || len(slow) != len(objs) {
				t.Errorf("byte by byte: %d objects, %v", len(slow), err)
			}
		})
	}
}

func yamlNS(name, indent string) string {
	return "apiVersion: v1\n" + indent + "kind: Namespace\n" + indent + "metadata:\n" + indent + "  name: " + name + "\n"
}

func TestReadRefuses(t *testing.T) {
	pod := func(fields string) string {
		return `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[{"name":"c"}]` + fields + `}}`
	}
	tests := []struct {
		name, body string
		format     Format
		lim        Limits
		want       string // part of the error's text
	}{
		{name: "not an object", body: `"x"`, want: "an object"},
		{name: "cut off", body: ns("a")[:30], want: "unexpected end"},
		{name: "garbage behind", body: ns("a") + `}`, want: "an object"},
		{name: "trailing comma", body: `{"kind":"List",}`, want: "a key"},
		{name: "leading zero", body: `{"a":01}`, want: "begin with 0"},
		{name: "NaN", body: `{"a":NaN}`, want: "a value"},
		{name: "control character", body: "{\"a\":\"\n\"}", want: "control character"},
		{name: "items not an array", body: `{"kind":"List","apiVersion":"v1","items":{}}`, want: "items as an array"},
		{name: "item not an object", body: `{"kind":"List","apiVersion":"v1","items":[1]}`, want: "items[0]"},
		{name: "kind behind the items", body: `{"apiVersion":"v1","items":[{"metadata":{"name":"x"}}],"kind":"NodeList"}`, want: "items[0]: the object has no kind, and the list had none before its items"},
		{name: "item without kind", body: `{"kind":"List","apiVersion":"v1","items":[` + ns("a") + `,{"metadata":{"name":"x"}}]}`, want: "items[1]: the object has no kind"},
		{name: "kind is a number", body: `{"kind":1,"apiVersion":"v1"}`, want: "kind must be a string"},
		{name: "wrong group", body: `{"kind":"List","apiVersion":"v1","items":[{"kind":"Pod","apiVersion":"apps/v1","metadata":{"name":"p"}}]}`, want: `apiVersion: Unsupported value: "apps/v1"`},
		{name: "duplicate object", body: ns("a") + ns("a"), want: `metadata.name: Duplicate value: "a"`},
		{name: "duplicate key", body: `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a"},"metadata":{"name":"b"}}`, want: `duplicate key "metadata"`},
		{name: "invalid UTF-8", body: "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"\xff\"}}", want: "UTF-8"},
		{name: "malformed quantity", body: pod(`,"overhead":{"cpu":"much"}`), want: `spec.overhead[cpu]: Invalid value: "much"`},
		{name: "wrong type", body: pod(`,"priority":"high"`), want: `spec.priority: Invalid value: "high": must be a 32-bit integer`},
		{name: "bad time", body: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","creationTimestamp":"noon"}}`, want: `metadata.creationTimestamp: Invalid value: "noon"`},
		{name: "depth", body: `{"a":[[[[[1]]]]]}`, lim: Limits{MaxDepth: 4}, want: "max-json-depth=4"},
		{name: "tokens", body: `{"a":[1,2,3,4,5]}`, lim: Limits{MaxTokens: 4}, want: "max-json-tokens=4"},
		{name: "object size", body: `{"a":"` + strings.Repeat("x", 200) + `"}`, lim: Limits{MaxObjectBytes: 100}, want: "max-object-bytes=100"},
		{name: "objects", body: ns("a") + ns("b"), lim: Limits{MaxObjects: 1}, want: "max-objects=1"},
		{name: "nodes", body: strings.ReplaceAll(ns("a")+ns("b"), "Namespace", "Node"), lim: Limits{MaxNodes: 1}, want: "max-nodes=1"},
		{name: "pods", body: strings.Replace(pod("")+pod(""), `"p"`, `"q"`, 1), lim: Limits{MaxPods: 1}, want: "max-pods=1"},
		{name: "yaml alias", format: YAML, body: "a: &x [1]\nb: *x\n", want: "max-yaml-aliases=0"},
		{name: "empty", body: " \n", want: "the body is empty"},
		{name: "yaml empty", format: YAML, body: "---\n# nothing\n", want: "the body is empty"},
		{name: "yaml syntax", format: YAML, body: "a: [1\n", want: "bad YAML"},
		{name: "yaml line of a later item", format: YAML, body: "kind: List\napiVersion: v1\nitems:\n- " + yamlNS("a", "  ") + "- kind: [\n", want: "items[1]: yaml: line 8:"},
		{name: "yaml line of a later document", format: YAML, body: yamlNS("a", "") + "---\n\nhello\n", want: "document 2 isn't an object (at line 6)"},
		{name: "yaml line behind the items", format: YAML, body: "kind: List\napiVersion: v1\nitems:\n- " + yamlNS("a", "  ") + "metadata: [\n---\n", want: "line 8:"},
		{name: "name of the input", format: YAML, body: "a: [1\n", lim: Limits{Input: "the dump"}, want: "bad YAML in the dump: yaml: line 1:"},
		{name: "yaml duplicate key", format: YAML, body: "kind: Pod\nkind: Node\n", want: "bad YAML"},
		{name: "yaml scalar", format: YAML, body: "hello\n", want: "isn't an object"},
		{name: "yaml items not a list", format: YAML, body: "kind: List\napiVersion: v1\nitems:\n  a: 1\n", want: "items must be an array"},
		{name: "yaml item", format: YAML, body: "kind: List\napiVersion: v1\nitems:\n- " + yamlNS("a", "  ") + "- kind: Namespace\n", want: "items[1]: the Namespace has no apiVersion"},
		{name: "yaml object size", format: YAML, body: "items:\n- a: " + strings.Repeat("x", 200) + "\n", lim: Limits{MaxObjectBytes: 100}, want: "max-object-bytes=100"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := readAll(tt.body, tt.format, tt.lim)
			checkError(t, err)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestReadStopsWhereYieldDoes(t *testing.T) {
	stop := errors.New("enough")
	n := 0
	_, err := Read(strings.NewReader(ns("a")+ns("b")), JSON, Limits{}, func(Object) error { n++; return stop })
	if !errors.Is(err, stop) || n != 1 {
		t.Errorf("n = %d, err = %v", n, err)
	}
	broken := errors.New("connection lost")
	if _, err := Read(iotest.ErrReader(broken), JSON, Limits{}, nil); !errors.Is(err, broken) {
		t.Errorf("a failing reader gives %v", err)
	}
}

// The order of keys in the input must not show in the canonical bytes.
func TestCanonicalIgnoresOrder(t *testing.T) {
	labels := []string{`"a":"1"`, `"b":"2"`, `"c":"3"`}
	spec := []string{`"nodeSelector":{"y":"2","x":"1"}`, `"hostNetwork":true`, `"containers":[{"resources":{"limits":{"memory":"1Gi","cpu":"0.5"}},"name":"c"}]`}
	top := []string{`"apiVersion":"v1"`, `"kind":"Pod"`, "spec", "metadata"}
	rnd := rand.New(rand.NewPCG(1, 2))
	shuffle := func(s []string) []string {
		s = slices.Clone(s)
		rnd.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
		return s
	}
	want := ""
	for range 50 {
		parts := shuffle(top)
		for i, p := range parts {
			switch p {
			case "spec":
				parts[i] = `"spec":{` + strings.Join(shuffle(spec), ",") + `}`
			case "metadata":
				parts[i] = fmt.Sprintf(`"metadata":{"labels":{%s},"name":"p"}`, strings.Join(shuffle(labels), " , "))
			}
		}
		got := string(mustRead(t, "{"+strings.Join(parts, ",\n")+"}", JSON)[0].JSON)
		if want == "" {
			want = got
		}
		if got != want {
			t.Fatalf("order shows:\n%s\n%s", want, got)
		}
	}
}
