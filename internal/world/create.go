package world

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	second := w.creates(p)
	if second <= w.Seconds() {
		return rec, w.admitted(p, rec)
	}
	rec.CreatedAfterSeconds = second
	w.At(second, n.String(), func() error {
		p.CreationTimestamp = metav1.NewTime(w.Instant().UTC().Truncate(time.Second))
		return w.admitted(p, rec)
	})
	return rec, nil
}

// admitted has the API server judge a pod that a controller creates.
func (w *World) admitted(p *corev1.Pod, rec *Replacement) error {
	why, err := w.quotas.refuses(p)
	switch {
	case err != nil:
		return err
	case why != "":
		w.quotas.hold(p, rec, why)
		return nil
	}
	w.enter(p, rec)
	return w.quotas.hears(p, 1)
}

// enter has a pod that was created come to the queue.
func (w *World) enter(p *corev1.Pod, rec *Replacement) {
	w.quotas.created(p)
	w.queue.add(w.queue.entry(Arrival{Pod: p}))
	w.tellPod(PodCreated, p, "")
	k := keyOf(p)
	if s := w.replicaSets[k]; s != nil {
		w.join(s, p)
	}
	if u := w.updateOf(k); u != nil {
		u.Created = append(u.Created, rec)
	}
}

// updateOf returns the update of the workload that a controller of pods is, or belongs to; nil
// where there is none.
func (w *World) updateOf(k ownerKey) *Update {
	if s := w.replicaSets[k]; s != nil && s.of != nil {
		return &s.of.Update
	}
	if s := w.sets.sets[k]; s != nil && s.update != nil {
		return &s.update.Update
	}
	for _, s := range w.daemons.all {
		if s.key == k {
			return s.update
		}
	}
	return nil
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
	if err := w.turns(old, rec); err != nil {
		return err
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
	if n := w.turned[NameOf(old)]; n > 0 {
		setIn(w.Fork, w.turned, NameOf(p), n)
	}
	rec.Replacement, err = w.Create(p, took)
	return err
}

// turns counts the pods that follow each other and are evicted for a taint before they have
// started. Where the rates of clients keep that from happening at one instant, it goes on for ever.
func (w *World) turns(old *corev1.Pod, rec *Left) error {
	if c := w.created[NameOf(old)]; w.clients.taints == nil || rec.Cause != CauseTaint || c == nil || c.rec.ReadyAfterSeconds != nil {
		return nil
	}
	n := w.turned[NameOf(old)] + 1
	if setIn(w.Fork, w.turned, NameOf(old), n); n > mostTurns {
		return &HotLoopError{w.Seconds(), fmt.Sprintf("%.100s", NameOf(old).String())}
	}
	return nil
}

// mostTurns is after how many of them a run ends.
const mostTurns = 100

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
