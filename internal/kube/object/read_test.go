package object

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
)

func ns(name string) string {
	return `{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"` + name + `"}}`
}

// wide writes a text as UTF-16 with its mark.
func wide(text string, order binary.AppendByteOrder) string {
	var out []byte
	for _, c := range utf16.Encode([]rune("\ufeff" + text)) {
		out = order.AppendUint16(out, c)
	}
	return string(out)
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
		{name: "list whose kind comes last", body: `{"apiVersion":"v1","items":[{"metadata":{"name":"a"}},` + ns("b") + `,{"metadata":{"name":"c"}}],"kind":"NamespaceList","metadata":{}}`, want: []string{"b", "a", "c"}},
		{name: "yaml list whose kind comes last", format: YAML, body: "apiVersion: v1\nitems:\n- metadata:\n    name: a\n- metadata:\n    name: b\nkind: NamespaceList\n---\n" + yamlNS("c", ""), want: []string{"a", "b", "c"}},
		{name: "mark before JSON", body: "\xef\xbb\xbf" + ns("a"), want: []string{"a"}},
		{name: "mark before YAML", format: YAML, body: "\xef\xbb\xbf" + yamlNS("a", ""), want: []string{"a"}},
		{name: "UTF-16 JSON", body: wide(ns("a")+"\r\n"+ns("b"), binary.LittleEndian), want: []string{"a", "b"}},
		{name: "UTF-16 YAML", format: YAML, body: wide("# \U0001F600\n"+yamlNS("a", ""), binary.BigEndian), want: []string{"a"}},
		{name: "warnings before JSON", body: "Warning: v1 x is deprecated\nW1127 16:00:00.000000    4711 warnings.go:70] y\n" + ns("a"), want: []string{"a"}},
		{name: "warnings before YAML", format: YAML, body: "\xef\xbb\xbfWarning: v1 x is deprecated\n" + yamlNS("a", ""), want: []string{"a"}},
		{name: "aliases in what is passed over", format: YAML, body: "kind: HelmRelease\napiVersion: helm.toolkit.fluxcd.io/v2\na: &x [1]\nb: *x\n---\n" + yamlNS("a", ""), want: []string{"a"}, ignored: map[string]int{"HelmRelease": 1}},
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
		{name: "no kind at all", body: `{"items":[{"metadata":{"name":"a"}}]}`, want: "items[0]: the object has no kind"},
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
		{name: "yaml alias", format: YAML, body: "kind: Node\na: &x [1]\nb: *x\n", want: "max-yaml-aliases=0"},
		{name: "yaml aliases of aliases", format: YAML, lim: Limits{MaxAliases: 1000}, body: "kind: Node\na: &a [1,1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n", want: "each alias written out"},
		{name: "yaml aliases of a long text", format: YAML, lim: Limits{MaxAliases: 1000, MaxObjectBytes: 10_000}, body: "kind: Node\na: &a " + strings.Repeat("x", 9000) + "\nb: [" + strings.Repeat("*a,", 100) + "]\n", want: "each alias written out"},
		{name: "yaml alias of itself", format: YAML, lim: Limits{MaxAliases: 1000}, body: "kind: Node\na: &a [*a]\n", want: "in the body"},
		{name: "item of an array without a kind", body: "[" + ns("a") + ",\n{}]", want: "items[1]: the object has no kind (at line 2)"},
		{name: "second object without a kind", body: ns("a") + "\n\n{}", want: "the object has no kind (at line 3)"},
		{name: "second document without a kind", body: ns("a") + "\n{\n}}", want: "document 2: the object has no kind (at line 3)"},
		{name: "third document", body: ns("a") + "\n" + ns("b") + "\n}", want: "document 3 (at line 3, byte"},
		{name: "an error of kubectl", format: YAML, body: "Warning: x\nError from server (Forbidden): nodes is forbidden\n" + ns("a"), want: `an error of kubectl, not an object: "Error from server (Forbidden): nodes is forbidden" (at line 2)`},
		{name: "half of UTF-16", body: "\xff\xfe{", want: "UTF-16 ends within a character"},
		{name: "items that are too many to hold", body: `{"items":[` + strings.Repeat(`{"metadata":{"name":"a"}},`, 100) + `{}],"kind":"NamespaceList","apiVersion":"v1"}`, lim: Limits{MaxObjectBytes: 100}, want: "put kind first"},
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

// TestReadAliases: a document may have aliases where it is small with them written out.
func TestReadAliases(t *testing.T) {
	const body = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: a\n  labels: &l {x: z}\nother: *l\n"
	objs, _, err := readAll(body, YAML, Limits{MaxAliases: DefaultMaxAliases})
	if err != nil || len(objs) != 1 || objs[0].Name != "a" {
		t.Errorf("%v, %v", objs, err)
	}
}

// TestDocuments: each document comes with its number and its line.
func TestDocuments(t *testing.T) {
	for _, tt := range []struct{ body, want string }{
		{"\xef\xbb\xbfWarning: x\n{\"a\":1}\n[2] \"x\"", `1/2:{"a":1} 2/3:[2] 3/3:"x" `},
		{wide(`{"a":1}`, binary.LittleEndian), `1/1:{"a":1} `},
		{"a: &x 1\nb: *x\n---\n# nothing\n---\n- c\n", `1/1:{"a":1,"b":1} 3/6:["c"] `},
		{"a: 1\n---\n{\n", "1/1:{\"a\":1} bad YAML in the file, document 2: yaml: line 3"},
		{"a: 1\n---\na:\n\tb: 1\n", "1/1:{\"a\":1} bad YAML in the file, document 2: yaml: line 4"},
	} {
		got := ""
		err := Documents(strings.NewReader(tt.body), Limits{Input: "the file", MaxAliases: 10}, func(d Document) error {
			got += fmt.Sprintf("%d/%d:%s ", d.Number, d.Line, d.JSON)
			return nil
		})
		if err != nil {
			got += err.Error()
		}
		if !strings.HasPrefix(got, tt.want) {
			t.Errorf("%q: %s\nwant %s", tt.body, got, tt.want)
		}
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
