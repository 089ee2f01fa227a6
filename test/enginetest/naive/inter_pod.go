package naive

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"berth/internal/engine/rules"
)

// selects reports whether a term of owner selects the pod.
func (y *cycle) selects(t *corev1.PodAffinityTerm, owner, p *corev1.Pod) bool {
	sel, err := metav1.LabelSelectorAsSelector(t.LabelSelector)
	if err != nil || !sel.Matches(labels.Set(p.Labels)) {
		return false
	}
	if len(t.Namespaces) == 0 && t.NamespaceSelector == nil {
		return p.Namespace == owner.Namespace
	}
	if contains(t.Namespaces, p.Namespace) {
		return true
	}
	if t.NamespaceSelector == nil {
		return false
	}
	nsSel, err := metav1.LabelSelectorAsSelector(t.NamespaceSelector)
	if err != nil {
		return false
	}
	if nsSel.Empty() {
		return true
	}
	set, known := y.namespaces[p.Namespace]
	if owner != y.pod {
		return nsSel.Matches(set)
	}
	// The pod's own terms are resolved over namespaces that exist. Besides, the selector is matched
	// against no labels at all, which satisfies DoesNotExist.
	return known && nsSel.Matches(set) || nsSel.Matches(labels.Set{})
}

func requiredNear(p *corev1.Pod) []corev1.PodAffinityTerm {
	if a := p.Spec.Affinity; a != nil && a.PodAffinity != nil {
		return a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	return nil
}

func requiredAway(p *corev1.Pod) []corev1.PodAffinityTerm {
	if a := p.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		return a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	return nil
}

// preferences lists preferred terms, those of anti-affinity with a negative
// weight.
func preferences(p *corev1.Pod) []corev1.WeightedPodAffinityTerm {
	a := p.Spec.Affinity
	if a == nil {
		return nil
	}
	var out []corev1.WeightedPodAffinityTerm
	if a.PodAffinity != nil {
		out = append(out, a.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution...)
	}
	if a.PodAntiAffinity != nil {
		for _, t := range a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
			t.Weight = -t.Weight
			out = append(out, t)
		}
	}
	return out
}

// domain is a value of a topology key.
type domain struct{ key, value string }

// affinityState is what is known of the pods that are there.
type affinityState struct{ near, away, existing map[domain]int }

func (s *affinityState) plus() affinityState {
	clone := func(m map[domain]int) map[domain]int {
		out := map[domain]int{}
		for k, v := range m {
			out[k] = v
		}
		return out
	}
	return affinityState{clone(s.near), clone(s.away), clone(s.existing)}
}

func (y *cycle) matchesAllNear(p *corev1.Pod) bool {
	terms := requiredNear(y.pod)
	for i := range terms {
		if !y.selects(&terms[i], y.pod, p) {
			return false
		}
	}
	return len(terms) > 0
}

// note counts a pod that is on a node, or with by -1 one that left it. Domains
// without pods are not kept.
func (y *cycle) note(s *affinityState, n *node, p *corev1.Pod, by int) {
	bump := func(m map[domain]int, key string) {
		if v, ok := n.label(key); ok {
			if m[domain{key, v}] += by; m[domain{key, v}] == 0 {
				delete(m, domain{key, v})
			}
		}
	}
	theirs, ours := requiredAway(p), requiredAway(y.pod)
	for i := range theirs {
		if y.selects(&theirs[i], p, y.pod) {
			bump(s.existing, theirs[i].TopologyKey)
		}
	}
	for i := range ours {
		if y.selects(&ours[i], y.pod, p) {
			bump(s.away, ours[i].TopologyKey)
		}
	}
	if y.matchesAllNear(p) {
		for _, t := range requiredNear(y.pod) {
			bump(s.near, t.TopologyKey)
		}
	}
}

// interPod is the filter for inter-pod affinity; nil if there is nothing to
// judge without nominated pods, in which case those do not matter either.
func (y *cycle) interPod() filter {
	base := affinityState{map[domain]int{}, map[domain]int{}, map[domain]int{}}
	for _, n := range y.nodes {
		for _, p := range n.pods {
			y.note(&base, n, p, 1)
		}
	}
	near, away := requiredNear(y.pod), requiredAway(y.pod)
	if len(base.existing) == 0 && len(near) == 0 && len(away) == 0 {
		return nil
	}
	return func(n *node, extra []*corev1.Pod) status {
		s := base
		if len(extra)+len(y.trail) > 0 {
			s = base.plus()
			for _, m := range y.trail {
				y.note(&s, n, m.pod, m.n)
			}
			for _, p := range extra {
				y.note(&s, n, p, 1)
			}
		}
		company, keys := true, true
		for _, t := range near {
			v, ok := n.label(t.TopologyKey)
			keys = keys && ok
			company = company && s.near[domain{t.TopologyKey, v}] > 0
		}
		first := len(s.near) == 0 && y.matchesAllNear(y.pod)
		if len(near) > 0 && (!keys || !company && !first) {
			return hard("InterPodAffinity", rules.ReasonPodAffinity)
		}
		for _, t := range away {
			if v, ok := n.label(t.TopologyKey); ok && s.away[domain{t.TopologyKey, v}] > 0 {
				return soft("InterPodAffinity", rules.ReasonPodAntiAffinity)
			}
		}
		for k, v := range n.Labels {
			if s.existing[domain{k, v}] > 0 {
				return soft("InterPodAffinity", rules.ReasonExistingAntiAffinity)
			}
		}
		return status{}
	}
}

// interPodScore adds up preferences in both directions; nil if no pod has one that matters.
func (y *cycle) interPodScore(feasible []*node) (raw, norm []int64) {
	args := y.spec.Args.InterPodAffinity
	own := preferences(y.pod)
	if args.IgnorePreferredTermsOfExistingPods && len(own) == 0 {
		return nil, nil
	}
	points := map[domain]int64{}
	for _, n := range y.nodes {
		add := func(key string, weight int32) {
			if v, ok := n.label(key); ok {
				points[domain{key, v}] += int64(weight)
			}
		}
		for _, p := range n.pods {
			for i := range own {
				if y.selects(&own[i].PodAffinityTerm, y.pod, p) {
					add(own[i].PodAffinityTerm.TopologyKey, own[i].Weight)
				}
			}
			theirs := preferences(p)
			for i := range theirs {
				if y.selects(&theirs[i].PodAffinityTerm, p, y.pod) {
					add(theirs[i].PodAffinityTerm.TopologyKey, theirs[i].Weight)
				}
			}
			if required := requiredNear(p); args.HardPodAffinityWeight > 0 {
				for i := range required {
					if y.selects(&required[i], p, y.pod) {
						add(required[i].TopologyKey, args.HardPodAffinityWeight)
					}
				}
			}
		}
	}
	if len(points) == 0 {
		return nil, nil
	}
	raw, norm = make([]int64, len(feasible)), make([]int64, len(feasible))
	for i, n := range feasible {
		for k, v := range n.Labels {
			raw[i] += points[domain{k, v}]
		}
	}
	low, high := raw[0], raw[0]
	for _, r := range raw {
		low, high = min(low, r), max(high, r)
	}
	for i, r := range raw {
		if high > low {
			norm[i] = int64(100 * (float64(r-low) / float64(high-low)))
		}
	}
	return raw, norm
}
