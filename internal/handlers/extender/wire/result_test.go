package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	extender "k8s.io/kube-scheduler/extender/v1"
)

var oddNames = []string{"a", "node-1", "b\"c", "<&>", "é", "\u2028", "z", "Z", "node-10", "node-2", ""}

// upstreamResult is the answer as extender/v1's types say it.
func upstreamResult(names []string, verdicts []verdict) extender.ExtenderFilterResult {
	kept := []string{}
	want := extender.ExtenderFilterResult{NodeNames: &kept, FailedNodes: extender.FailedNodesMap{}, FailedAndUnresolvableNodes: extender.FailedNodesMap{}}
	for i, v := range verdicts {
		switch v.outcome {
		case passed:
			kept = append(kept, names[i])
		case failed:
			want.FailedNodes[names[i]] = v.reason
		default:
			want.FailedAndUnresolvableNodes[names[i]] = v.reason
		}
	}
	return want
}

func TestFilterResultInNames(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 500 {
		rng.Shuffle(len(oddNames), func(i, j int) { oddNames[i], oddNames[j] = oddNames[j], oddNames[i] })
		asked := oddNames[:rng.IntN(len(oddNames)+1)]
		p := &Parser{}
		if round%3 > 0 {
			p.Names = NewNames(oddNames)
		}
		if round%3 > 1 {
			p.Names = NewNames(oddNames[:4])
		}
		body, err := json.Marshal(extender.ExtenderArgs{NodeNames: &asked})
		if err != nil {
			t.Fatal(err)
		}
		var args FilterArgs
		if err := p.FilterArgs(body, &args); err != nil {
			t.Fatal(err)
		}
		var verdicts []verdict
		var scores []int64
		priorities := extender.HostPriorityList{}
		for i := range args.Rows {
			verdicts = append(verdicts, verdict{outcome(rng.IntN(3)), oddNames[rng.IntN(len(oddNames))]})
			scores = append(scores, rng.Int64N(40)-20)
			priorities = append(priorities, extender.HostPriority{Host: asked[i], Score: scores[i]})
		}
		names := p.Names
		got := AppendFilterResult(nil, &args, names, failures(verdicts))
		if want := unescapedHTML(t, upstreamResult(asked, verdicts)); !bytes.Equal(got, want) {
			t.Fatalf("asked %q:\n got %s\nwant %s", asked, got, want)
		}
		got = AppendHostPriorityList([]byte("x"), &args, names, scores)
		if want := unescapedHTML(t, priorities); string(got) != "x"+string(want) {
			t.Fatalf("got %s, want %s", got, want)
		}
	}
}

func TestFilterResultNamesANodeOnce(t *testing.T) {
	for _, names := range []*Names{NewNames([]string{"b", "a"}), NewNames([]string{"a"}), NewNames(nil)} {
		var args FilterArgs
		if err := (&Parser{Names: names}).FilterArgs([]byte(`{"NodeNames":["a","b","a"]}`), &args); err != nil {
			t.Fatal(err)
		}
		got := AppendFilterResult(nil, &args, names, failures([]verdict{{failed, "1"}, {outcome(9), "2"}, {unresolvable, "3"}}))
		want := `{"Nodes":null,"NodeNames":[],"FailedNodes":{},"FailedAndUnresolvableNodes":{"a":"3","b":"2"},"Error":""}`
		if string(got) != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
	}
}

func TestFilterResultInNodes(t *testing.T) {
	body := golden(t, "do_filter.request.json")["do_filter.request.json"]
	var upstream extender.ExtenderArgs
	decode(t, body, &upstream)
	args, err := parseFilterArgs(body, filterLimits())
	if err != nil {
		t.Fatal(err)
	}
	n := len(upstream.Nodes.Items)
	if n == 0 || len(args.Nodes) != n {
		t.Fatalf("%d items, want %d", len(args.Nodes), n)
	}
	for keep := range 1 << n {
		verdicts := make([]verdict, n)
		nodes := v1.NodeList{Items: []v1.Node{}}
		var names []string
		for i := range n {
			names = append(names, upstream.Nodes.Items[i].Name)
			if keep>>i&1 != 0 {
				nodes.Items = append(nodes.Items, upstream.Nodes.Items[i])
			} else {
				verdicts[i] = verdict{outcome(1 + i%2), "no"}
			}
		}
		want := upstreamResult(names, verdicts)
		want.Nodes, want.NodeNames = &nodes, nil
		if got := AppendFilterResult(nil, &args, nil, failures(verdicts)); string(got) != string(unescapedHTML(t, want)) {
			t.Fatalf("got %s\nwant %s", got, unescapedHTML(t, want))
		}
	}
	scores := make([]int64, n)
	var priorities extender.HostPriorityList
	decode(t, AppendHostPriorityList(nil, &args, nil, scores), &priorities)
	for i := range n {
		if priorities[i].Host != upstream.Nodes.Items[i].Name {
			t.Errorf("score %d is for %q", i, priorities[i].Host)
		}
	}
}

// TestRecordedAnswers writes the answers of a recorded run anew and compares them byte for byte.
func TestRecordedAnswers(t *testing.T) {
	for file, answer := range golden(t, "*_filter.response.json") {
		request := golden(t, strings.Replace(file, "response", "request", 1))
		var want extender.ExtenderFilterResult
		decode(t, answer, &want)
		for _, body := range request {
			args, err := parseFilterArgs(body, filterLimits())
			if err != nil {
				t.Fatal(err)
			}
			verdicts := make([]verdict, args.asked())
			for i := range verdicts {
				name := ""
				if args.byNodes() {
					name = string(args.Nodes[i].Name)
				} else {
					name = string(args.Unknown[i])
				}
				if reason, ok := want.FailedNodes[name]; ok {
					verdicts[i] = verdict{failed, reason}
				}
				if reason, ok := want.FailedAndUnresolvableNodes[name]; ok {
					verdicts[i] = verdict{unresolvable, reason}
				}
			}
			if got := AppendFilterResult(nil, &args, nil, failures(verdicts)); string(got) != strings.TrimSpace(string(answer)) {
				t.Errorf("%s: got %s\nwant %s", file, got, answer)
			}
		}
	}
	for file, answer := range golden(t, "*_preempt.response.json") {
		// The recorded answers to a request with UIDs repeat it; an answer alone is a request with
		// UIDs, too.
		args, err := ParsePreemptionArgs(answer, preemptLimits())
		if err != nil {
			t.Fatal(err)
		}
		if got := AppendPreemptionResult(nil, args.MetaVictims); string(got) != strings.TrimSpace(string(answer)) {
			t.Errorf("%s: got %s\nwant %s", file, got, answer)
		}
	}
	for file, answer := range golden(t, "*_bind.response.json") {
		if got := AppendBindingResult(nil, ""); string(got) != strings.TrimSpace(string(answer)) {
			t.Errorf("%s: got %s", file, got)
		}
	}
}

func TestErrorForms(t *testing.T) {
	message := "a \"quoted\" <reason>\n"
	if got, want := AppendFilterError(nil, message), unescapedHTML(t, extender.ExtenderFilterResult{Error: message}); string(got) != string(want) {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := AppendBindingResult(nil, message), unescapedHTML(t, extender.ExtenderBindingResult{Error: message}); string(got) != string(want) {
		t.Errorf("got %s, want %s", got, want)
	}
	var empty extender.ExtenderFilterResult
	if decode(t, AppendFilterError(nil, ""), &empty); empty.Error == "" {
		t.Error("an error without text reads as no error")
	}
}

func TestEmptyAnswers(t *testing.T) {
	for _, body := range []string{`{}`, `{"NodeNames":[]}`} {
		args, err := parseFilterArgs([]byte(body), Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if got := AppendHostPriorityList(nil, &args, nil, nil); string(got) != `[]` {
			t.Errorf("%s: scores %s", body, got)
		}
		want := `{"Nodes":null,"NodeNames":[],"FailedNodes":{},"FailedAndUnresolvableNodes":{},"Error":""}`
		if got := AppendFilterResult(nil, &args, nil, nil); string(got) != want {
			t.Errorf("%s: %s", body, got)
		}
	}
	if got := AppendPreemptionResult(nil, nil); string(got) != `{"NodeNameToMetaVictims":{}}` {
		t.Errorf("preemption %s", got)
	}
}

func TestPreemptionResult(t *testing.T) {
	nodes := []MetaVictims{
		{Node: "b", UIDs: []string{"2", "1"}, NumPDBViolations: 3},
		{Node: "a", UIDs: []string{"x"}},
		{Node: "c", Null: true},
		{Node: "a", UIDs: []string{"y\"", ""}, NumPDBViolations: -1},
	}
	want := extender.ExtenderPreemptionResult{NodeNameToMetaVictims: map[string]*extender.MetaVictims{}}
	for _, n := range nodes {
		v := &extender.MetaVictims{Pods: []*extender.MetaPod{}, NumPDBViolations: n.NumPDBViolations}
		for _, uid := range n.UIDs {
			v.Pods = append(v.Pods, &extender.MetaPod{UID: uid})
		}
		want.NodeNameToMetaVictims[n.Node] = v
	}
	got := AppendPreemptionResult(nil, nodes)
	if diff := cmp.Diff(string(unescapedHTML(t, want)), string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if strings.Contains(string(got), "null") {
		t.Error("a null would crash kube-scheduler")
	}
}

func TestFilterArgsOfRandomBodies(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var all []string
	for i := range 3000 {
		all = append(all, fmt.Sprintf("node-%d%s", i, oddNames[i%len(oddNames)]))
	}
	table := NewNames(all[:2500])
	for range 40 {
		var asked []string
		for range rng.IntN(3000) {
			asked = append(asked, all[rng.IntN(len(all))])
		}
		if rng.IntN(2) == 0 {
			asked = all[rng.IntN(1000) : 1000+rng.IntN(2000)]
		}
		body, err := json.Marshal(extender.ExtenderArgs{Pod: &v1.Pod{}, NodeNames: &asked})
		if err != nil {
			t.Fatal(err)
		}
		compareFilterArgs(t, &Parser{Names: table}, body)
		compareFilterArgs(t, &Parser{Names: table}, bytes.ToLower(body))
	}
}
