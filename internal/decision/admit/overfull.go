package admit

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/revision"
)

// overfull names the pods among applied objects that are on nodes which the state lacks, and the
// nodes that they brought over what they have. An API server admits both: a kubelet refuses such a
// pod later, and berth has none.
func overfull(before *state.State, after *revision.View, applied []object.Object) (warnings []string) {
	var nodes []string
	on := map[string][]*state.Pod{}
	for _, o := range applied {
		if o.Key.Kind != "Pod" {
			continue
		}
		pod := after.State.Pod(o.Key.Namespace, o.Key.Name)
		if pod == nil || pod.NodeName == "" || pod.Terminal {
			continue
		}
		if on[pod.NodeName] == nil {
			nodes = append(nodes, pod.NodeName)
		}
		on[pod.NodeName] = append(on[pod.NodeName], pod)
	}
	for _, node := range nodes {
		pods := on[node]
		who, puts := fmt.Sprintf("pod %s/%s", pods[0].Namespace, pods[0].Name), "puts"
		if n := len(pods) - 1; n > 0 {
			who, puts = fmt.Sprintf("%s and %d more", who, n), "put"
		}
		row, names := after.State.Nodes().Row(node), scalars(after.State, pods)
		if row < 0 {
			warnings = append(warnings, fmt.Sprintf("%s: node %s is not in %s, so nothing that it holds is counted", who, node, after.ID()))
			continue
		}
		is := uses(after.State, row, names)
		was := make([]use, len(is))
		if row := before.Nodes().Row(node); row >= 0 {
			was = uses(before, row, names)
		}
		for i, u := range is {
			if u.used > u.has && u.used > was[i].used {
				warnings = append(warnings, fmt.Sprintf("%s %s node %s over its %s (%s of %s)", who, puts, node, u.name, u.text(u.used), u.text(u.has)))
			}
		}
	}
	return warnings
}

// scalars returns the extended resources that pods request, each once.
func scalars(st *state.State, pods []*state.Pod) (names []string) {
	table := state.NewLocalNames(st)
	for _, p := range pods {
		for _, s := range st.Counts(p.Class).Request.Scalars {
			names = append(names, table.ScalarName(s.ID))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// use is how much of a resource a node's pods request, of how much, in the state's unit.
type use struct {
	name      string
	used, has int64
}

// text writes an amount as Kubernetes does.
func (u *use) text(n int64) string {
	switch u.name {
	case "cpu":
		return resource.NewMilliQuantity(n, resource.DecimalSI).String()
	case "memory", "ephemeral-storage":
		return resource.NewQuantity(n, resource.BinarySI).String()
	}
	return resource.NewQuantity(n, resource.DecimalSI).String()
}

// uses returns the resources that every node has, and some extended ones. Those that a DeviceClass
// offers are no amounts of the node.
func uses(st *state.State, row int, scalars []string) []use {
	nodes := st.Nodes()
	u, c := st.Use(row), nodes.Capacity(row)
	list := []use{{"cpu", u.CPU, c.CPU}, {"memory", u.Memory, c.Memory}, {"ephemeral-storage", u.Ephemeral, c.Ephemeral}, {"pods", int64(u.Pods), c.Pods}}
	for _, name := range scalars {
		x := use{name: name}
		if id, known := st.ScalarID(name); known {
			listed := false
			if x.has, listed = nodes.Offers(id, row); listed || st.ExtendedClass(corev1.ResourceName(name)) == nil {
				x.used = st.Requested(id).At(row)
			}
		}
		list = append(list, x)
	}
	return list
}
