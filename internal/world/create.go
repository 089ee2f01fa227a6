package world

import (
	"errors"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/store"
)

// Create has a controller create a pod, which takes some time from its bind until it is ready.
func (w *World) Create(p *corev1.Pod, took time.Duration) (*Replacement, error) {
	rec := &Replacement{Name: p.Name, CreatedAfterSeconds: w.Seconds()}
	n := NameOf(p)
	setIn(w.Fork, w.created, n, &created{rec: rec, took: took})
	if err := w.daemons.created(p); err != nil {
		return nil, err
	}
	why, err := w.quotas.refuses(p)
	switch {
	case err != nil:
		return nil, err
	case why != "":
		w.quotas.hold(p, rec, why)
	default:
		w.enter(p, rec)
		err = w.quotas.hears(p, 1)
	}
	return rec, err
}

// enter has a pod that was created come to the queue.
func (w *World) enter(p *corev1.Pod, rec *Replacement) {
	w.quotas.created(p)
	w.queue.add(w.queue.entry(Arrival{Pod: p}))
	w.tellPod(PodCreated, p, "")
	if s := w.replicaSets[keyOf(p)]; s != nil {
		w.join(s, p)
		if s.of != nil {
			s.of.Created = append(s.of.Created, rec)
		}
	}
}

// replace has a controller make the pod that takes another one's place.
func (w *World) replace(old *corev1.Pod, rec *Left) error {
	kept(w, rec)
	lineage := w.preempted[NameOf(old)]
	if rec.Cause == CausePreemption {
		lineage++
	}
	if lineage > maxPreempted {
		rec.NotReplaced = "it was preempted " + strconv.Itoa(maxPreempted) + " times, and is not followed any further"
		return nil
	}
	s, _ := successionOf(old)
	p := successor(old, s, func(name string) bool { return !w.taken(PodName{old.Namespace, name}) }, w.Instant())
	took, err := w.startOf(old)
	if err != nil {
		return err
	}
	if lineage > 0 {
		w.preempted[NameOf(p)] = lineage
		w.OnUndo(func() { delete(w.preempted, NameOf(p)) })
	}
	rec.Replacement, err = w.Create(p, took)
	return err
}

// taken reports whether a pod of this name is there, or was made.
func (w *World) taken(n PodName) bool {
	return w.State().Pod(n.Namespace, n.Name) != nil || w.created[n] != nil
}

// startOf returns how long the pod that takes another one's place needs until it is ready.
func (w *World) startOf(old *corev1.Pod) (time.Duration, error) {
	if c := w.created[NameOf(old)]; c != nil {
		return c.took, nil
	}
	before, err := w.base.Pod(old.Namespace, old.Name) // which was ready, unless its node died
	if errors.Is(err, store.ErrNotFound) {
		before, err = old, nil
	}
	if err != nil {
		return 0, err
	}
	if took, ok := StartSeconds(before); ok {
		return time.Duration(took) * time.Second, nil
	}
	w.assumed++
	return w.start, nil
}
