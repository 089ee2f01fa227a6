package world

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// candidate is a pod of a ReplicaSet as its controller ranks it. Seconds count from the start.
type candidate struct {
	Pod   *corev1.Pod
	Node  string // empty: it waits
	Phase corev1.PodPhase
	Ready bool
	// Since is when it became ready, and Made when it was created; longAgo where that is not known.
	Since, Made int64
	// UID is the pod's. Random reports that it was made up here: in a cluster it is another one.
	UID    string
	random bool
}

// longAgo is a time before all others.
const longAgo = -1 << 40

// firstToGo returns the order in which a ReplicaSet's controller deletes pods
// (pkg/controller/controller_utils.go ActivePodsWithRanks.Less). now is in seconds, and on how many
// pods of the ReplicaSet, or of its Deployment, are on each node.
func firstToGo(now int64, on map[string]int) func(a, b *candidate) int {
	return func(a, b *candidate) int {
		if c := cmp.Or(
			falseFirst(a.Node != "", b.Node != ""),
			cmp.Compare(phaseRank(a.Phase), phaseRank(b.Phase)),
			falseFirst(a.Ready, b.Ready),
			cmp.Compare(deletionCost(a.Pod), deletionCost(b.Pod)),
			cmp.Compare(on[b.Node], on[a.Node]),
		); c != 0 {
			return c
		}
		if a.Ready && b.Ready && a.Since != b.Since {
			return younger(a, b, a.Since, b.Since, now)
		}
		restartsA, sidecarsA := restarts(a.Pod)
		restartsB, sidecarsB := restarts(b.Pod)
		if c := cmp.Or(cmp.Compare(restartsB, restartsA), cmp.Compare(sidecarsB, sidecarsA)); c != 0 {
			return c
		}
		if a.Made != b.Made {
			return younger(a, b, a.Made, b.Made, now)
		}
		return 0
	}
}

// younger puts the later one first, by powers of two of the age in nanoseconds, and the lower UID
// within one (controller_utils.go logarithmicRankDiff). A time that is not known is the latest.
func younger(a, b *candidate, secondA, secondB, now int64) int {
	if secondA == longAgo || secondB == longAgo {
		return cmp.Compare(secondA, secondB)
	}
	rank := func(second int64) int64 {
		if age := time.Duration(now-second) * time.Second; age > 0 {
			return int64(math.Log2(float64(age)))
		}
		return -1
	}
	return cmp.Or(cmp.Compare(rank(secondA), rank(secondB)), cmp.Compare(a.UID, b.UID))
}

// sameRank reports whether chance decides which of two pods goes first: nothing does, or UIDs of
// which one is random.
func sameRank(first func(a, b *candidate) int, a, b *candidate) bool {
	if a == b || first(a, b) == 0 {
		return true
	}
	x, y := *a, *b
	x.UID, y.UID = b.UID, a.UID
	return (a.random || b.random) && first(&x, &y) != first(a, b)
}

// cut counts the choice of the first n of a sorted list, where the last one of them is equal to
// those behind it.
func (w *World) cut(of string, all, n int, equal func(i, k int) bool) {
	if n <= 0 || n >= all {
		return
	}
	from, to := n-1, n
	for from > 0 && equal(from-1, n-1) {
		from--
	}
	for to < all && equal(n-1, to) {
		to++
	}
	w.Choice(ChosenScaleDown, of, "pods", n-from, to-from)
}

// phaseRank orders Pending before Unknown before Running.
func phaseRank(p corev1.PodPhase) int {
	switch p {
	case corev1.PodPending:
		return 0
	case corev1.PodUnknown:
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

// reduce deletes the first n of a Job's pods in the order of ActivePods, which do not count as
// failed (activePodsForRemoval, deleteJobPods).
func (c *jobs) reduce(j *job, active []PodName, n int) error {
	var list []*candidate
	for _, name := range active {
		p, err := c.w.waitingOrStored(name)
		if err != nil {
			return err
		}
		if p != nil {
			list = append(list, c.w.ranked(p))
		}
	}
	Shuffle(c.w.o.Chance, list, func(m *candidate) string { return m.Pod.Name })
	slices.SortStableFunc(list, firstOfJob)
	c.w.cut("Job "+j.key.namespace+"/"+j.key.Name, len(list), n, func(i, k int) bool { return firstOfJob(list[i], list[k]) == 0 })
	j.busy = true
	defer func() { j.busy = false }()
	for _, m := range list[:min(n, len(list))] {
		if name := NameOf(m.Pod); j.whenEnd {
			j.ending[name] = true
		} else {
			delete(j.live, name)
			j.ending[name] = true
		}
		if err := c.w.remove(m.Pod, &Left{Cause: CauseScaleDown}); err != nil {
			return err
		}
	}
	return nil
}

// firstOfJob follows pkg/controller/controller_utils.go ActivePods.Less.
func firstOfJob(a, b *candidate) int {
	if c := cmp.Or(
		falseFirst(a.Node != "", b.Node != ""), cmp.Compare(phaseRank(a.Phase), phaseRank(b.Phase)), falseFirst(a.Ready, b.Ready),
	); c != 0 {
		return c
	}
	if a.Ready && b.Ready && a.Since != b.Since {
		return cmp.Compare(b.Since, a.Since)
	}
	restartsA, sidecarsA := restarts(a.Pod)
	restartsB, sidecarsB := restarts(b.Pod)
	return cmp.Or(cmp.Compare(restartsB, restartsA), cmp.Compare(sidecarsB, sidecarsA), cmp.Compare(b.Made, a.Made))
}
