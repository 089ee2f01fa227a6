package decision

import (
	"fmt"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// Where the docs tell of values that mean something else.
const surprises = " (docs/rules.md#surprises-in-upstreams-behaviour)"

// valueNotes names values of the pod that mean something else than they seem to.
func (o *Outcome) valueNotes() (notes []string) {
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)+surprises) }
	for _, err := range state.AmountErrors(o.Pod) {
		add("%s: %v does not fit 64 bits, so that kube-scheduler counts another amount, which may be 0 or negative", err.Field, err.BadValue)
	}
	for _, t := range o.Pod.Spec.Tolerations {
		if t.Operator == corev1.TolerationOpGt || t.Operator == corev1.TolerationOpLt {
			add("the toleration of %s has operator %s, which is off in this release: it tolerates nothing", t.Key, t.Operator)
		}
	}
	eachRequirement(o.Pod, func(r *corev1.NodeSelectorRequirement) {
		if r.Operator != corev1.NodeSelectorOpGt && r.Operator != corev1.NodeSelectorOpLt || len(r.Values) != 1 {
			return
		}
		if _, err := strconv.ParseInt(r.Values[0], 10, 64); err != nil {
			add("%s %s %s: only whole numbers are compared, so that its term matches no node", r.Key, r.Operator, r.Values[0])
		}
	})
	nodes := o.State.Nodes()
	for _, key := range antiAffinityKeys(o.Pod) {
		if nodes.Len() > 0 && len(nodes.Column(key).Values) == 0 {
			add("no node has the label %s, by which the pod's anti-affinity keeps pods apart: the rule has no effect", key)
		}
	}
	if name := o.Pod.Status.NominatedNodeName; name != "" && o.Result.Outcome == engine.UnschedulableOK && o.Pod.Spec.NodeName == "" {
		if row := nodes.Row(name); row < 0 {
			add("it is nominated to node %s, which is not in this cluster", name)
		} else if text, _, rejected := o.Result.ReasonOf(row); rejected {
			add("its nomination to node %s is stale: the node rejects it now (%s)", name, text)
		}
	}
	return notes
}

// eachRequirement visits the expressions of the pod's required node affinity.
func eachRequirement(pod *corev1.Pod, visit func(*corev1.NodeSelectorRequirement)) {
	required := state.RequiredNodeAffinity(pod)
	if required == nil {
		return
	}
	for i := range required.NodeSelectorTerms {
		for k := range required.NodeSelectorTerms[i].MatchExpressions {
			visit(&required.NodeSelectorTerms[i].MatchExpressions[k])
		}
	}
}

// antiAffinityKeys lists the topology keys of the pod's required anti-affinity.
func antiAffinityKeys(pod *corev1.Pod) (keys []string) {
	if pod.Spec.Affinity == nil || pod.Spec.Affinity.PodAntiAffinity == nil {
		return nil
	}
	for _, t := range pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		if !slices.Contains(keys, t.TopologyKey) {
			keys = append(keys, t.TopologyKey)
		}
	}
	return keys
}
