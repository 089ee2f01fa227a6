package incremental

import (
	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// Walk follows the revisions of a cluster, one edit after the other, and makes decisions as
// engine.Decide would on a state made for each revision. It changes one state of its own in place,
// so a step copies nothing, and caches as a Decider does. A Walk is for one goroutine. What was
// read of its state, and every result, is valid until the next change or question; results must be
// released before it.
type Walk struct {
	states *state.InPlace
	d      *Decider
}

// Walk starts a walk at a state, which stays as it is. It uses the Decider's memos, and adds to
// them.
func (d *Decider) Walk(from *state.State) *Walk {
	return &Walk{from.EditInPlace(), d}
}

// Changes returns the edit to put changes into. It is valid for the whole walk, and is not to be
// ended with Done.
func (w *Walk) Changes() *state.Edit { return w.states.Edit() }

// State returns the state as it is now, for reading.
func (w *Walk) State() *state.State {
	s, rows, changed := w.states.Next()
	if changed {
		w.d.trail.Walk(s, rows)
	}
	return s
}

// Decide is engine.Decide on the state as it is now.
func (w *Walk) Decide(pod *corev1.Pod, p *engine.Profile, o engine.Options) (*engine.Result, error) {
	return w.d.Decide(w.State(), pod, p, o)
}

// Counters returns the counts so far.
func (w *Walk) Counters() Counters { return w.d.Counters() }
