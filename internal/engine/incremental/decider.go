package incremental

import (
	"sync"

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
// A Decider is safe for concurrent use, and its memory is bounded. Until a result is released, its
// memo answers no other question. The last state is kept alive.
type Decider struct {
	mu      sync.Mutex
	trail   state.Trail // guarded by mu, as is all below
	classes map[classKey]*memo
	newest  *memo // of a ring in order of use
	bytes   int   // what all memos hold
	limit   int
	count   Counters
	met     map[uint64]struct{} // hashes of kinds of pods without a memo; nil: each gets one at once

	// Of the pod that is encoded.
	key        []byte
	volumes    []corev1.Volume
	conditions []corev1.PodCondition
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

// maxTwins is how many memos of one kind of pod there are at most, for questions about equal pods
// that come at the same time.
const maxTwins = 4

// fewCandidates is the part of the nodes below which candidates are left to engine.Decide: it
// judges these alone, where a memo judges all nodes.
const fewCandidates = 8

// NewDecider makes a Decider that keeps about limit bytes; 0 stands for
// DefaultDeciderBytes.
func NewDecider(limit int) *Decider {
	if limit <= 0 {
		limit = DefaultDeciderBytes
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
func (d *Decider) first(pod []byte) bool {
	if d.met == nil {
		return false
	}
	h := state.MixString(string(pod))
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
func (d *Decider) Counters() Counters {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.count
}

// Bytes is the approximate size of the Decider's memory now.
func (d *Decider) Bytes() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.bytes
}

// Drop forgets everything. Counters stay.
func (d *Decider) Drop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drop()
	d.trail = state.Trail{}
}

// Decide is engine.Decide. The result is to be released.
func (d *Decider) Decide(s *state.State, pod *corev1.Pod, p *engine.Profile, o engine.Options) (*engine.Result, error) {
	if !plainOnly(s, pod, p, &o) {
		if r := d.recall(s, pod, p, o); r != nil {
			return r, nil
		}
	}
	d.mu.Lock()
	d.count.Plain++
	d.mu.Unlock()
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
	m, at := d.take(s, pod, p, &o)
	if m == nil {
		return nil
	}
	q := m.begin(s, pod, o)
	if q == nil {
		d.note(m, nil)
		m.Done()
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
		d.note(m, nil)
		m.Done()
		return nil
	}
	m.at = at
	d.note(m, func() {
		switch {
		case !kept:
			d.count.Plain++
		case m.whole:
			d.count.Whole++
		default:
			d.count.Kept++
			d.count.Rows += m.changed.Count()
		}
	})
	return r
}

// take steps to a state and returns a memo that no other question uses, with the rows that changed
// since it was used last and the position of the state; nil where the question is left to
// engine.Decide.
func (d *Decider) take(s *state.State, pod *corev1.Pod, p *engine.Profile, o *engine.Options) (m *memo, at uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.trail.Follow(s) { // no memo of other nodes or tables is of use, and each would keep them alive
		d.drop()
	}
	if m = d.memo(pod, p, o); m == nil {
		return nil, 0
	}
	m.busy = true
	m.recent, m.reached = d.trail.Since(m.at, m.recent[:0])
	return m, d.trail.End()
}

// note records what a memo holds now, and drops the oldest ones beyond the limit. then, where not
// nil, is called under the lock.
func (d *Decider) note(m *memo, then func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if then != nil {
		then()
	}
	d.resize(m)
}

// drop forgets all memos.
func (d *Decider) drop() {
	for _, m := range d.classes {
		m.dropped = true
	}
	clear(d.classes)
	d.newest, d.bytes = nil, 0
}

// classKey distinguishes kinds of questions. Pods that differ in nothing but name, UID and age are
// of one kind, under one profile and the same options. Memos of one kind have a twin each.
type classKey struct {
	profile                           *engine.Profile
	scoreAlways, noScores, preferNone bool
	twin                              int
	pod                               string
}

// memo finds a memo for a question and makes it the newest.
func (d *Decider) memo(pod *corev1.Pod, p *engine.Profile, o *engine.Options) *memo {
	b, ok := d.encode(pod)
	if !ok {
		return nil
	}
	// The one list for which empty is not the same as absent: NodeAffinity scores with an empty
	// one. Encoded, both are nothing.
	a := pod.Spec.Affinity
	none := a != nil && a.NodeAffinity != nil && a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution != nil
	for twin := range maxTwins {
		m := d.classes[classKey{p, o.ScoreAlways, o.NoScores, none, twin, string(b)}]
		switch {
		case m == nil && twin == 0 && d.first(b):
			return nil
		case m == nil:
			m = &memo{d: d, key: classKey{p, o.ScoreAlways, o.NoScores, none, twin, string(b)}}
			d.classes[m.key] = m
		case m.busy:
			continue
		case m == d.newest:
			return m
		default:
			m.unlink()
		}
		d.link(m)
		return m
	}
	return nil
}

// encode returns what distinguishes a pod from those of another kind. No rule reads that it waited,
// or a volume that has a name and nothing else that is kept, such as the one with the token of the
// pod's service account, whose name is different in each pod.
func (d *Decider) encode(pod *corev1.Pod) (key []byte, ok bool) {
	kind := *pod
	meta := &kind.ObjectMeta
	meta.Name, meta.GenerateName, meta.UID, meta.ResourceVersion = "", "", "", ""
	meta.CreationTimestamp.Reset()
	meta.ManagedFields = nil
	d.conditions = d.conditions[:0]
	for i := range pod.Status.Conditions {
		if c := &pod.Status.Conditions[i]; c.Type != corev1.PodScheduled {
			d.conditions = append(d.conditions, *c)
		}
	}
	kind.Status.Conditions = d.conditions
	d.volumes = d.volumes[:0]
	for i := range pod.Spec.Volumes {
		v := &pod.Spec.Volumes[i]
		if v.VolumeSource != (corev1.VolumeSource{EmptyDir: v.EmptyDir, Projected: v.Projected}) {
			d.volumes = append(d.volumes, *v)
		}
	}
	kind.Spec.Volumes = d.volumes
	size := kind.Size()
	if cap(d.key) < size {
		d.key = make([]byte, 2*size)
	}
	n, err := kind.MarshalToSizedBuffer(d.key[:size])
	return d.key[size-n : size], err == nil
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
	if m.dropped {
		return
	}
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
		old.dropped = true
		d.count.Dropped++
	}
}
