package decision

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"berth/internal/engine"
	"berth/internal/engine/rules"
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
	if o.Profile.Semantics.ExclusionMeansAll {
		for _, t := range excluding(o.Pod) {
			add("the namespaceSelector %s of its %s only excludes, and so selects every namespace, the excluded ones too: an error of this kube-scheduler, mended in v1.37; list namespaces instead", t[1], t[0])
		}
	} else {
		for _, t := range excluding(o.Pod) {
			add("the namespaceSelector %s of its %s also selects namespaces that lack the label", t[1], t[0])
		}
	}
	if text := o.softOnly(); text != "" {
		add("%s", text)
	}
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

// excluding lists the terms of pod affinity whose namespaceSelector a namespace without labels
// satisfies: what they are, and the selector.
func excluding(pod *corev1.Pod) (list [][2]string) {
	add := func(what string, t *corev1.PodAffinityTerm) {
		if s := t.NamespaceSelector; s == nil || len(s.MatchExpressions) == 0 {
			return
		}
		sel, err := metav1.LabelSelectorAsSelector(t.NamespaceSelector)
		if one := [2]string{what, metav1.FormatLabelSelector(t.NamespaceSelector)}; err == nil && sel.Matches(labels.Set{}) && !slices.Contains(list, one) {
			list = append(list, one)
		}
	}
	if a := pod.Spec.Affinity; a != nil {
		if p := a.PodAffinity; p != nil {
			for i := range p.RequiredDuringSchedulingIgnoredDuringExecution {
				add("pod affinity", &p.RequiredDuringSchedulingIgnoredDuringExecution[i])
			}
		}
		if p := a.PodAntiAffinity; p != nil {
			for i := range p.RequiredDuringSchedulingIgnoredDuringExecution {
				add("pod anti-affinity", &p.RequiredDuringSchedulingIgnoredDuringExecution[i])
			}
		}
	}
	return list
}

// softOnly tells of constraints that only order nodes, where a pod fits nowhere and they are not
// why, or where it goes to a node against one.
func (o *Outcome) softOnly() string {
	spec := &o.Pod.Spec
	var list []string
	for i := range spec.TopologySpreadConstraints {
		if c := &spec.TopologySpreadConstraints[i]; c.WhenUnsatisfiable == corev1.ScheduleAnyway {
			list = append(list, "a spread with ScheduleAnyway")
			break
		}
	}
	if a := spec.Affinity; a != nil && (a.NodeAffinity != nil && len(a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0 ||
		a.PodAffinity != nil && len(a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0 ||
		a.PodAntiAffinity != nil && len(a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution) > 0) {
		list = append(list, "preferred affinity")
	}
	switch {
	case o.Result.Outcome == engine.UnschedulableOK && len(list) > 0:
		return strings.Join(list, " and ") + " never rejects a node: what the pod has of it is not why it waits"
	case o.Result.Outcome == engine.Scheduled && o.Result.Row >= 0: // a filter chooses no node
		for _, t := range o.State.Nodes().Node(o.Result.Row).Taints {
			if t.Effect == corev1.TaintEffectPreferNoSchedule && !rules.Tolerates(o.Pod, &t) {
				return fmt.Sprintf("node %s has the taint %s with PreferNoSchedule, which the pod does not tolerate: such a taint never rejects a pod, it only costs points", o.Result.Node(), t.Key)
			}
		}
	}
	return ""
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
