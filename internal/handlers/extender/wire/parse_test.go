package wire

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	extender "k8s.io/kube-scheduler/extender/v1"
)

func TestFilterArgsForms(t *testing.T) {
	for _, tc := range []struct {
		name, body         string
		hasNames, hasNodes bool
		names, nodes       string
		pod                string
	}{
		{name: "absent", body: `{}`},
		{name: "null", body: `{"Pod":null,"Nodes":null,"NodeNames":null}`},
		{name: "empty names", body: `{"NodeNames":[]}`, hasNames: true},
		{name: "lower case", body: `{"pod":{"a":1},"nodenames":["a","b"]}`, hasNames: true, names: "a b", pod: `{"a":1}`},
		{name: "escaped", body: `{"NodeNames":["\u0061","\ud83d\ude00"]}`, hasNames: true, names: "a 😀"},
		{name: "escaped key", body: `{"\u004eodeName\u0073":["a"]}`, hasNames: true, names: "a"},
		{name: "last wins", body: `{"NodeNames":["a","b"],"nodeNames":["c"]}`, hasNames: true, names: "c"},
		{name: "last null wins", body: `{"NodeNames":["a"],"NodeNames":null,"Pod":{},"Pod":null}`},
		{name: "no items", body: `{"Nodes":{}}`, hasNodes: true},
		{name: "null items", body: `{"Nodes":{"metadata":{},"items":null}}`, hasNodes: true},
		{name: "items", body: `{"nodes":{"items":[{"metadata":{"labels":{"name":"x"},"name":"a"}}, {"spec":{},"metadata":{"name":"\u0062"}}]}}`, hasNodes: true, nodes: "a b"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			args, err := parseFilterArgs([]byte(tc.body), filterLimits())
			if err != nil {
				t.Fatal(err)
			}
			var names, nodes []string
			for _, n := range args.Unknown {
				names = append(names, string(n))
			}
			for _, n := range args.Nodes {
				nodes = append(nodes, string(n.Name))
			}
			got := fmt.Sprint(args.HasNames, args.HasNodes, names, nodes, string(args.Pod))
			want := fmt.Sprint(tc.hasNames, tc.hasNodes, strings.Fields(tc.names), strings.Fields(tc.nodes), tc.pod)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			compareFilterArgs(t, &Parser{}, []byte(tc.body))
		})
	}
}

func TestErrors(t *testing.T) {
	filter := func(lim Limits) func(string) error {
		return func(body string) error { _, err := parseFilterArgs([]byte(body), lim); return err }
	}
	preempt := func(lim Limits) func(string) error {
		return func(body string) error { _, err := ParsePreemptionArgs([]byte(body), lim); return err }
	}
	bind := func(body string) error { _, err := ParseBindingArgs([]byte(body), BindLimits()); return err }
	for _, tc := range []struct {
		name  string
		parse func(string) error
		body  string
		want  error
	}{
		{"empty", filter(Limits{}), ``, &SyntaxError{Offset: 0, Reason: "want a value"}},
		{"ends early", filter(Limits{}), `{"Pod":{"a":"b`, &SyntaxError{Offset: 14, Reason: "the string doesn't end"}},
		{"trailing", filter(Limits{}), `{} {}`, &SyntaxError{Offset: 3, Reason: "data after the value"}},
		{"comma", filter(Limits{}), `{"NodeNames":["a",]}`, &SyntaxError{Offset: 18, Reason: "want a value"}},
		{"null body", filter(Limits{}), `null`, &TypeError{0, "body", "an object"}},
		{"pod", filter(Limits{}), `{"Pod": 3}`, &TypeError{8, "Pod", "an object or null"}},
		{"name", filter(Limits{}), `{"NodeNames":[3]}`, &TypeError{14, "NodeNames", "strings"}},
		{"names", filter(Limits{Names: 1}), `{"NodeNames":["a","b"]}`, &LimitError{Limit: "names", Max: 1, Offset: 18}},
		{"nodes", filter(Limits{Nodes: 1}), `{"Nodes":{"items":[{},{}]}}`, &LimitError{Limit: "nodes", Max: 1, Offset: 22}},
		{"bytes", filter(Limits{Bytes: 2}), `{  }`, &LimitError{Limit: "bytes", Max: 2, Offset: 2}},
		{"depth", filter(Limits{Depth: 2}), `{"Pod":{"a":[]}}`, &LimitError{Limit: "depth", Max: 2, Offset: 12}},
		{"tokens", filter(Limits{Tokens: 3}), `{"NodeNames":["a","b"]}`, &LimitError{Limit: "tokens", Max: 3, Offset: 14}},
		{"deep", filter(Limits{}), `{"x":` + strings.Repeat("[", 10000), &LimitError{Limit: "depth", Max: 10000, Offset: 5 + 9999}},
		{"preempt nodes", preempt(Limits{Nodes: 1}), `{"NodeNameToVictims":{"a":{},"b":{}}}`, &LimitError{Limit: "nodes", Max: 1, Offset: 33}},
		{"per node", preempt(Limits{VictimsPerNode: 1}), `{"NodeNameToVictims":{"a":{"Pods":[{},{}]}}}`, &LimitError{Limit: "victimsPerNode", Max: 1, Offset: 38}},
		{"victims", preempt(Limits{Victims: 1}), `{"NodeNameToMetaVictims":{"a":{"Pods":[{}]},"b":{"Pods":[{}]}}}`, &LimitError{Limit: "victims", Max: 1, Offset: 57}},
		{"violations", preempt(Limits{}), `{"NodeNameToVictims":{"a":{"NumPDBViolations":1e0}}}`, &TypeError{46, "NodeNameToVictims.NumPDBViolations", "an integer of 64 bits"}},
		{"no uid", bind, `{"PodName":"a","PodNamespace":"b","Node":"c"}`, &MissingError{"PodUID"}},
		{"empty node", bind, `{"PodName":"a","PodNamespace":"b","PodUID":"c","Node":""}`, &MissingError{"Node"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, tc.parse(tc.body), cmpopts.IgnoreFields(SyntaxError{}, "Found", "Ends")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestErrorsDontQuoteTheBody(t *testing.T) {
	for _, body := range []string{`{"Pod":"hunter2"}`, `{"NodeNames":["hunter2\x"]}`, `{"Pod":{"hunter2" 1}}`, `{"hunter2":}`} {
		_, err := parseFilterArgs([]byte(body), Limits{})
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func TestKnownItemsCountForLimits(t *testing.T) {
	body := []byte(`{"Nodes":{"items":[{"metadata":{"name":"a","x":[[[1,2]]]}}]}}`)
	const depth, tokens = 8, 16
	cache := NewNodeCache[int](1<<20, 0)
	for round := range 2 {
		for _, lim := range []Limits{{Depth: depth}, {Tokens: tokens}, {Depth: depth - 1}, {Tokens: tokens - 1}} {
			var args FilterArgs
			err := (&Parser{Limits: lim, Known: cache}).FilterArgs(body, &args)
			var exceeded *LimitError
			if wanted := lim.Depth == depth-1 || lim.Tokens == tokens-1; errors.As(err, &exceeded) != wanted {
				t.Errorf("round %d, %+v: %v", round, lim, err)
			}
			if err == nil {
				if _, err := cache.Value(args.Nodes[0], func([]byte) (int, error) { return 1, nil }); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// TestFieldsAreUpstreams fails when extender/v1 gains, loses or renames a field: the bodies above
// are written by hand.
func TestFieldsAreUpstreams(t *testing.T) {
	for _, tc := range []struct {
		upstream any
		want     string
	}{
		{extender.ExtenderArgs{}, "Pod *v1.Pod, Nodes *v1.NodeList, NodeNames *[]string"},
		{extender.ExtenderFilterResult{}, "Nodes *v1.NodeList, NodeNames *[]string, FailedNodes v1.FailedNodesMap, FailedAndUnresolvableNodes v1.FailedNodesMap, Error string"},
		{extender.HostPriority{}, "Host string, Score int64"},
		{extender.ExtenderBindingArgs{}, "PodName string, PodNamespace string, PodUID types.UID, Node string"},
		{extender.ExtenderBindingResult{}, "Error string"},
		{extender.ExtenderPreemptionArgs{}, "Pod *v1.Pod, NodeNameToVictims map[string]*v1.Victims, NodeNameToMetaVictims map[string]*v1.MetaVictims"},
		{extender.ExtenderPreemptionResult{}, "NodeNameToMetaVictims map[string]*v1.MetaVictims"},
		{extender.Victims{}, "Pods []*v1.Pod, NumPDBViolations int64"},
		{extender.MetaVictims{}, "Pods []*v1.MetaPod, NumPDBViolations int64"},
		{extender.MetaPod{}, "UID string"},
	} {
		typ := reflect.TypeOf(tc.upstream)
		var fields []string
		for i := range typ.NumField() {
			f := typ.Field(i)
			if f.Tag != "" {
				t.Errorf("%s.%s has the tag %q", typ, f.Name, f.Tag)
			}
			fields = append(fields, f.Name+" "+f.Type.String())
		}
		if diff := cmp.Diff(tc.want, strings.Join(fields, ", ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", typ, diff)
		}
	}
}

// TestListsThatBeginEqual: names that begin as the last list does are read, bounded and refused as
// others are.
func TestListsThatBeginEqual(t *testing.T) {
	names := []string{"a", "b", "c", "d"}
	for _, body := range []string{
		`{"NodeNames":["a","b","c","d"]}`, `{"NodeNames":["a","b", "c","d"]}`, `{"NodeNames":["a","b","d","a"]}`, `{"NodeNames":["a","b","x","c"]}`,
		`{"NodeNames":["a","b",]}`, `{"NodeNames":["a","b"`, `{"NodeNames":["a","b",`, `{"NodeNames":["a","b"c]}`, `{"NodeNames":["a","b",null,"c"]}`, `{"NodeNames":["a","b","c`,
		`{"NodeNames":[]}`, `{"NodeNames":["a","b"],"NodeNames":["a","b","a","b"]}`,
	} {
		for most := range 8 {
			for _, lim := range []Limits{{}, {Tokens: most}, {Names: most}} {
				table := NewNames(names)
				var got, want FilterArgs
				if err := (&Parser{Names: table}).FilterArgs([]byte(`{"NodeNames":["a","b"]}`), &got); err != nil {
					t.Fatal(err)
				}
				gotErr := (&Parser{Limits: lim, Names: table}).FilterArgs([]byte(body), &got)
				wantErr := (&Parser{Limits: lim, Names: NewNames(names)}).FilterArgs([]byte(body), &want)
				if diff := cmp.Diff(wantErr, gotErr); diff != "" {
					t.Errorf("%s under %+v (-want +got):\n%s", body, lim, diff)
				}
				if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); gotErr == nil && diff != "" {
					t.Errorf("%s under %+v (-want +got):\n%s", body, lim, diff)
				}
			}
		}
	}
}
