package wire

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	extender "k8s.io/kube-scheduler/extender/v1"
)

// The oracle reads bodies with encoding/json, keeping Pods and Nodes raw. Its types replace what an
// earlier duplicate of their key left, which is the one thing in which this package means to
// differ.

type rawObject []byte

func (r *rawObject) UnmarshalJSON(b []byte) error {
	*r = nil
	if string(b) == "null" {
		return nil
	}
	var any map[string]json.RawMessage
	if err := json.Unmarshal(b, &any); err != nil {
		return err
	}
	*r = bytes.Clone(b)
	return nil
}

type rawNames struct{ names *[]string }

func (r *rawNames) UnmarshalJSON(b []byte) error {
	r.names = nil
	return json.Unmarshal(b, &r.names)
}

type rawItems []rawObject

func (r *rawItems) UnmarshalJSON(b []byte) error {
	var items []rawObject
	err := json.Unmarshal(b, &items)
	if *r = items; string(b) == "null" {
		*r = rawItems{}
	}
	return err
}

type rawNodes struct {
	set   bool
	items []rawObject
}

func (r *rawNodes) UnmarshalJSON(b []byte) error {
	*r = rawNodes{}
	if string(b) == "null" {
		return nil
	}
	var list struct{ Items rawItems }
	err := json.Unmarshal(b, &list)
	r.set, r.items = true, list.Items
	return err
}

type oracleArgs struct {
	Pod       rawObject
	Nodes     rawNodes
	NodeNames rawNames
}

// oracle unmarshals body, refusing the null that this package refuses.
func oracle(body []byte, to any) error {
	if string(bytes.Trim(body, " \t\r\n")) == "null" {
		return io.ErrUnexpectedEOF
	}
	return json.Unmarshal(body, to)
}

// namesOf returns the names of args as strings, nil for null.
func namesOf(args *FilterArgs, table *Names) *[]string {
	if !args.HasNames {
		return nil
	}
	names := make([]string, 0, len(args.Rows))
	for _, row := range args.Rows {
		if row < 0 {
			names = append(names, string(args.Unknown[^row]))
		} else {
			names = append(names, table.Name(int(row)))
		}
	}
	return &names
}

// compareFilterArgs requires that our reading of body and the oracle's agree in success and in
// content.
func compareFilterArgs(t *testing.T, p *Parser, body []byte) {
	t.Helper()
	before := bytes.Clone(body)
	var got FilterArgs
	err := p.FilterArgs(body, &got)
	if !bytes.Equal(before, body) {
		t.Fatal("the body was changed")
	}
	var want oracleArgs
	wantErr := oracle(body, &want)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("we say %v, encoding/json says %v, of %q", err, wantErr, body)
	}
	if err != nil {
		return
	}
	table := p.Names
	if diff := cmp.Diff(want.NodeNames.names, namesOf(&got, table)); diff != "" {
		t.Fatalf("NodeNames of %q (-want +got):\n%s", body, diff)
	}
	if !bytes.Equal(want.Pod, got.Pod) || want.Nodes.set != got.HasNodes || len(want.Nodes.items) != len(got.Nodes) {
		t.Fatalf("%q: got %q %v %d items, want %q %v %d", body, got.Pod, got.HasNodes, len(got.Nodes), want.Pod, want.Nodes.set, len(want.Nodes.items))
	}
	for i, item := range want.Nodes.items {
		if raw := got.Nodes[i].Raw; !bytes.Equal(raw, item) && !(item == nil && string(raw) == "null") {
			t.Fatalf("item %d: got %q, want %q", i, raw, item)
		}
	}
	compareUpstream(t, body, &got, table)
}

// compareUpstream compares with extender/v1's own types where they accept the body and no duplicate
// key makes them merge.
func compareUpstream(t *testing.T, body []byte, got *FilterArgs, table *Names) {
	t.Helper()
	var want extender.ExtenderArgs
	if json.Unmarshal(body, &want) != nil || hasDuplicates(t, body) {
		return
	}
	have := extender.ExtenderArgs{NodeNames: namesOf(got, table)}
	if got.Pod != nil {
		decode(t, got.Pod, &have.Pod)
	}
	if diff := cmp.Diff(want.Pod, have.Pod); diff != "" {
		t.Fatalf("Pod (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.NodeNames, have.NodeNames); diff != "" {
		t.Fatalf("NodeNames (-want +got):\n%s", diff)
	}
	if (want.Nodes != nil) != got.HasNodes {
		t.Fatal("Nodes: null and an object were confused")
	}
	if want.Nodes == nil {
		return
	}
	for i := range want.Nodes.Items {
		node := want.Nodes.Items[i]
		if node.Name != string(got.Nodes[i].Name) {
			t.Fatalf("name of %q: got %q, want %q", got.Nodes[i].Raw, got.Nodes[i].Name, node.Name)
		}
		again := node
		again.Name = ""
		decode(t, got.Nodes[i].Raw, &again)
	}
}

func decode(t *testing.T, raw []byte, to any) {
	t.Helper()
	if err := json.Unmarshal(raw, to); err != nil {
		t.Fatalf("decode %q: %v", raw, err)
	}
}

// hasDuplicates reports whether an object anywhere in the valid body has two keys that are equal
// but for case.
func hasDuplicates(t *testing.T, body []byte) bool {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	type level struct {
		keys   []string
		object bool
		value  bool
	}
	levels := []*level{{}}
	for {
		token, err := d.Token()
		if err == io.EOF {
			return false
		}
		if err != nil {
			t.Fatalf("tokens of %q: %v", body, err)
		}
		top := levels[len(levels)-1]
		switch token := token.(type) {
		case json.Delim:
			if token == '{' || token == '[' {
				top.value = false
				levels = append(levels, &level{object: token == '{'})
			} else {
				levels = levels[:len(levels)-1]
			}
			continue
		case string:
			if top.object && !top.value {
				for _, k := range top.keys {
					if strings.EqualFold(k, token) {
						return true
					}
				}
				top.keys, top.value = append(top.keys, token), true
				continue
			}
		}
		top.value = false
	}
}

type rawVictims struct{ nodes map[string]*rawNode }

// Maps merge, so that this one doesn't start afresh.
func (r *rawVictims) UnmarshalJSON(b []byte) error { return json.Unmarshal(b, &r.nodes) }

type rawNode struct {
	Pods             rawItems
	NumPDBViolations int64
}

type rawUIDs []string

func (r *rawUIDs) UnmarshalJSON(b []byte) error {
	var pods []*extender.MetaPod
	if err := json.Unmarshal(b, &pods); err != nil {
		return err
	}
	*r = nil
	for _, pod := range pods {
		if pod == nil {
			pod = &extender.MetaPod{}
		}
		*r = append(*r, pod.UID)
	}
	return nil
}

type rawMetaNode struct {
	Pods             rawUIDs
	NumPDBViolations int64
}

type oraclePreemption struct {
	Pod                   rawObject
	NodeNameToVictims     rawVictims
	NodeNameToMetaVictims map[string]*rawMetaNode
}

// comparePreemption requires that our reading of body and the oracle's agree.
func comparePreemption(t *testing.T, body []byte) {
	t.Helper()
	got, err := ParsePreemptionArgs(body, Limits{})
	var want oraclePreemption
	wantErr := oracle(body, &want)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("we say %v, encoding/json says %v, of %q", err, wantErr, body)
	}
	if err != nil {
		return
	}
	if !bytes.Equal(want.Pod, got.Pod) {
		t.Fatalf("Pod: got %q, want %q", got.Pod, want.Pod)
	}
	victims := map[string]*rawNode{}
	for _, v := range got.Victims {
		if victims[v.Node] = nil; !v.Null {
			node := &rawNode{NumPDBViolations: v.NumPDBViolations}
			for _, pod := range v.Pods {
				node.Pods = append(node.Pods, pod)
			}
			victims[v.Node] = node
		}
	}
	meta := map[string]*rawMetaNode{}
	for _, v := range got.MetaVictims {
		if meta[v.Node] = nil; !v.Null {
			meta[v.Node] = &rawMetaNode{Pods: v.UIDs, NumPDBViolations: v.NumPDBViolations}
		}
	}
	if len(victims) != len(got.Victims) || len(meta) != len(got.MetaVictims) {
		t.Fatal("a node is listed twice")
	}
	if got.HasVictims != (want.NodeNameToVictims.nodes != nil) || got.HasMetaVictims != (want.NodeNameToMetaVictims != nil) {
		t.Fatalf("null and an object were confused in %q", body)
	}
	empty := cmp.FilterValues(func(a, b rawItems) bool { return len(a) == 0 && len(b) == 0 }, cmp.Ignore())
	if diff := cmp.Diff(want.NodeNameToVictims.nodes, orNil(victims, got.HasVictims), empty); diff != "" {
		t.Fatalf("NodeNameToVictims of %q (-want +got):\n%s", body, diff)
	}
	if diff := cmp.Diff(want.NodeNameToMetaVictims, orNil(meta, got.HasMetaVictims)); diff != "" {
		t.Fatalf("NodeNameToMetaVictims of %q (-want +got):\n%s", body, diff)
	}
	compareUpstreamPreemption(t, body, got)
}

func orNil[V any](m map[string]V, set bool) map[string]V {
	if !set {
		return nil
	}
	return m
}

// compareUpstreamPreemption compares with extender/v1's own types where they can be compared.
func compareUpstreamPreemption(t *testing.T, body []byte, got PreemptionArgs) {
	t.Helper()
	var want extender.ExtenderPreemptionArgs
	if json.Unmarshal(body, &want) != nil || hasDuplicates(t, body) {
		return
	}
	for _, v := range got.Victims {
		w := want.NodeNameToVictims[v.Node]
		if (w == nil) != v.Null || w != nil && (len(w.Pods) != len(v.Pods) || w.NumPDBViolations != v.NumPDBViolations) {
			t.Fatalf("victims on %q: got %+v, want %+v", v.Node, v, w)
		}
	}
	for _, v := range got.MetaVictims {
		w := want.NodeNameToMetaVictims[v.Node]
		if (w == nil) != v.Null || w != nil && (len(w.Pods) != len(v.UIDs) || w.NumPDBViolations != v.NumPDBViolations) {
			t.Fatalf("meta victims on %q: got %+v, want %+v", v.Node, v, w)
		}
	}
	if len(got.Victims) != len(want.NodeNameToVictims) || len(got.MetaVictims) != len(want.NodeNameToMetaVictims) {
		t.Fatal("the numbers of nodes differ")
	}
}

// compareBinding requires that our reading of body and encoding/json's over the real type agree.
func compareBinding(t *testing.T, body []byte) {
	t.Helper()
	got, err := ParseBindingArgs(body, Limits{})
	var want extender.ExtenderBindingArgs
	wantErr := oracle(body, &want)
	if wantErr == nil && (want.PodName == "" || want.PodNamespace == "" || want.PodUID == "" || want.Node == "") {
		wantErr = &MissingError{}
	}
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("we say %v, encoding/json says %v, of %q", err, wantErr, body)
	}
	if err == nil {
		have := extender.ExtenderBindingArgs{PodName: got.PodName, PodNamespace: got.PodNamespace, Node: got.Node}
		have.PodUID = want.PodUID
		if diff := cmp.Diff(want, have); diff != "" || got.PodUID != string(want.PodUID) {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	}
}
