package suggest

import (
	"fmt"
	"math"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const maxConstraints = 4

// spreading loosens one hard constraint of the pod: a larger maxSkew, other policies for counting
// domains, or ScheduleAnyway.
func (s *searcher) spreading() {
	failing := map[string]int64{} // the most by which a node exceeds maxSkew, by key
	for _, d := range s.causes(math.MaxInt, "topologySpread") {
		failing[d.TopologyKey] = max(failing[d.TopologyKey], d.most)
	}
	tried := 0
	for i := range s.q.Pod.Spec.TopologySpreadConstraints {
		c := &s.q.Pod.Spec.TopologySpreadConstraints[i]
		over, fails := failing[c.TopologyKey]
		if !fails || c.WhenUnsatisfiable != corev1.DoNotSchedule || tried == maxConstraints {
			continue
		}
		tried++
		s.ownRevision(i, c)
		s.moreSkew(i, c, over)
		at := func(field string) string { return pointer("spec", "topologySpreadConstraints", i, field) }
		if c.NodeTaintsPolicy == nil || *c.NodeTaintsPolicy == corev1.NodeInclusionPolicyIgnore {
			s.offerPod("topologySpread", costPolicy, ChangePod, fmt.Sprintf("leave tainted nodes out of the spread over %s (nodeTaintsPolicy Honor)", c.TopologyKey),
				Op{"add", at("nodeTaintsPolicy"), corev1.NodeInclusionPolicyHonor})
		}
		if c.MinDomains != nil && *c.MinDomains > 1 {
			s.offerPod("topologySpread", costPolicy, ChangePod, fmt.Sprintf("drop minDomains %d over %s", *c.MinDomains, c.TopologyKey), Op{Op: "remove", Path: at("minDomains")})
		}
		if !s.prefers(c.TopologyKey) { // an API server accepts only one of each
			s.offerPod("topologySpread", costSoften, ChangePod, fmt.Sprintf("only prefer the spread over %s (whenUnsatisfiable ScheduleAnyway)", c.TopologyKey),
				append(without(c.MinDomains != nil, at("minDomains")), Op{"replace", at("whenUnsatisfiable"), corev1.ScheduleAnyway})...)
		}
	}
}

// ownRevision counts only pods of the pod's own ReplicaSet: in a rollout those of the old one fill
// domains that they are about to leave.
func (s *searcher) ownRevision(i int, c *corev1.TopologySpreadConstraint) {
	const key = appsv1.DefaultDeploymentUniqueLabelKey
	own := metav1.GetControllerOf(s.q.Pod)
	if own == nil || own.Kind != "ReplicaSet" || s.q.Pod.Labels[key] == "" || c.LabelSelector == nil || slices.Contains(c.MatchLabelKeys, key) {
		return
	}
	at := pointer("spec", "topologySpreadConstraints", i, "matchLabelKeys")
	op := Op{"add", at, []string{key}}
	if len(c.MatchLabelKeys) > 0 {
		op = Op{"add", at + "/-", key}
	}
	s.offerPod("topologySpread", costRevision, ChangePod, fmt.Sprintf("leave pods of other ReplicaSets out of the spread over %s (matchLabelKeys %s)", c.TopologyKey, key), op)
}

// without drops a field that is there.
func without(there bool, path string) []Op {
	if !there {
		return nil
	}
	return []Op{{Op: "remove", Path: path}}
}

func (s *searcher) prefers(key string) bool {
	for _, c := range s.q.Pod.Spec.TopologySpreadConstraints {
		if c.TopologyKey == key && c.WhenUnsatisfiable == corev1.ScheduleAnyway {
			return true
		}
	}
	return false
}

// moreSkew raises maxSkew to the least that helps, at most by the largest excess.
func (s *searcher) moreSkew(i int, c *corev1.TopologySpreadConstraint, over int64) {
	high := int64(c.MaxSkew) + over
	if over < 1 || high > math.MaxInt32 {
		return
	}
	fits := func(n int64) bool {
		_, ops := skewChange(i, c, n)
		return s.fits(s.q.State, s.patched(ops), probing) != nil
	}
	if !fits(high) {
		return
	}
	// The largest skew that is still too small; the pod's own is.
	low := int64(c.MaxSkew)
	for high-low > 1 {
		if mid := low + (high-low)/2; fits(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	change, ops := skewChange(i, c, high)
	s.offerPod("topologySpread", costSkew, ChangePod, change, ops...)
}

// skewChange raises maxSkew of one constraint.
func skewChange(i int, c *corev1.TopologySpreadConstraint, n int64) (change string, ops []Op) {
	return fmt.Sprintf("raise maxSkew over %s from %d to %d", c.TopologyKey, c.MaxSkew, n),
		[]Op{{"replace", pointer("spec", "topologySpreadConstraints", i, "maxSkew"), n}}
}
