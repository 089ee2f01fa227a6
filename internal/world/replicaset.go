package world

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unique"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine/state"
	"berth/internal/steps"
)

// Scale has a workload of a kind want another number of pods: a ReplicaSet, a StatefulSet, or a
// Deployment of which one ReplicaSet has pods. It returns why that cannot be; empty where it can.
func (w *World) Scale(kind, namespace, name string, to int) (refused string, err error) {
	w.tell(Moment{What: Scaled, Owner: kind + "/" + name, Why: fmt.Sprintf("to %d replicas", to)})
	switch kind {
	case "StatefulSet":
		return w.sets.scale(ownerKey{namespace, state.Owner{Kind: kind, Name: name}}, to)
	case "Deployment":
		sets := map[string]bool{}
		w.eachControlled(namespace, func(p *state.Pod) {
			if top, _ := w.State().TopOwner(p); top == (state.Owner{Kind: kind, Name: name}) {
				sets[p.Owner.Value().Name] = true
			}
		})
		for _, e := range w.queue.waiting {
			hash, owner := e.Pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey], metav1.GetControllerOfNoCopy(e.Pod)
			if e.place == waits && owner != nil && e.Pod.Namespace == namespace && hash != "" && owner.Name == name+"-"+hash {
				sets[owner.Name] = true
			}
		}
		if len(sets) > 1 {
			return "pods of several ReplicaSets are there: a rollout is on its way", nil
		}
		for set := range sets {
			name = set
		}
	}
	return w.scaleSet(ownerKey{namespace, state.Owner{Kind: "ReplicaSet", Name: name}}, to)
}

// eachControlled visits the pods of a namespace that have a controller and neither ended nor are
// being deleted.
func (w *World) eachControlled(namespace string, visit func(*state.Pod)) {
	w.State().EachPod(func(p *state.Pod) {
		if p.Namespace == namespace && !p.Terminal && !p.Terminating && p.Owner != (unique.Handle[state.Owner]{}) {
			visit(p)
		}
	})
}

// members returns the pods that a controller counts, by name (controller_utils.go
// FilterActivePods).
func (w *World) members(k ownerKey) (list []*corev1.Pod, err error) {
	var names []PodName
	w.eachControlled(k.namespace, func(p *state.Pod) {
		if p.Owner.Value() == k.Owner {
			names = append(names, PodName{p.Namespace, p.Name})
		}
	})
	if err := w.steps.Take(w.State().PodCount()); err != nil {
		return nil, err
	}
	for _, n := range names {
		pod, err := w.Pod(n.Namespace, n.Name)
		if err != nil {
			return nil, err
		}
		list = append(list, pod)
	}
	for _, e := range w.queue.waiting { // those that a controller made are stored once they are bound
		if e.place == waits && keyOf(e.Pod) == k && w.State().Pod(e.Pod.Namespace, e.Pod.Name) == nil {
			list = append(list, e.Pod)
		}
	}
	slices.SortFunc(list, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// scaleSet creates or deletes pods of a ReplicaSet (pkg/controller/replicaset/replica_set.go
// manageReplicas, getPodsToDelete).
func (w *World) scaleSet(k ownerKey, to int) (refused string, err error) {
	list, err := w.members(k)
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "no pod of " + k.Kind + "/" + k.Name + " shows what its pods are like", nil
	}
	for like := list[0]; len(list) < to; to-- {
		st := w.State()
		p := successor(like, atDeletion, func(name string) bool {
			return st.Pod(k.namespace, name) == nil && w.created[PodName{k.namespace, name}] == nil
		}, w.Instant())
		took, err := w.startOf(like)
		if err != nil {
			return "", err
		}
		rec, err := w.Create(p, took)
		if err != nil {
			return "", err
		}
		w.further(k.namespace, rec)
	}
	if len(list) <= to {
		return "", nil
	}
	on, ranked := map[string]int{}, make([]*Member, 0, len(list))
	for _, p := range list {
		on[p.Spec.NodeName]++
		ranked = append(ranked, w.ranked(p))
	}
	if err := steps.Sort(w.steps, ranked, FirstToGo(w.Seconds(), on)); err != nil {
		return "", err
	}
	for _, m := range ranked[:len(list)-to] {
		if err := w.remove(m.Pod, &Left{Cause: CauseScaleDown}); err != nil {
			return "", err
		}
	}
	return "", nil
}

// ranked returns what a pod is ranked by.
func (w *World) ranked(p *corev1.Pod) *Member {
	m := &Member{Pod: p, Node: p.Spec.NodeName, Phase: p.Status.Phase, Ready: IsReady(p) || AssumedReady(p), Since: LongAgo, Made: LongAgo}
	if c := ReadyCondition(p); c != nil && !c.LastTransitionTime.IsZero() {
		m.Since = int64(c.LastTransitionTime.Sub(w.o.Now).Seconds())
	}
	if !p.CreationTimestamp.IsZero() {
		m.Made = int64(p.CreationTimestamp.Sub(w.o.Now).Seconds())
	}
	m.Phase = cmp.Or(m.Phase, corev1.PodPending)
	return m
}
