package engine

import (
	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine/state"
)

// Decider answers one question after the other as Decide does, to the byte, and
// remembers what it learned: where a pod like one before is asked about a state
// like the one before, only the rows that changed in between are judged again.
// What a decision then costs grows with what changed and with what rules look
// beyond a node, not with the size of the cluster.
//
// It pays where states follow one another by small edits, forwards or backwards,
// and pods come in kinds. Everything else is answered too, as slowly as by Decide.
//
// A Decider is for one goroutine, and its memory is bounded. A result is good
// until the next question, and is to be released before it. The last state is
// kept alive.
type Decider struct {
	trail   state.Trail
	classes map[classKey]*memo
	newest  *memo // of a ring in order of use
	bytes   int   // what all memos hold
	limit   int
	key     []byte
	count   Counters
}

// Counters say how a Decider came by its answers.
type Counters struct {
	// Kept counts decisions of a known kind of pod, Rows the rows that had to be
	// judged again for them.
	Kept, Rows int
	// Whole counts decisions that a memo was made or made again for.
	Whole int
	// Plain counts decisions that were left to Decide.
	Plain int
	// Dropped counts memos that made room for others.
	Dropped int
}

// DefaultDeciderBytes is what a Decider remembers at most unless told: some
// thousand kinds of pods on a thousand nodes.
const DefaultDeciderBytes = 32 << 20

// NewDecider makes a Decider that keeps about limit bytes; 0 stands for
// DefaultDeciderBytes.
func NewDecider(limit int) *Decider {
	if limit <= 0 {
		limit = DefaultDeciderBytes
	}
	return &Decider{classes: map[classKey]*memo{}, limit: limit}
}

// Counters gives the counts so far.
func (d *Decider) Counters() Counters { return d.count }

// Bytes is about what the Decider remembers now.
func (d *Decider) Bytes() int { return d.bytes }

// Decide is Decide. The result is good until the next call.
func (d *Decider) Decide(s *state.State, pod *corev1.Pod, p *Profile, o Options) (*Result, error) {
	if !plainOnly(s, pod, p, &o) {
		if r := d.recall(s, pod, p, o); r != nil {
			return r, nil
		}
	}
	d.count.Plain++
	return Decide(s, pod, p, o)
}

// plainOnly says that a question is not worth remembering, or needs what memos
// do not cover: some nodes only, a pod that is held back, has a nomination of
// its own or asks for devices.
func plainOnly(s *state.State, pod *corev1.Pod, p *Profile, o *Options) bool {
	return o.Candidates != nil || o.Victims != nil || s.Nodes().Count() == 0 || pod.Status.NominatedNodeName != "" || s.AsksForDevices(pod) || p.Gates && len(pod.Spec.SchedulingGates) > 0
}

// recall answers from a memo, which it makes where there is none. It gives nil
// where the question must be left to Decide, as all that fail are.
func (d *Decider) recall(s *state.State, pod *corev1.Pod, p *Profile, o Options) *Result {
	d.trail.Follow(s)
	m := d.memo(pod, p, &o)
	if m == nil {
		return nil
	}
	q, changed, ok := m.query(s, pod, o, &d.trail)
	if !ok {
		d.resize(m)
		return nil
	}
	r, err := m.decide(q, changed)
	d.resize(m)
	if err != nil || r == nil {
		m.around = state.Surroundings{} // whatever was half done is done again
		release(q)
		return nil
	}
	m.at = d.trail.End()
	if changed == nil {
		d.count.Whole++
	} else {
		d.count.Kept++
		d.count.Rows += changed.Count()
	}
	return r
}

func release(q *Query) {
	scratchPool.Put(q.scratch)
	q.scratch = nil
}

// classKey tells kinds of questions apart: pods that differ in nothing but
// name, UID and age, under one profile and the same options.
type classKey struct {
	profile                           *Profile
	scoreAlways, noScores, preferNone bool
	pod                               string
}

// memo finds the memo of a question and makes it the newest.
func (d *Decider) memo(pod *corev1.Pod, p *Profile, o *Options) *memo {
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
	// The one list of which empty is not the same as absent: NodeAffinity scores
	// with an empty one. Written out, both are nothing.
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

// resize notes what a memo holds now and drops the oldest ones that the limit has
// no room for; the newest stays.
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
