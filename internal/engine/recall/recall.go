// Package recall decorates engine.Decide for those that put one question after the other to states
// that follow one another, such as replays and scenarios: a memo for each kind of pod keeps what
// rules found, and runs them on the rows that changed.
package recall

import (
	"cmp"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// Decider answers one question after the other as engine.Decide does, to the byte, and caches what
// it learns: where an equal pod comes with a similar state, only the rows that changed in between
// are judged again. The cost of a decision then grows with the changes and with what rules read
// beyond a node, not with the size of the cluster. It pays where states follow one another by small
// edits, forwards or backwards, and many pods are of one kind. Everything else is answered too, as
// slowly as by Decide.
//
// A Decider is for one goroutine, and its memory is bounded. A result must be released before the
// next question. The last state is kept alive.
type Decider struct {
	count   Counters
	limit   int
	uses    int64 // of memos
	trail   state.Trail
	classes map[classKey]*memo
	keepers []*memo             // memos with a result that they kept
	bytes   int                 // what all memos hold
	met     map[uint64]struct{} // hashes of kinds of pods without a memo; nil: each gets one at once
	enc     encoder

	// Of the question at hand: the rows that changed since its memo was used, some more than once,
	// and of these the ones whose nodes changed.
	recent, moved []int32
}

// Counters count the decisions by the way they were made.
type Counters struct {
	// Kept counts decisions of a known kind of pod, Again those of them that were made before, and
	// Rows the rows that had to be judged again for the others.
	Kept, Again, Rows int
	// Whole counts decisions for which a memo was made or made again.
	Whole int
	// Plain counts decisions that were left to engine.Decide.
	Plain int
	// Dropped counts memos that were dropped to make room.
	Dropped int
}

// DefaultBytes is the default bound of a Decider's memory: some thousand kinds of pods on a
// thousand nodes.
const DefaultBytes = 32 << 20

// fewCandidates is the part of the nodes below which candidates are left to engine.Decide: it
// judges these alone, where a memo judges all nodes.
const fewCandidates = 8

// NewDecider makes a Decider that keeps about limit bytes; 0 stands for DefaultBytes.
func NewDecider(limit int) *Decider {
	if limit <= 0 {
		limit = DefaultBytes
	}
	return &Decider{classes: map[classKey]*memo{}, limit: limit}
}

// maxMet bounds how many kinds of pods are known to have come once.
const maxMet = 1 << 14

// FromSecond leaves the first question about a kind of pod to engine.Decide: a memo takes longer to
// make than a decision, and pays where more of the kind follow.
func (d *Decider) FromSecond() *Decider {
	d.met = map[uint64]struct{}{}
	return d
}

// first reports whether FromSecond leaves a kind of pod to engine.Decide.
func (d *Decider) first(pod string) bool {
	if d.met == nil {
		return false
	}
	h := state.MixString(pod)
	if _, met := d.met[h]; met {
		return false
	}
	if len(d.met) >= maxMet {
		clear(d.met)
	}
	d.met[h] = struct{}{}
	return true
}

// Counters returns the counts so far.
func (d *Decider) Counters() Counters { return d.count }

// Bytes is the approximate size of the Decider's memory now.
func (d *Decider) Bytes() int { return d.bytes }

// Decide is engine.Decide. The result is to be released.
func (d *Decider) Decide(s *state.State, pod *corev1.Pod, p *engine.Profile, o engine.Options) (*engine.Result, error) {
	if !plainOnly(s, pod, p, &o) {
		if r := d.recall(s, pod, p, o); r != nil {
			return r, nil
		}
	}
	d.count.Plain++
	return engine.Decide(s, pod, p, o)
}

// plainOnly reports whether a question is not worth caching, or needs what memos do not cover: few
// nodes only, or a pod that is held back, has a nomination of its own or claims devices.
func plainOnly(s *state.State, pod *corev1.Pod, p *engine.Profile, o *engine.Options) bool {
	few := o.Candidates != nil && len(o.Candidates) < s.Nodes().Count()/fewCandidates
	return few || o.Victims != nil || s.Nodes().Count() == 0 || pod.Status.NominatedNodeName != "" || s.AsksForDevices(pod) || p.Gates && len(pod.Spec.SchedulingGates) > 0
}

// recall answers with a memo, which it makes where there is none. It returns nil where the question
// must be left to engine.Decide, as every one that fails must.
func (d *Decider) recall(s *state.State, pod *corev1.Pod, p *engine.Profile, o engine.Options) *engine.Result {
	m := d.take(s, pod, p, &o)
	if m == nil {
		return nil
	}
	if r := m.again(s, pod, &o); r != nil {
		d.count.Kept++
		d.count.Again++
		return r
	}
	q := m.begin(s, pod, o)
	if q == nil {
		d.resize(m)
		return nil
	}
	r, err := q.Decide(m)
	kept := err == nil && r.PreFilter == nil && !r.NoNodes && r.Outcome != engine.Gated && !m.hopeless
	if kept {
		err = m.finish(q)
	} else if !m.hopeless {
		m.forget()
	}
	if err != nil {
		m.forget()
		q.Release()
		d.resize(m)
		return nil
	}
	m.at = d.trail.End()
	m.kept.still = kept && !m.whole && m.changed.Empty()
	d.resize(m)
	switch {
	case !kept:
		d.count.Plain++
	case m.whole:
		d.count.Whole++
	default:
		d.count.Kept++
		d.count.Rows += m.changed.Count()
	}
	return r
}

// take steps to a state and returns the memo of a kind of pod, with the rows that changed since it
// was used last; nil where the question is left to engine.Decide.
func (d *Decider) take(s *state.State, pod *corev1.Pod, p *engine.Profile, o *engine.Options) *memo {
	kind, ok := d.enc.encode(pod)
	if !ok {
		return nil
	}
	if !d.trail.At(s) {
		d.freeKept()
	}
	if !d.trail.Follow(s) { // no memo of other nodes or tables is of use, and each would keep them alive
		clear(d.classes)
		d.bytes = 0
	}
	m := d.classes[classKey{p, o.ScoreAlways, o.NoScores, prefersNone(pod), string(kind)}]
	if m == nil {
		if d.first(string(kind)) {
			return nil
		}
		m = &memo{d: d, key: classKey{p, o.ScoreAlways, o.NoScores, prefersNone(pod), string(kind)}}
		d.classes[m.key] = m
	}
	d.uses++
	m.used = d.uses
	d.recent, m.reached = d.trail.Since(m.at, d.recent[:0])
	d.moved = d.trail.Moved(m.at, d.moved[:0])
	return m
}

// classKey distinguishes kinds of questions. Pods that differ in nothing but name, UID and age are
// of one kind, under one profile and the same options.
type classKey struct {
	profile                           *engine.Profile
	scoreAlways, noScores, preferNone bool
	pod                               string
}

// prefersNone reports whether a pod has the one list for which empty is not the same as absent:
// NodeAffinity scores with an empty one. Encoded, both are nothing.
func prefersNone(pod *corev1.Pod) bool {
	a := pod.Spec.Affinity
	return a != nil && a.NodeAffinity != nil && a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution != nil
}

// resize records what a memo holds now, and drops those beyond the limit, by their last use.
func (d *Decider) resize(m *memo) {
	if m.gone {
		return
	}
	d.bytes -= m.bytes
	m.bytes = m.size()
	if d.bytes += m.bytes; d.bytes <= d.limit {
		return
	}
	byUse := func(a, b *memo) int { return cmp.Compare(a.used, b.used) }
	for _, x := range slices.SortedFunc(maps.Values(d.classes), byUse) {
		if d.bytes <= d.limit/8*7 { // room for the next ones
			return
		}
		if x != m {
			delete(d.classes, x.key)
			d.bytes -= x.bytes
			x.gone = true
			d.count.Dropped++
		}
	}
}

// Walk follows the revisions of a cluster, one edit after the other, and makes decisions as
// engine.Decide would on a state made for each revision. It changes one state of its own in place,
// so a step copies nothing, and caches as a Decider does. What was read of its state is valid until
// the next change.
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
