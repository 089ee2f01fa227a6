package revision

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/recall"
	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/memory"
)

// Trial is a fork of a view that is changed in place, for decisions each of which sees what those
// before did. Nothing of it is written. It is for one goroutine.
type Trial struct {
	w *Walk
	// Puts are the objects that were put, in order.
	Puts []object.Object
}

// Trial starts a trial at the view, which stays as it is.
func (v *View) Trial() *Trial {
	t := &Trial{w: &Walk{cluster: v.Cluster, decider: recall.NewDecider(0).FromSecond()}}
	t.w.stand(v)
	t.w.at.CreatedAt, t.w.at.name = v.CreatedAt, v.name
	return t
}

// View returns the fork as it is now: it keeps the number and the digest of the view that it began
// as. What is read of it is good until the next change.
func (t *Trial) View() *View { return t.w.at }

// Decide is engine.Decide for the state of the trial, or for one that was made from it. A result is
// good until the next question or change, and is to be released before it.
func (t *Trial) Decide(s *state.State, pod *corev1.Pod, p *engine.Profile, o engine.Options) (*engine.Result, error) {
	return t.w.Decide(s, pod, p, o)
}

// trialFactor is what an object takes in a trial, in bytes a byte of JSON.
const trialFactor = 4

// Put puts objects. Where it fails the trial is of no use any more.
func (t *Trial) Put(ctx context.Context, list ...object.Object) error {
	for _, o := range list {
		if err := memory.Take(ctx, objectBytes+trialFactor*int64(len(o.JSON))); err != nil {
			return fmt.Errorf("%s: %w", nameOf(o.Key), err)
		}
		t.w.d.put(newEntry(o.Key, o.JSON))
		if err := t.w.state.Changes().Put(o.Value); err != nil {
			return &InvalidError{Field: "pod", Detail: err.Error()}
		}
	}
	t.Puts = append(t.Puts, list...)
	t.changed()
	return nil
}

// Delete takes an object out. It reports whether it was there.
func (t *Trial) Delete(k object.Key) bool {
	if t.w.d.remove(k) == nil {
		return false
	}
	t.w.state.Changes().Delete(k.Kind, k.Namespace, k.Name)
	t.changed()
	return true
}

func (t *Trial) changed() {
	at := t.w.at
	at.State, at.byKind, at.memo = t.w.state.State(), nil, nil
}

// Bind puts a pod on a node, as a bind of that time leaves it.
func (t *Trial) Bind(ctx context.Context, b *Bind, now time.Time) error {
	o, err := object.Of(boundPod(b, t.w.at.nodeLabels(b.Node), now))
	if err != nil {
		return fmt.Errorf("bind Pod %s/%s: %w", b.Pod.Namespace, b.Pod.Name, err)
	}
	return t.Put(ctx, o)
}

// Applied returns the objects that a stored change applies, in order, each decoded for the caller
// alone.
func Applied(payload []byte) ([]object.Object, error) {
	c, err := decodeChange(payload)
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", err, ErrCorrupt)
	}
	list := make([]object.Object, len(c.Apply))
	for i, js := range c.Apply {
		k, err := keyOf(js)
		if err == nil {
			list[i], err = object.FromCanonical(k.Kind, js)
		}
		if err != nil {
			return nil, fmt.Errorf("apply[%d]: %w (%w)", i, err, ErrCorrupt)
		}
	}
	return list, nil
}

// AppliedChange returns the change that applies objects, as it is stored.
func AppliedChange(list []object.Object) ([]byte, error) {
	var c change
	for _, o := range list {
		c.Apply = append(c.Apply, o.JSON)
	}
	return encodeChange(&c)
}
