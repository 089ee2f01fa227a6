package wire

import (
	"cmp"
	"slices"

	"berth/internal/jsonscan"
)

// AppendPreemptionResult appends the ExtenderPreemptionResult. Whatever form was asked in, the
// answer is NodeNameToMetaVictims, the only field kube-scheduler reads. Nodes are sorted by name,
// of equal names the last counts; victims keep their order, which kube-scheduler takes for
// descending priority. Never is anything null: kube-scheduler would crash on it. No nodes at all
// say that preemption doesn't help.
func AppendPreemptionResult(dst []byte, nodes []MetaVictims) []byte {
	order := make([]int, len(nodes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(nodes[a].Node, nodes[b].Node) })
	dst = append(dst, `{"NodeNameToMetaVictims":{`...)
	first := true
	for k, i := range order {
		node := &nodes[i]
		if k+1 < len(order) && nodes[order[k+1]].Node == node.Node {
			continue
		}
		dst = jsonscan.AppendString(comma(dst, &first), node.Node)
		dst = append(dst, `:{"Pods":[`...)
		firstPod := true
		for _, uid := range node.UIDs {
			dst = append(comma(dst, &firstPod), `{"UID":`...)
			dst = append(jsonscan.AppendString(dst, uid), '}')
		}
		dst = append(dst, `],"NumPDBViolations":`...)
		dst = append(appendInt(dst, node.NumPDBViolations), '}')
	}
	return append(dst, "}}"...)
}
