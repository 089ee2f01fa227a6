package scenario

import (
	"cmp"
	"math"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/steps"
)

// doomed returns which pods of a set its controller deletes first, of those that are active
// (pkg/controller/replicaset/replica_set.go getPodsToDelete).
func (r *rollout) doomed(s *replicaSet, n int) ([]*member, error) {
	list := s.active()
	if n <= 0 || n >= len(list) {
		return list[:max(0, min(n, len(list)))], nil
	}
	on := map[string]int{}
	for _, of := range r.sets() {
		for _, m := range of.active() {
			on[r.nodeOf(m)]++
		}
	}
	err := steps.Sort(r.steps, list, func(a, b *member) int { return r.firstToGo(a, b, on) })
	return list[:n], err
}

// firstToGo orders pods by who is deleted first (pkg/controller/controller_utils.go
// ActivePodsWithRanks.Less). on is how many pods of the Deployment are on each node.
func (r *rollout) firstToGo(a, b *member, on map[string]int) int {
	readyA, isReadyA := r.readyAt(a)
	readyB, isReadyB := r.readyAt(b)
	nodeA, nodeB := r.nodeOf(a), r.nodeOf(b)
	if c := cmp.Or(
		falseFirst(nodeA != "", nodeB != ""),
		cmp.Compare(r.phaseRank(a), r.phaseRank(b)),
		falseFirst(isReadyA, isReadyB),
		cmp.Compare(deletionCost(a.pod), deletionCost(b.pod)),
		cmp.Compare(on[nodeB], on[nodeA]),
	); c != 0 {
		return c
	}
	if isReadyA && isReadyB && readyA != readyB {
		return r.younger(a, b, readyA, readyB)
	}
	restartsA, sidecarsA := restarts(a.pod)
	restartsB, sidecarsB := restarts(b.pod)
	if c := cmp.Or(cmp.Compare(restartsB, restartsA), cmp.Compare(sidecarsB, sidecarsA)); c != 0 {
		return c
	}
	if madeA, madeB := r.createdAt(a), r.createdAt(b); madeA != madeB {
		return r.younger(a, b, madeA, madeB)
	}
	return 0
}

// younger puts the later one first, by powers of two of the age in nanoseconds, and the lower UID
// within one (controller_utils.go logarithmicRankDiff). A time that is not known is the latest.
func (r *rollout) younger(a, b *member, secondA, secondB int64) int {
	if secondA == longAgo || secondB == longAgo {
		return cmp.Compare(secondA, secondB)
	}
	rank := func(second int64) int64 {
		if age := time.Duration(r.d.Seconds()-second) * time.Second; age > 0 {
			return int64(math.Log2(float64(age)))
		}
		return -1
	}
	return cmp.Or(cmp.Compare(rank(secondA), rank(secondB)), cmp.Compare(a.pod.UID, b.pod.UID))
}

// createdAt returns when a pod was created.
func (r *rollout) createdAt(m *member) int64 {
	if m.pod.CreationTimestamp.IsZero() {
		return longAgo
	}
	return int64(m.pod.CreationTimestamp.Sub(r.d.Options().Now).Seconds())
}

// phaseRank orders Pending before Unknown before Running.
func (r *rollout) phaseRank(m *member) int {
	switch {
	case m.rec != nil && m.rec.ReadyAfterSeconds == nil, m.rec == nil && m.pod.Status.Phase == corev1.PodPending:
		return 0
	case m.rec == nil && m.pod.Status.Phase == corev1.PodUnknown:
		return 1
	}
	return 2
}

func falseFirst(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// deletionCost follows pkg/apis/core/helper/helpers.go GetDeletionCostFromPodAnnotations.
func deletionCost(pod *corev1.Pod) int32 {
	text := pod.Annotations[corev1.PodDeletionCost]
	if text == "" || text[0] == '+' || text[0] == '0' && text != "0" {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil {
		return 0
	}
	return int32(n)
}

// restarts returns the most restarts of a container, and of a sidecar.
func restarts(pod *corev1.Pod) (containers, sidecars int32) {
	for i := range pod.Status.ContainerStatuses {
		containers = max(containers, pod.Status.ContainerStatuses[i].RestartCount)
	}
	for i := range pod.Status.InitContainerStatuses {
		s := &pod.Status.InitContainerStatuses[i]
		for k := range pod.Spec.InitContainers {
			c := &pod.Spec.InitContainers[k]
			if c.Name == s.Name && c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways {
				sidecars = max(sidecars, s.RestartCount)
			}
		}
	}
	return containers, sidecars
}
