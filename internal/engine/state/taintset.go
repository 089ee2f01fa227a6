package state

import corev1 "k8s.io/api/core/v1"

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
	for _, r := range s.order {
		if yes[s.taintSet[r]] {
			rows.Set(int(r))
		}
	}
	return rows, true
}

func taintKey(taints []corev1.Taint) string {
	k := newMemoKey()
	for i := range taints {
		k = k.text(taints[i].Key).text(taints[i].Value).text(string(taints[i].Effect))
	}
	return string(k)
}
