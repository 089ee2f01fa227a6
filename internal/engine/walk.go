package engine

import corev1 "k8s.io/api/core/v1"

// Walk goes through the revisions of a cluster, one edit after the other, and
// decides on the way, as Decide would on a state made for each revision. It
// changes one state of its own in place, so a step copies nothing, and remembers
// as a Decider does.
//
// A Walk is for one goroutine. What was read of its state, and every result, is
// good until the next change or question; results are to be released before it.
type Walk struct {
	e *Edit
	d *Decider
}

// Walk starts a walk at a state, which stays as it is. It decides with what the
// Decider remembers, and adds to it.
func (d *Decider) Walk(from *State) *Walk {
	e := from.Edit()
	e.walking = true
	return &Walk{e, d}
}

// Edit takes changes. It is good for the whole walk, and is not to be ended with
// Done.
func (w *Walk) Edit() *Edit { return w.e }

// State gives the state as it is now, for looking things up.
func (w *Walk) State() *State {
	w.settle()
	return w.e.s
}

// Decide is Decide on the state as it is now.
func (w *Walk) Decide(pod *corev1.Pod, p *Profile, o Options) (*Result, error) {
	w.settle()
	return w.d.Decide(w.e.s, pod, p, o)
}

// Counters gives the counts so far.
func (w *Walk) Counters() Counters { return w.d.Counters() }

// settle makes the edit so far a state to decide on, and lets the edits to come
// clone whatever memos tell apart by its identity.
func (w *Walk) settle() {
	e := w.e
	e.applyLists()
	if !e.dirty() {
		return
	}
	if e.nodes {
		e.s.nodes.seal()
	}
	e.nodes, e.ns, e.cls, e.stor, e.devs = false, false, false, false, false
	clear(e.objs)
	e.s.step++
	w.d.trail.walk(e.s, e.rows)
	e.rows = e.rows[:0]
}

// dirty says that something of what memos depend on changed since settle.
func (e *Edit) dirty() bool {
	return len(e.rows) > 0 || e.nodes || e.ns || e.cls || e.stor || e.devs || len(e.objs) > 0
}
