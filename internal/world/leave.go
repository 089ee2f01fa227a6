package world

import (
	"errors"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine/state"
	"berth/internal/podlife"
	"berth/internal/store"
)

// Leave begins the end of a pod, of which rec has the cause. It is gone after grace seconds; below
// 0 it stays Terminating.
func (w *World) Leave(pod *corev1.Pod, rec *Left, grace int64) error {
	if err := w.steps.Take(leaveSteps); err != nil {
		return err
	}
	name := NameOf(pod)
	w.record(pod, rec)
	delete(w.led, name)
	delete(w.toCome, name)
	why := rec.Cause
	if rec.By != "" {
		why += " by " + rec.By
	}
	w.tellPod(PodLeaves, pod, why)
	if err := w.quotas.hears(pod, 2); err != nil {
		return err
	}
	if IsReady(pod) && pod.DeletionTimestamp == nil {
		if err := w.budgets.changed(w.Fork, pod, -1); err != nil {
			return err
		}
	}
	if c := w.created[name]; c != nil {
		w.move(c, nil)
	}
	w.setCount(name, nil)
	if pod.Spec.NodeName == "" {
		w.queue.remove(name)
	}
	succeeds, why := successionOf(pod)
	if rec.Cause == CauseScaleDown {
		succeeds, why = noSuccessor, "its controller wants fewer pods"
	}
	rec.NotReplaced = why
	if grace < 0 && succeeds == onceGone {
		rec.held, rec.NotReplaced = !IsDaemon(pod), rec.Owner+" waits until the pod is gone, and its node ends no pod any more"
	}
	if grace > 0 {
		after := w.endsAfter(pod, grace)
		ends := w.Seconds() + after
		rec.GoneAfterSeconds = &ends
		w.due.schedule(w.now+time.Duration(after)*time.Second, writes, name.String(), func() error {
			switch {
			case w.leaving[name] != rec, rec.GoneAfterSeconds == nil || *rec.GoneAfterSeconds != ends:
				return nil // it went before, with its node, or ends later, as its kubelet began anew
			case w.Dead(rec.Node):
				kept(w, rec).GoneAfterSeconds = nil // its kubelet died meanwhile
				return nil
			}
			return w.Gone(pod, rec)
		})
	}
	if grace != 0 {
		if err := w.terminate(pod, rec, grace); err != nil {
			return err
		}
	}
	var err error
	switch succeeds {
	case atDeletion:
		err = w.replace(pod, rec)
	case afterBackoff:
		err = w.jobs.lost(pod, rec, false)
	case onceGone:
		err = w.daemons.leaves(pod, rec)
	}
	if err != nil {
		return err
	}
	if grace == 0 {
		return w.Gone(pod, rec)
	}
	return nil
}

// record writes down that a pod leaves its node.
func (w *World) record(pod *corev1.Pod, rec *Left) {
	rec.Namespace, rec.Name, rec.Node, rec.Owner, rec.LeavesAfterSeconds = pod.Namespace, pod.Name, pod.Spec.NodeName, OwnerOf(pod), w.Seconds()
	for _, b := range w.budgets.of(pod) {
		rec.Budgets = append(rec.Budgets, b.pdb.Name)
	}
	w.log = append(w.log, rec)
}

// Endings has the pods go that are being deleted already, each when its grace period ends. One
// whose end is overdue is held by something that is not known, and stays.
func (w *World) Endings() error {
	type ending struct {
		name PodName
		uid  string
		in   time.Duration
	}
	var list []ending
	pods := 0
	w.State().EachTerminating(func(p *state.Pod) {
		pods++
		if in := time.Unix(p.Ends, 0).Sub(w.o.Now); in > 0 {
			list = append(list, ending{PodName{p.Namespace, p.Name}, p.UID, in})
		}
	})
	for _, e := range list {
		w.due.schedule(e.in, writes, e.name.String(), func() error {
			pod, err := w.Pod(e.name.Namespace, e.name.Name)
			if err != nil || string(pod.UID) != e.uid || w.leaving[e.name] != nil {
				return nil // gone meanwhile, or ended by what happens here
			}
			if grace, err := w.GraceOn(pod.Spec.NodeName, 0); err != nil || grace < 0 {
				return err
			}
			return w.Gone(pod, &Left{})
		})
	}
	return w.steps.Take(pods)
}

// PodsOn returns the pods of a node, by namespace and name; none where it is not there.
func (w *World) PodsOn(node string) ([]PodName, error) {
	st := w.State()
	row := st.Nodes().Row(node)
	if row < 0 {
		return nil, nil
	}
	on := st.PodsOn(row)
	list := make([]PodName, 0, on.Len())
	for p := range on.All() { // in this order already
		if err := w.steps.Take(1); err != nil {
			return nil, err
		}
		list = append(list, PodName{p.Namespace, p.Name})
	}
	return list, nil
}

// EachOn visits the pods of a node, by namespace and name, as they were when the visit began.
func (w *World) EachOn(node string, visit func(*corev1.Pod) error) error {
	names, err := w.PodsOn(node)
	if err != nil {
		return err
	}
	seen := make(map[PodName]*corev1.Pod, len(names))
	w.visited = seen
	for _, n := range names {
		if err := w.steps.Take(readSteps); err != nil {
			return err
		}
		pod, err := w.Pod(n.Namespace, n.Name)
		if err != nil {
			return err
		}
		if _, changed := w.put[n]; !changed {
			seen[n] = pod
		}
		if err := visit(pod); err != nil {
			return err
		}
	}
	return nil
}

// Leaving returns what is written down of a pod that is stored as being deleted since the start;
// nil for any other.
func (w *World) Leaving(n PodName) *Left { return w.leaving[n] }

// terminate stores a pod as one that is being deleted: it keeps its room, and spreads count it no
// more.
func (w *World) terminate(pod *corev1.Pod, rec *Left, grace int64) error {
	setIn(w.Fork, w.leaving, NameOf(pod), rec)
	if grace < 0 {
		grace = podlife.GracePeriod(pod)
	}
	p := podlife.BeginDelete(pod, max(1, grace), w.Instant())
	if p == nil {
		return nil
	}
	if pod.DeletionTimestamp == nil {
		w.hearEnds(pod)
	}
	return w.putQuietly(w.ctx, p)
}

// Gone ends a pod that left.
func (w *World) Gone(pod *corev1.Pod, rec *Left) error {
	if err := w.steps.Take(leaveSteps); err != nil {
		return err
	}
	if err := w.quotas.hears(pod, 1); err != nil { // before its quota counts it no more
		return err
	}
	at := w.Seconds()
	kept(w, rec).GoneAfterSeconds = &at
	w.tellPod(PodGone, pod, "")
	if err := w.Delete(pod.Namespace, pod.Name); err != nil {
		return err
	}
	setIn(w.Fork, w.leaving, NameOf(pod), nil)
	if err := w.releaseClaims(pod); err != nil {
		return err
	}
	if err := w.volumes.released(pod); err != nil {
		return err
	}
	succeeds, why := successionOf(pod)
	switch {
	case ControlledBy(pod, "Job") && !hasEnded(pod):
		return w.jobs.lost(pod, rec, true)
	case succeeds != onceGone:
		return nil
	case isSetPod(pod):
		rec.held, rec.NotReplaced = false, ""
		return w.sets.lost(pod, rec)
	}
	rec.NotReplaced = why
	if known, err := w.daemons.lost(pod, rec); err != nil || known {
		return err
	}
	if IsDaemon(pod) && w.State().Nodes().Row(pod.Spec.NodeName) < 0 {
		rec.NotReplaced = "its node is gone"
		return nil
	}
	return w.replace(pod, rec)
}

// orphanSeconds is from the deletion of a Node object until PodGC has deleted the pods of the node,
// at the latest (pkg/controller/podgc/gc_controller.go quarantineTime, gcCheckPeriod).
const orphanSeconds = 60

// orphaned has PodGC delete the pods of a node that is gone, without a grace period
// (gc_controller.go gcOrphaned).
func (w *World) orphaned(node string, pods []PodName) error {
	for _, name := range pods {
		pod, err := w.Pod(name.Namespace, name.Name)
		if err != nil || pod.Spec.NodeName != node {
			continue // gone meanwhile
		}
		if rec := w.leaving[name]; rec != nil {
			err = w.Gone(pod, rec)
		} else {
			err = w.Leave(pod, &Left{Cause: CauseOrphaned}, 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// passSeconds is between two passes of PodGC (gc_controller.go gcCheckPeriod).
const passSeconds = 20

// collect has PodGC delete the pods of a node that are being deleted, by its next pass, if the node
// is not ready and out of service then (gc_controller.go gcTerminating).
func (w *World) collect(name string) {
	w.At(w.Seconds()+passSeconds, "Node/"+name, func() error {
		node, err := w.Node(name)
		if err != nil || !podlife.OutOfService(node) {
			return nil // removed, back, or in service again
		}
		return w.EachOn(name, func(pod *corev1.Pod) error {
			rec := w.leaving[NameOf(pod)]
			switch {
			case pod.DeletionTimestamp == nil:
				return nil
			case rec == nil:
				rec = &Left{} // it was being deleted before the start
			}
			return w.Gone(pod, rec)
		})
	})
}

// Evict evicts a pod, or deletes it, and returns when it is gone; below 0: never. given is a grace
// period instead of the pod's own.
func (w *World) Evict(pod *corev1.Pod, rec *Left, given *int64) (gone int64, err error) {
	now, ends, grace := w.Instant(), pod, int64(0)
	switch {
	case given != nil:
		ends = podlife.BeginDelete(pod, *given, now)
	case pod.DeletionTimestamp == nil: // a second deletion without a period changes nothing
		ends = podlife.BeginDelete(pod, podlife.GracePeriod(pod), now)
	}
	switch {
	case ends == nil:
	case pod.DeletionTimestamp == nil:
		grace = *ends.DeletionGracePeriodSeconds
	default:
		grace = max(0, int64(ends.DeletionTimestamp.Sub(now).Seconds()))
	}
	if ends != nil {
		if grace, err = w.GraceOn(pod.Spec.NodeName, grace); err != nil {
			return 0, err
		}
	}
	err = w.Leave(pod, rec, grace)
	if rec.GoneAfterSeconds == nil {
		return -1, err
	}
	return *rec.GoneAfterSeconds, err
}

// endsAfter returns how long a kubelet takes to end a pod that is deleted with a grace period.
func (w *World) endsAfter(pod *corev1.Pod, grace int64) int64 {
	after := podlife.EndsAfter(pod, grace)
	if d, is := w.takesOf(pod, true); is {
		after = min(after, max(1, seconds(d)))
	}
	return after
}

// GraceOn is a grace period as leave takes it, for a pod of a node: on a node whose kubelet has
// died it never ends.
func (w *World) GraceOn(node string, grace int64) (int64, error) {
	n, err := w.Node(node)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return grace, nil
	case err == nil && !w.endsPods(n):
		return -1, nil
	}
	return grace, err
}

// endsPods reports whether pods of a node that are deleted go. A kubelet that has stopped ends
// none, also before the control plane notices.
func (w *World) endsPods(n *corev1.Node) bool {
	return podlife.EndsPods(n) && (!w.Dead(n.Name) || slices.ContainsFunc(n.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionUnknown // out of service, then
	}))
}
