package wire

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// golden returns the recorded bodies whose file name matches the pattern.
func golden(t testing.TB, pattern string) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "wire", pattern))
	if err != nil || len(files) == 0 {
		t.Fatalf("no bodies match %s: %v", pattern, err)
	}
	bodies := map[string][]byte{}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		bodies[filepath.Base(file)] = body
	}
	return bodies
}

func seed(f *testing.F, pattern string, more []string) {
	f.Helper()
	for _, body := range golden(f, pattern) {
		f.Add(body)
	}
	for _, body := range more {
		f.Add([]byte(body))
	}
}

var oddJSON = []string{
	``, ` `, `null`, `true`, `[]`, `{}`, `{`, `}`, `{}{}`, `{} x`, `{"a":1,}`, `{,}`, `{"a"}`, `{"a":}`, `{a:1}`, `[1,]`, `[,1]`, `[1 2]`,
	`{"a":01}`, `{"a":-}`, `{"a":-0.5e+07}`, `{"a":1.}`, `{"a":.5}`, `{"a":1e}`, `{"a":+1}`, `{"a":NaN}`, `{"a":tru}`, `{"a":nulll}`,
	`{"a":"\x"}`, `{"a":"\u12"}`, `{"a":"\u12G4"}`, `{"a":"\ud83d\ude00\ud83d\ud83dx\ude00"}`, "{\"a\":\"\x01\"}", "{\"a\":\"\xff\xc3\"}",
	`{"a":"`, `{"a":"\`, `{"a":"\"`, `[[[[{"a":[{}]}]]]]`, `[{]}`, "\ufeff{}", "{}\x00", "\t\r\n {} ", "{}\v",
}

var oddFilterArgs = []string{
	`{"Pod":null,"Nodes":null,"NodeNames":null}`, `{"NodeNames":[]}`, `{"nodenames":["a","b"],"pod":{},"nodes":{}}`,
	`{"NodeNames":["a",null,""],"NodeNames":["\u0061","b\"c","é","\ud800"]}`, `{"NodeNameſ":["a"]}`, `{"\u004eodeNames":["a"]}`,
	`{"NodeNames":["a"],"NodeNames":null}`, `{"NodeNames":["n0","n1","n2","n1","x","n2"]}`, `{"NodeNames":{}}`, `{"NodeNames":[1]}`,
	`{"NodeNames":"a"}`, `{"Pod":[]}`, `{"Pod":1,"Pod":{}}`, `{"Nodes":[]}`, `{"Nodes":{"items":null}}`, `{"Nodes":{"items":[]}}`,
	`{"Nodes":{"Items":[{"metadata":{"name":"n0"}},null,{"Metadata":{"NAME":"\u006e1"}},{"metadata":null},{}]}}`,
	`{"Nodes":{"items":[{"metadata":{"name":"a"},"metadata":{"name":null},"spec":{}}]}}`,
	`{"Nodes":{"items":[{"metadata":{"name":"a","name":"b"}}],"items":[{"metadata":{"name":"c"}}]},"Unknown":[{"a":[1,2,{}]}]}`,
	`{"Nodes":{"items":{}}}`, `{"Nodes":{"items":[3]}}`, `{"Nodes":{"items":[{"metadata":{"name":"n0"}},{"metadata":{"name":"n0"}}]}}`,
	"{\"NodeNames\":[\"\xff\xfe\",\"a\xc3\"]}", `{"NodeNames":["a"],}`, `{"NodeNames":["a",]}`, `{"NodeNames":["a" "b"]}`,
}

func FuzzFilterArgs(f *testing.F) {
	seed(f, "*_filter.request.json", oddFilterArgs)
	seed(f, "*_prioritize.request.json", oddJSON)
	f.Fuzz(func(t *testing.T, body []byte) {
		cache := NewNodeCache[string](1<<20, 0)
		p := &Parser{Names: NewNames([]string{"n2", "a", "n0", "é", "n1", "b\"c", "b0000", "d0001", ""}), Known: cache}
		compareFilterArgs(t, p, body)
		compareFilterArgs(t, &Parser{}, body)
		// What was decoded once has to be recognised, and the answer stays the same.
		args, err := parseFilterArgs(body, Limits{})
		if err != nil {
			return
		}
		for range 2 {
			for _, item := range args.Nodes {
				v, err := cache.Value(item, func(raw []byte) (string, error) { return string(raw), nil })
				if err != nil || v != string(item.Raw) {
					t.Fatalf("the cache gave %q for %q", v, item.Raw)
				}
			}
			compareFilterArgs(t, p, body)
			if err := p.FilterArgs(body, &args); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func FuzzPreemptionArgs(f *testing.F) {
	seed(f, "*_preempt.request.json", oddJSON)
	seed(f, "*_preempt.request.json", []string{
		`{"NodeNameToVictims":{"a":null,"b":{},"c":{"Pods":null},"d":{"Pods":[null,{}],"NumPDBViolations":2}}}`,
		`{"nodenametometavictims":{"a":{"pods":[{"uid":"1"},null,{"UID":null},{"Uid":"\u0032","x":[]}],"numpdbviolations":-9223372036854775808}}}`,
		`{"NodeNameToMetaVictims":{"b":{"Pods":[{"UID":"x"}]},"a":null,"b":{"NumPDBViolations":1}},"NodeNameToMetaVictims":{"c":{}}}`,
		`{"NodeNameToMetaVictims":{"b":{}},"NodeNameToMetaVictims":null}`, `{"NodeNameToMetaVictims":{"b":{"NumPDBViolations":1.0}}}`,
		`{"NodeNameToMetaVictims":{"b":{"NumPDBViolations":9223372036854775808}}}`, `{"NodeNameToMetaVictims":{"b":{"NumPDBViolations":"1"}}}`,
		`{"NodeNameToMetaVictims":{"b":[]}}`, `{"NodeNameToMetaVictims":[]}`, `{"NodeNameToVictims":{"b":{"Pods":[1]}}}`,
		`{"NodeNameToVictims":{"b":{"Pods":[{}],"Pods":[],"NumPDBViolations":3,"NumPDBViolations":null}},"Pod":{}}`,
	})
	f.Fuzz(func(t *testing.T, body []byte) { comparePreemption(t, body) })
}

func FuzzBindingArgs(f *testing.F) {
	seed(f, "*_bind.request.json", oddJSON)
	seed(f, "*_bind.request.json", []string{
		`{"podname":"a","podnamespace":"b","poduid":"c","node":"d","x":{}}`, `{"PodName":"a","PodNamespace":"b","PodUID":"c","Node":null}`,
		`{"PodName":"a","PodNamespace":"b","PodUID":"c","Node":"d","Node":null}`, `{"PodName":1}`, `{"PodName":"\ud83d\ude00"}`,
	})
	f.Fuzz(func(t *testing.T, body []byte) { compareBinding(t, body) })
}

// unescapedHTML marshals as kube-scheduler would read it back: without HTML escapes and the
// newline.
func unescapedHTML(t testing.TB, v any) []byte {
	t.Helper()
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}
