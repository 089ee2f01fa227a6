package state

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// nodeOps are the operators of node selectors.
var nodeOps = map[corev1.NodeSelectorOperator]selection.Operator{
	corev1.NodeSelectorOpIn:           selection.In,
	corev1.NodeSelectorOpNotIn:        selection.NotIn,
	corev1.NodeSelectorOpExists:       selection.Exists,
	corev1.NodeSelectorOpDoesNotExist: selection.DoesNotExist,
	corev1.NodeSelectorOpGt:           selection.GreaterThan,
	corev1.NodeSelectorOpLt:           selection.LessThan,
}

// TermRows returns the nodes that a node selector term selects. ok is false where the term does not
// parse: a required term then selects no node, and a preferred one is an error. An empty term
// selects no node. The result is shared and not to be written
// (k8s.io/component-helpers/scheduling/corev1/nodeaffinity).
func (s *NodeSet) TermRows(term *corev1.NodeSelectorTerm) (rows Bits, ok bool) {
	return s.FindTermRows(term, func() {})
}

// FindTermRows is TermRows with check called between two requirements.
func (s *NodeSet) FindTermRows(term *corev1.NodeSelectorTerm, check func()) (rows Bits, ok bool) {
	key := termKey(term)
	s.memo.mu.RLock()
	rows, have := s.memo.terms[key]
	s.memo.mu.RUnlock()
	if have {
		return rows, rows != nil
	}
	rows = s.termRows(term, check)
	s.memo.keepTerm(key, rows)
	return rows, rows != nil
}

func termKey(term *corev1.NodeSelectorTerm) string {
	k := newMemoKey()
	for _, list := range [][]corev1.NodeSelectorRequirement{term.MatchExpressions, term.MatchFields} {
		k = k.number(len(list))
		for i := range list {
			k = k.text(list[i].Key).text(string(list[i].Operator)).texts(list[i].Values)
		}
	}
	return string(k)
}

// termRows evaluates a term; nil where it does not parse.
func (s *NodeSet) termRows(term *corev1.NodeSelectorTerm, check func()) Bits {
	if len(term.MatchExpressions) == 0 && len(term.MatchFields) == 0 {
		return NewBits(len(s.rows))
	}
	out := s.alive.Clone()
	for i := range term.MatchExpressions {
		check()
		e := &term.MatchExpressions[i]
		op, known := nodeOps[e.Operator]
		if !known {
			return nil
		}
		req, err := labels.NewRequirement(e.Key, op, e.Values)
		if err != nil {
			return nil
		}
		// All of a term must parse, but once no node is left the rest need not be evaluated.
		if !out.Empty() {
			out.And(s.requirementRows(req))
		}
	}
	for i := range term.MatchFields {
		e := &term.MatchFields[i]
		if len(e.Values) != 1 || (e.Operator != corev1.NodeSelectorOpIn && e.Operator != corev1.NodeSelectorOpNotIn) {
			return nil
		}
		// The only field of a node in selectors is its name; any other reads as the empty string.
		want := NewBits(len(s.rows))
		if e.Key == "metadata.name" {
			if row := s.Row(e.Values[0]); row >= 0 {
				want.Set(row)
			}
		} else if e.Values[0] == "" {
			want.Or(s.alive)
		}
		if e.Operator == corev1.NodeSelectorOpIn {
			out.And(want)
		} else {
			out.AndNot(want)
		}
	}
	return out
}

// requirementRows judges each distinct value of the label once.
func (s *NodeSet) requirementRows(req *labels.Requirement) Bits {
	out := NewBits(len(s.rows))
	col := s.Column(req.Key())
	mark := func(v int32) {
		for _, r := range col.Rows[v] {
			out.Set(int(r))
		}
	}
	if op := req.Operator(); op == selection.In || op == selection.Equals {
		for v := range req.Values() {
			if i := col.Lookup(v); i >= 0 {
				mark(i)
			}
		}
		return out
	}
	one := &label{key: col.Key}
	for i, v := range col.Values {
		if one.value = v; req.Matches(one) {
			mark(int32(i))
		}
	}
	if req.Matches(labels.Set{}) {
		for r := range s.alive.All() {
			if col.Value[r] < 0 {
				out.Set(r)
			}
		}
	}
	return out
}

// label is labels.Set with one label, without a map for each value.
type label struct{ key, value string }

func (l *label) Has(key string) bool { return key == l.key }

func (l *label) Get(key string) string {
	value, _ := l.Lookup(key)
	return value
}

func (l *label) Lookup(key string) (value string, exists bool) {
	if key != l.key {
		return "", false
	}
	return l.value, true
}

// SelectorRows returns the nodes that a nodeSelector map selects. The result may be written.
func (s *NodeSet) SelectorRows(sel map[string]string) Bits {
	out := s.alive.Clone()
	for k, v := range sel {
		col := s.Column(k)
		i := col.Lookup(v)
		if i < 0 {
			out.Zero()
			return out
		}
		want := NewBits(len(s.rows))
		for _, r := range col.Rows[i] {
			want.Set(int(r))
		}
		out.And(want)
	}
	return out
}

// RequiredRows returns the nodes that match a pod's nodeSelector and required node affinity. A term
// that does not parse selects no node. nil means that the pod requires nothing and all nodes match
// (nodeaffinity.GetRequiredNodeAffinity).
func (s *NodeSet) RequiredRows(pod *corev1.Pod) Bits {
	required := RequiredNodeAffinity(pod)
	if len(pod.Spec.NodeSelector) == 0 && required == nil {
		return nil
	}
	out := s.SelectorRows(pod.Spec.NodeSelector)
	if required != nil {
		out.And(s.NodeSelectorRows(required))
	}
	return out
}

// NodeSelectorRows returns the union of the terms of a node selector.
func (s *NodeSet) NodeSelectorRows(sel *corev1.NodeSelector) Bits {
	out := NewBits(len(s.rows))
	for i := range sel.NodeSelectorTerms {
		if rows, ok := s.TermRows(&sel.NodeSelectorTerms[i]); ok {
			out.Or(rows)
		}
	}
	return out
}

// RequiredNodeAffinity returns the node selector of a pod's required node affinity; nil without
// one.
func RequiredNodeAffinity(pod *corev1.Pod) *corev1.NodeSelector {
	if a := pod.Spec.Affinity; a != nil && a.NodeAffinity != nil {
		return a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	return nil
}
