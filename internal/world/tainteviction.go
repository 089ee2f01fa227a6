package world

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth/internal/podlife"
)

// taintCount is a pod's deletion that is to come for its node's taints, and when its count began.
type taintCount struct {
	uid   types.UID
	since time.Duration
}

// evictByTaints judges the pods of a node whose taints with effect NoExecute have changed. A pod
// that does not tolerate one of them is deleted at once. Otherwise a count that runs is not moved
// by a later taint, nor by one that goes while others stay; it ends where the pod tolerates all
// that are there without a limit, or none is there (pkg/controller/tainteviction/taint_eviction.go
// handleNodeUpdate, processPodOnNode). With played the taints count from when they were added.
func (w *World) evictByTaints(name string, played bool) error {
	node, err := w.Node(name)
	if err != nil {
		return err
	}
	if len(w.counts) == 0 && !evicts(node.Spec.Taints) {
		return nil
	}
	return w.EachOn(name, func(pod *corev1.Pod) error {
		w.evictByTaint(pod, node, played)
		return nil
	})
}

// evicts reports whether there is a taint that may evict pods.
func evicts(taints []corev1.Taint) bool {
	for i := range taints {
		if taints[i].Effect == corev1.TaintEffectNoExecute {
			return true
		}
	}
	return false
}

func (w *World) evictByTaint(pod *corev1.Pod, node *corev1.Node, played bool) {
	if pod.DeletionTimestamp != nil {
		return
	}
	name, runs := NameOf(pod), w.counts[NameOf(pod)]
	end := podlife.DeletionByTaints(pod, node, played, w.Instant())
	switch {
	case end.At == nil:
		w.setCount(name, nil)
		return
	case runs != nil && runs.since < w.now && end.TolerationSeconds != nil:
		return
	}
	count := &taintCount{uid: pod.UID, since: w.now}
	if played {
		count.since = -1 // before the start
	}
	w.setCount(name, count)
	key := name.String() + "~taint" // behind what the pod's kubelet writes at the instant
	w.due.schedule(w.now+max(0, end.At.Sub(w.Instant())), writes, key, func() error {
		if w.counts[name] != count {
			return nil // it is over
		}
		w.setCount(name, nil)
		return w.called(w.clients.taints, evictionCalls, key, func() error {
			pod, err := w.Pod(name.Namespace, name.Name)
			if err != nil || pod.UID != count.uid || pod.DeletionTimestamp != nil {
				return nil // gone meanwhile
			}
			_, err = w.Evict(pod, &Left{Cause: CauseTaint, Rule: &end.Rule}, nil)
			return err
		})
	})
}

// evictionCalls is how many calls a taint eviction takes: it reads the pod, writes its condition
// and deletes it (taint_eviction.go addConditionAndDeletePod).
const evictionCalls = 3

// setCount has the count of a pod begin, or end where it is nil.
func (w *World) setCount(n PodName, c *taintCount) {
	if w.counts[n] != c {
		setIn(w.Fork, w.counts, n, c)
	}
}

// untaint takes a taint off a node.
func (w *World) untaint(name string, taint corev1.Taint) error {
	if err := w.Fork.untaint(name, taint); err != nil {
		return err
	}
	return w.evictByTaints(name, false)
}

// boundToTainted has a pod's count begin that was bound to a node with taints
// (taint_eviction.go handlePodUpdate).
func (w *World) boundToTainted(pod *corev1.Pod) error {
	row := w.State().Nodes().Row(pod.Spec.NodeName)
	if row < 0 || !evicts(w.State().Nodes().Node(row).Taints) {
		return nil
	}
	node, err := w.Node(pod.Spec.NodeName)
	if err == nil {
		w.evictByTaint(pod, node, false)
	}
	return err
}
