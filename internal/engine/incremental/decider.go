package incremental

import (
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
// A Decider is for one goroutine, and its memory is bounded. A result is valid until the next
// question, and must be released before it. The last state is kept alive.
type Decider struct {
	trail   state.Trail
	classes map[classKey]*memo
	newest  *memo // of a ring in order of use
	bytes   int   // what all memos hold
	limit   int
	key     []byte
	count   Counters
}

// Counters count the decisions by the way they were made.
type Counters struct {
	// Kept counts decisions of a known kind of pod, Rows the rows that had to be
	// judged again for them.
	Kept, Rows int
	// Whole counts decisions for which a memo was made or made again.
	Whole int
	// Plain counts decisions that were left to engine.Decide.
	Plain int
	// Dropped counts memos that were dropped to make room.
	Dropped int
}

// DefaultDeciderBytes is the default bound of a Decider's memory: some thousand kinds of pods on a
// thousand nodes.
const DefaultDeciderBytes = 32 << 20

// NewDecider makes a Decider that keeps about limit bytes; 0 stands for
// DefaultDeciderBytes.
func NewDecider(limit int) *Decider {
	if limit <= 0 {
		limit = DefaultDeciderBytes
	}
	return &Decider{classes: map[classKey]*memo{}, limit: limit}
}

// Counters returns the counts so far.
func (d *Decider) Counters() Counters { return d.count }

// Bytes is the approximate size of the Decider's memory now.
func (d *Decider) Bytes() int { return d.bytes }

// Decide is engine.Decide. The result is valid until the next call.
func (d *Decider) Decide(s *state.State, pod *corev1.Pod, p *engine.Profile, o engine.Options) (*engine.Result, error) {
	if !plainOnly(s, pod, p, &o) {
		if r := d.recall(s, pod, p, o); r != nil {
			return r, nil
		}
	}
	d.count.Plain++
	return engine.Decide(s, pod, p, o)
}

// plainOnly reports whether a question is not worth caching, or needs what memos do not cover: some
// nodes only, or a pod that is held back, has a nomination of its own or claims devices.
func plainOnly(s *state.State, pod *corev1.Pod, p *engine.Profile, o *engine.Options) bool {
	return o.Candidates != nil || o.Victims != nil || s.Nodes().Count() == 0 || pod.Status.NominatedNodeName != "" || s.AsksForDevices(pod) || p.Gates && len(pod.Spec.SchedulingGates) > 0
}

// recall answers with a memo, which it makes where there is none. It returns nil where the question
// must be left to engine.Decide, as every one that fails must.
func (d *Decider) recall(s *state.State, pod *corev1.Pod, p *engine.Profile, o engine.Options) *engine.Result {
	d.trail.Follow(s)
	m := d.memo(pod, p, &o)
	if m == nil {
		return nil
	}
	q := m.begin(s, pod, o, &d.trail)
	if q == nil {
		d.resize(m)
		return nil
	}
	r, err := q.Decide(m)
	kept := err == nil && r.PreFilter == nil && r.Outcome != engine.Gated && !m.hopeless
	if kept {
		err = m.finish(q)
	} else if !m.hopeless {
		m.forget()
	}
	d.resize(m)
	switch {
	case err != nil:
		m.forget()
		q.Release()
		return nil
	case !kept:
		d.count.Plain++
	case m.whole:
		d.count.Whole++
	default:
		d.count.Kept++
		d.count.Rows += m.changed.Count()
	}
	m.at = d.trail.End()
	return r
}

// classKey distinguishes kinds of questions. Pods that differ in nothing but name, UID and age are
// of one kind, under one profile and the same options.
type classKey struct {
	profile                           *engine.Profile
	scoreAlways, noScores, preferNone bool
	pod                               string
}

// memo finds the memo of a question and makes it the newest.
func (d *Decider) memo(pod *corev1.Pod, p *engine.Profile, o *engine.Options) *memo {
	kind := *pod
	meta := &kind.ObjectMeta
	meta.Name, meta.GenerateName, meta.UID, meta.ResourceVersion = "", "", "", ""
	meta.CreationTimestamp.Reset()
	meta.ManagedFields = nil
	size := kind.Size()
	if cap(d.key) < size {
		d.key = make([]byte, 2*size)
	}
	n, err := kind.MarshalToSizedBuffer(d.key[:size])
	if err != nil {
		return nil
	}
	b := d.key[size-n : size]
	// The one list for which empty is not the same as absent: NodeAffinity scores with an empty
	// one. Encoded, both are nothing.
	a := pod.Spec.Affinity
	none := a != nil && a.NodeAffinity != nil && a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution != nil
	if m := d.classes[classKey{p, o.ScoreAlways, o.NoScores, none, string(b)}]; m != nil {
		if m != d.newest {
			m.unlink()
			d.link(m)
		}
		return m
	}
	m := &memo{key: classKey{p, o.ScoreAlways, o.NoScores, none, string(b)}}
	d.classes[m.key] = m
	d.link(m)
	return m
}

// link makes a memo the newest of the ring.
func (d *Decider) link(m *memo) {
	if d.newest == nil {
		m.older, m.newer = m, m
	} else {
		m.older, m.newer = d.newest, d.newest.newer
		m.older.newer, m.newer.older = m, m
	}
	d.newest = m
}

// unlink takes a memo that is not the only one out of the ring.
func (m *memo) unlink() { m.older.newer, m.newer.older = m.newer, m.older }

// resize records what a memo holds now and drops the oldest ones beyond the limit; the newest
// stays.
func (d *Decider) resize(m *memo) {
	size := m.size()
	d.bytes += size - m.bytes
	m.bytes = size
	for d.bytes > d.limit {
		old := d.newest.newer
		if old == d.newest {
			return
		}
		old.unlink()
		delete(d.classes, old.key)
		d.bytes -= old.bytes
		d.count.Dropped++
	}
}
