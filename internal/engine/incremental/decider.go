package incremental

import (
	"cmp"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

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
	count        counters
	limit, twins int
	uses         atomic.Int64 // of memos

	mu        sync.RWMutex
	trail     state.Trail // guarded by mu, as is all below
	classes   map[classKey]*memo
	bytes     int                 // what all memos hold
	keepers   []*memo             // memos with a result that they kept, and some that had one
	likes     map[like][]byte     // what encode returned for copies of a pod
	likeBytes int                 // of what is in likes
	met       map[uint64]struct{} // hashes of kinds of pods without a memo; nil: each gets one at once
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

type counters struct{ kept, again, rows, whole, plain, dropped atomic.Int64 }

// DefaultDeciderBytes is the default bound of a Decider's memory: some thousand kinds of pods on a
// thousand nodes.
const DefaultDeciderBytes = 32 << 20

// leastTwins is how many memos of one kind of pod there may be, for questions about equal pods that
// come at the same time. There may be one for each processor.
const leastTwins = 4

// fewCandidates is the part of the nodes below which candidates are left to engine.Decide: it
// judges these alone, where a memo judges all nodes.
const fewCandidates = 8

// NewDecider makes a Decider that keeps about limit bytes; 0 stands for
// DefaultDeciderBytes.
func NewDecider(limit int) *Decider {
	if limit <= 0 {
		limit = DefaultDeciderBytes
	}
	return &Decider{classes: map[classKey]*memo{}, likes: map[like][]byte{}, limit: limit, twins: max(leastTwins, runtime.GOMAXPROCS(0))}
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
	c := &d.count
	return Counters{
		Kept: int(c.kept.Load()), Again: int(c.again.Load()), Rows: int(c.rows.Load()), Whole: int(c.whole.Load()),
		Plain: int(c.plain.Load()), Dropped: int(c.dropped.Load()),
	}
}

// Bytes is the approximate size of the Decider's memory now.
func (d *Decider) Bytes() int {
	d.mu.RLock()
	defer d.mu.RUnlock()
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
	d.count.plain.Add(1)
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
	if r := m.again(s, pod, &o); r != nil {
		d.count.kept.Add(1)
		d.count.again.Add(1)
		return r
	}
	q := m.begin(s, pod, o)
	if q == nil {
		d.resize(m)
		m.idle()
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
		m.idle()
		return nil
	}
	m.at = at
	m.kept.still = kept && !m.whole && m.changed.Empty()
	m.hashes.Use(r)
	if kept && s.NominatedPods().Len() == 0 { // else a verdict may be of them
		m.verdicts.Use(r, m.live)
	}
	d.resize(m)
	switch {
	case !kept:
		d.count.plain.Add(1)
	case m.whole:
		d.count.whole.Add(1)
	default:
		d.count.kept.Add(1)
		d.count.rows.Add(int64(m.changed.Count()))
	}
	return r
}

// take steps to a state and returns a memo that no other question uses, with the rows that changed
// since it was used last and the position of the state; nil where the question is left to
// engine.Decide.
//
// Questions about the newest state only read what they share. With one lock for all of them, a
// question that has a memo would wait for others, which find all memos of the kind in use.
func (d *Decider) take(s *state.State, pod *corev1.Pod, p *engine.Profile, o *engine.Options) (m *memo, at uint64) {
	e := encoders.Get().(*encoder)
	defer encoders.Put(e)
	kind, ok := d.kind(e, pod, o.Like)
	if !ok {
		return nil, 0
	}
	key := keyOf(pod, p, o)
	d.mu.RLock()
	known := false
	if d.trail.At(s) {
		if m, known = d.idle(key, kind); m != nil {
			at = d.use(m)
		}
	}
	d.mu.RUnlock()
	if known {
		return m, at
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.trail.At(s) {
		d.freeKept()
	}
	if !d.trail.Follow(s) { // no memo of other nodes or tables is of use, and each would keep them alive
		d.drop()
	}
	if m = d.memo(key, kind); m == nil {
		return nil, 0
	}
	return m, d.use(m)
}

// use tells a memo which rows changed, and returns the position of the state.
func (d *Decider) use(m *memo) (at uint64) {
	m.used.Store(d.uses.Add(1))
	m.recent, m.reached = d.trail.Since(m.at, m.recent[:0])
	return d.trail.End()
}

// drop forgets all memos.
func (d *Decider) drop() {
	for _, m := range d.classes {
		m.dropped = true
	}
	clear(d.classes)
	clear(d.likes)
	d.keepers, d.bytes, d.likeBytes = nil, 0, 0
}

// classKey distinguishes kinds of questions. Pods that differ in nothing but name, UID and age are
// of one kind, under one profile and the same options. Memos of one kind have a twin each.
type classKey struct {
	profile                           *engine.Profile
	scoreAlways, noScores, preferNone bool
	twin                              int
	pod                               string
}

// keyOf returns the key of a question but for its pod.
func keyOf(pod *corev1.Pod, p *engine.Profile, o *engine.Options) classKey {
	// The one list for which empty is not the same as absent: NodeAffinity scores with an empty
	// one. Encoded, both are nothing.
	a := pod.Spec.Affinity
	none := a != nil && a.NodeAffinity != nil && a.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution != nil
	return classKey{profile: p, scoreAlways: o.ScoreAlways, noScores: o.NoScores, preferNone: none}
}

// idle finds a memo of a kind that is in no use, and takes it. known reports that there is nothing
// else to be had: it was found, or no further twin may be made.
func (d *Decider) idle(key classKey, kind []byte) (m *memo, known bool) {
	for key.twin = range d.twins {
		m := d.classes[classKey{key.profile, key.scoreAlways, key.noScores, key.preferNone, key.twin, string(kind)}]
		if m == nil {
			return nil, false
		}
		if m.busy.CompareAndSwap(false, true) {
			return m, true
		}
	}
	return nil, true
}

// memo takes a memo of a kind, which it makes where all are in use; nil where it may not.
func (d *Decider) memo(key classKey, kind []byte) *memo {
	m, known := d.idle(key, kind)
	if known {
		return m
	}
	key.pod = string(kind)
	for d.classes[key] != nil {
		key.twin++
	}
	if key.twin == 0 && d.first(kind) {
		return nil
	}
	m = &memo{d: d, key: key}
	m.busy.Store(true)
	d.classes[key] = m
	return m
}

// resize records what a memo in use holds now, and drops those beyond the limit, by their last use.
func (d *Decider) resize(m *memo) {
	size := m.size()
	if size == m.bytes {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if m.dropped {
		return
	}
	d.bytes += size - m.bytes
	m.bytes = size
	if d.bytes <= d.limit {
		return
	}
	byUse := func(a, b *memo) int { return cmp.Compare(a.used.Load(), b.used.Load()) }
	old := slices.SortedFunc(maps.Values(d.classes), byUse)
	for _, x := range old {
		if d.bytes <= d.limit/8*7 { // room for the next ones
			return
		}
		if x != m {
			delete(d.classes, x.key)
			d.bytes -= x.bytes
			x.dropped = true
			d.count.dropped.Add(1)
		}
	}
}
