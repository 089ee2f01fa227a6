package world

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/podlife"
)

// evictByTaints schedules the deletions of the pods of a node that has taints which they do not
// tolerate, or not for ever (pkg/controller/tainteviction/taint_eviction.go handleNodeUpdate).
func (w *World) evictByTaints(name string) error {
	node, err := w.Node(name)
	if err != nil {
		return err
	}
	return w.EachOn(name, func(pod *corev1.Pod) error {
		w.evictByTaint(pod, node)
		return nil
	})
}

// evictByTaint schedules the deletion of one pod. When its time has come the taints count that the
// node has then.
func (w *World) evictByTaint(pod *corev1.Pod, node *corev1.Node) {
	if pod.DeletionTimestamp != nil {
		return
	}
	end := podlife.DeletionByNode(pod, node, nil, w.Instant())
	if end.At == nil {
		return
	}
	name, uid := NameOf(pod), pod.UID
	at := w.now + max(time.Duration(0), end.At.Sub(w.Instant()))
	w.due.schedule(at, writes, name.String(), func() error {
		pod, err := w.Pod(name.Namespace, name.Name)
		if err != nil || pod.UID != uid || pod.Spec.NodeName != node.Name || pod.DeletionTimestamp != nil {
			return nil // gone meanwhile
		}
		now, err := w.Node(node.Name)
		if err != nil {
			return nil // PodGC deletes the pod
		}
		by := podlife.DeletionByNode(pod, now, nil, w.Instant())
		if by.At == nil || by.At.After(w.Instant()) {
			return nil // the taint is gone, or tolerated longer by now
		}
		_, err = w.Evict(pod, &Left{Cause: CauseTaint, Rule: &by.Rule}, nil)
		return err
	})
}

// boundToTainted has a pod's count begin that was bound to a node with taints
// (taint_eviction.go handlePodUpdate).
func (w *World) boundToTainted(pod *corev1.Pod) error {
	row := w.State().Nodes().Row(pod.Spec.NodeName)
	if row < 0 {
		return nil
	}
	for _, t := range w.State().Nodes().Node(row).Taints {
		if t.Effect == corev1.TaintEffectNoExecute {
			node, err := w.Node(pod.Spec.NodeName)
			if err == nil {
				w.evictByTaint(pod, node)
			}
			return err
		}
	}
	return nil
}
