package record

import (
	"strings"

	"berth/internal/engine"
	"berth/internal/engine/preempt"
	"berth/internal/revision"
	"berth/internal/store"
)

// victims lists the pods to evict: from the node chosen, with what an auditor asks of them, or from
// all that /preempt leaves.
func victims(view *revision.View, r *engine.Result) []store.Victim {
	var out []store.Victim
	add := func(node string, list []engine.Victim) {
		for i := range list {
			v := &list[i]
			out = append(out, store.Victim{
				Namespace: v.Namespace, Pod: v.Name, UID: v.UID, Priority: v.Priority, Node: node,
			})
		}
	}
	nominated := preempt.Victims(r)
	add(r.NominatedNode(), nominated)
	for i := range nominated {
		budget := violated(&nominated[i])
		out[i].Budget = &budget
		pod, err := view.Pod(out[i].Namespace, out[i].Pod)
		if err != nil {
			continue // a question may bring pods that the state does not have
		}
		if owner := topOwner(view, pod); owner != nil {
			out[i].OwnerKind, out[i].OwnerName = owner.Kind, owner.Name
		}
	}
	for _, c := range preempt.Named(r) {
		add(c.Node, c.Victims)
	}
	return out
}

// violated names the budgets that forbid an eviction.
func violated(v *engine.Victim) string {
	var names []string
	for i := range v.Budgets {
		if v.Budgets[i].Violated {
			names = append(names, v.Budgets[i].Name)
		}
	}
	if len(names) == 0 && v.ViolatesPDB {
		return "more" // of those that are not listed
	}
	return strings.Join(names, ",")
}
