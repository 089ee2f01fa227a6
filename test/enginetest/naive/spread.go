package naive

import (
	"math"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"berth/internal/engine/rules"
)

// constraint is a spread constraint with its selector.
type constraint struct {
	corev1.TopologySpreadConstraint
	selector labels.Selector
}

// constraints returns those of one kind that apply to the pod.
func (y *cycle) constraints(when corev1.UnsatisfiableConstraintAction) []constraint {
	list, defaults := y.pod.Spec.TopologySpreadConstraints, false
	if len(list) == 0 {
		defaults = true
		list = y.spec.Args.PodTopologySpread.Constraints
		if y.spec.Args.PodTopologySpread.System {
			list = []corev1.TopologySpreadConstraint{
				{TopologyKey: corev1.LabelHostname, MaxSkew: 3, WhenUnsatisfiable: corev1.ScheduleAnyway},
				{TopologyKey: corev1.LabelTopologyZone, MaxSkew: 5, WhenUnsatisfiable: corev1.ScheduleAnyway},
			}
		}
	}
	var out []constraint
	for _, c := range list {
		if c.WhenUnsatisfiable != when {
			continue
		}
		if defaults {
			sel := y.kin()
			if sel.Empty() {
				return nil
			}
			out = append(out, constraint{c, sel})
			continue
		}
		sel, err := metav1.LabelSelectorAsSelector(c.LabelSelector)
		if err != nil {
			sel = labels.Nothing()
		}
		if c.LabelSelector != nil {
			for _, key := range c.MatchLabelKeys {
				if v, ok := y.pod.Labels[key]; ok {
					more, _ := labels.SelectorFromSet(labels.Set{key: v}).Requirements()
					sel = sel.Add(more...)
				}
			}
		}
		out = append(out, constraint{c, sel})
	}
	return out
}

// kin selects what belongs to the pod's services and controller.
func (y *cycle) kin() labels.Selector {
	set := labels.Set{}
	for _, s := range y.services {
		if s.Namespace != y.pod.Namespace || s.Spec.Selector == nil {
			continue
		}
		all := true
		for k, v := range s.Spec.Selector {
			have, ok := y.pod.Labels[k]
			all = all && ok && have == v
		}
		if all {
			for k, v := range s.Spec.Selector {
				set[k] = v
			}
		}
	}
	var more *metav1.LabelSelector
	for _, o := range y.pod.OwnerReferences {
		if o.Controller == nil || !*o.Controller {
			continue
		}
		switch o.APIVersion + " " + o.Kind {
		case "v1 ReplicationController":
			for _, c := range y.controllers {
				if c.Namespace == y.pod.Namespace && c.Name == o.Name {
					for k, v := range c.Spec.Selector {
						set[k] = v
					}
				}
			}
		case "apps/v1 ReplicaSet":
			for _, c := range y.replicaSets {
				if c.Namespace == y.pod.Namespace && c.Name == o.Name {
					more = c.Spec.Selector
				}
			}
		case "apps/v1 StatefulSet":
			for _, c := range y.statefulSets {
				if c.Namespace == y.pod.Namespace && c.Name == o.Name {
					more = c.Spec.Selector
				}
			}
		}
		break
	}
	sel := labels.SelectorFromSet(set)
	if more != nil {
		if other, err := metav1.LabelSelectorAsSelector(more); err == nil {
			reqs, _ := other.Requirements()
			sel = sel.Add(reqs...)
		}
	}
	return sel
}

func hasAll(n *node, list []constraint) bool {
	for _, c := range list {
		if _, ok := n.label(c.TopologyKey); !ok {
			return false
		}
	}
	return true
}

// included applies a constraint's node inclusion policies.
func (c *constraint) included(p *corev1.Pod, n *node) bool {
	if c.NodeAffinityPolicy == nil || *c.NodeAffinityPolicy == corev1.NodeInclusionPolicyHonor {
		if ok, _ := nodeaffinity.GetRequiredNodeAffinity(p).Match(n.Node); !ok {
			return false
		}
	}
	return c.NodeTaintsPolicy == nil || *c.NodeTaintsPolicy != corev1.NodeInclusionPolicyHonor || !keptOut(p, n)
}

// count counts the live pods of the pod's namespace that match; an empty selector counts none.
func (c *constraint) count(p *corev1.Pod, pods []*corev1.Pod) int {
	if c.selector.Empty() {
		return 0
	}
	n := 0
	for _, o := range pods {
		if o.Namespace == p.Namespace && o.DeletionTimestamp == nil && c.selector.Matches(labels.Set(o.Labels)) {
			n++
		}
	}
	return n
}

// spread is the filter for hard constraints; nil if there are none.
func (y *cycle) spread() filter {
	list := y.constraints(corev1.DoNotSchedule)
	if len(list) == 0 {
		return nil
	}
	counts := make([]map[string]int, len(list))
	for i := range list {
		counts[i] = map[string]int{}
		for _, n := range y.nodes {
			if hasAll(n, list) && list[i].included(y.pod, n) {
				v, _ := n.label(list[i].TopologyKey)
				counts[i][v] += list[i].count(y.pod, n.pods)
			}
		}
	}
	least := make([]int, len(list))
	for i := range list {
		least[i] = list[i].minimum(counts[i])
	}
	return func(n *node, extra []*corev1.Pod) status {
		for i := range list {
			c := &list[i]
			domain, ok := n.label(c.TopologyKey)
			if !ok {
				return hard("PodTopologySpread", rules.ReasonSpreadNoLabel)
			}
			matching, low := counts[i][domain], least[i]
			// Pods that are added count by the selector alone: even terminating ones,
			// even for an empty selector.
			more := 0
			for _, p := range extra {
				if p.Namespace == y.pod.Namespace && c.selector.Matches(labels.Set(p.Labels)) {
					more++
				}
			}
			for _, m := range y.trail {
				if m.pod.Namespace == y.pod.Namespace && c.selector.Matches(labels.Set(m.pod.Labels)) {
					more += m.n
				}
			}
			if more != 0 && hasAll(n, list) && c.included(y.pod, n) {
				with := map[string]int{}
				for v, k := range counts[i] {
					with[v] = k
				}
				with[domain] += more
				matching, low = with[domain], c.minimum(with)
			}
			if c.selector.Matches(labels.Set(y.pod.Labels)) {
				matching++
			}
			if matching-low > int(c.MaxSkew) {
				return soft("PodTopologySpread", rules.ReasonSpread)
			}
		}
		return status{}
	}
}

// minimum is the global minimum, 0 while there are too few domains.
func (c *constraint) minimum(counts map[string]int) int {
	domains := 1
	if c.MinDomains != nil {
		domains = int(*c.MinDomains)
	}
	if len(counts) < domains {
		return 0
	}
	low := math.MaxInt32
	for _, n := range counts {
		low = min(low, n)
	}
	return low
}

// spreadScore scores by the soft constraints; nil if there are none.
func (y *cycle) spreadScore(feasible []*node) (raw, norm []int64) {
	list := y.constraints(corev1.ScheduleAnyway)
	if len(list) == 0 {
		return nil, nil
	}
	needAll := len(y.pod.Spec.TopologySpreadConstraints) > 0 || !y.spec.Args.PodTopologySpread.System
	ignored := func(n *node) bool { return needAll && !hasAll(n, list) }
	weights, counts := make([]float64, len(list)), make([]map[string]int, len(list))
	for i := range list {
		c, size := &list[i], 0
		counts[i] = map[string]int{}
		for _, n := range feasible {
			if ignored(n) {
				continue
			}
			v, _ := n.label(c.TopologyKey)
			if _, seen := counts[i][v]; !seen || c.TopologyKey == corev1.LabelHostname {
				counts[i][v] = 0
				size++
			}
		}
		weights[i] = math.Log(float64(size + 2))
		for _, n := range y.nodes {
			v, _ := n.label(c.TopologyKey)
			if _, wanted := counts[i][v]; wanted && !ignored(n) && c.included(y.pod, n) {
				counts[i][v] += c.count(y.pod, n.pods)
			}
		}
	}
	raw, norm = make([]int64, len(feasible)), make([]int64, len(feasible))
	low, high := int64(math.MaxInt64), int64(0)
	for k, n := range feasible {
		if ignored(n) {
			continue
		}
		sum := 0.0
		for i := range list {
			c := &list[i]
			v, ok := n.label(c.TopologyKey)
			if !ok {
				continue
			}
			matching := counts[i][v]
			if c.TopologyKey == corev1.LabelHostname {
				matching = c.count(y.pod, n.pods)
			}
			points := float64(matching) * weights[i]
			sum += points + float64(c.MaxSkew-1)
		}
		raw[k] = int64(math.Round(sum))
		low, high = min(low, raw[k]), max(high, raw[k])
	}
	for k, n := range feasible {
		switch {
		case ignored(n):
		case high == 0:
			norm[k] = 100
		default:
			norm[k] = 100 * (high + low - raw[k]) / high
		}
	}
	return raw, norm
}
