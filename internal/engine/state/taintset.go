package state

import corev1 "k8s.io/api/core/v1"

// maxTaintRows is the number of distinct lists of taints up to which each keeps its rows; beyond
// it, looking up every node's list costs less.
const maxTaintRows = 64

// TaintedRows returns the rows whose list of taints is bad. bad is called once per distinct list;
// out makes the set where there is one to fill.
func (s *NodeSet) TaintedRows(out func() Bits, bad func(taints []corev1.Taint) bool) (rows Bits, any bool) {
	yes := make([]bool, len(s.taints))
	for i, taints := range s.taints {
		yes[i] = bad(taints)
		any = any || yes[i]
	}
	if !any {
		return nil, false
	}
	rows = out()
	if s.KeepsTaintedRows() {
		for i, y := range yes {
			if y {
				rows.Or(s.tainted[i])
			}
		}
		return rows, true
	}
	for _, r := range s.order {
		if yes[s.taintSet[r]] {
			rows.Set(int(r))
		}
	}
	return rows, true
}

// KeepsTaintedRows reports whether TaintSetRows knows the rows of every list of taints.
func (s *NodeSet) KeepsTaintedRows() bool { return len(s.taints) <= maxTaintRows }

// TaintSetRows returns the rows that have one of the TaintSets. Not to be written.
func (s *NodeSet) TaintSetRows(set int) Bits { return s.tainted[set] }

// HasTaintSet reports whether a row of in has one of the TaintSets.
func (s *NodeSet) HasTaintSet(set int, in Bits) bool {
	if set < maxTaintRows {
		return s.tainted[set].Meets(in)
	}
	for i, of := range s.taintSet {
		if int(of) == set && in.Has(i) {
			return true
		}
	}
	return false
}

func taintKey(taints []corev1.Taint) string {
	k := newMemoKey()
	for i := range taints {
		k = k.text(taints[i].Key).text(taints[i].Value).text(string(taints[i].Effect))
	}
	return string(k)
}
