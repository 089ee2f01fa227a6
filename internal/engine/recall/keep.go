package recall

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// keptBytes bounds what a result that is given again holds beside its Bytes, such as its digest.
const keptBytes = 16 << 10

// maxPieces bounds the scratch memory that explanations of a kept result take, one after the other.
const maxPieces = 256

// maxKeptItems bounds the volumes and conditions of a pod whose result is kept. The key of its kind
// leaves most of them out, so that they count nowhere else, and decoded they take 300 bytes each.
const maxKeptItems = 256

// keeper has the result of a question after which the next one may come before anything changes.
type keeper struct {
	result *engine.Result // nil: none
	still  bool           // at the question at hand nothing had changed since the one before
	listed bool           // among the Decider's keepers
}

// Done implements engine.Runner. The second result without a change between them is kept, since a
// third may follow. Where each question comes with a new state, none is.
func (m *memo) Done(r *engine.Result) {
	switch q := r.Query; {
	case m.kept.still && !q.State.InPlace() && r.PostFilter == nil && q.Options.Candidates == nil && r.Pieces() <= maxPieces &&
		len(q.Pod.Spec.Volumes)+len(q.Pod.Status.Conditions) <= maxKeptItems:
		q.Options.Context = nil // it may hold a request
		m.keep(r)
	default:
		m.kept.result = nil
		r.Free()
	}
}

// keep keeps a result.
func (m *memo) keep(r *engine.Result) {
	if m.kept.result == r {
		m.d.resize(m) // it may share more
		return
	}
	r.Keep()
	m.kept.result = r
	m.d.resize(m)
	if !m.kept.listed {
		m.kept.listed = true
		m.d.keepers = append(m.d.keepers, m)
	}
}

// again returns the kept result as that of a question, nil where it is of another one. It is given
// to pods of one kind, which rules tell apart only by the names of their ephemeral volumes, and by
// their UID among the nominated pods. It has found no victims, the search for which reads the time.
func (m *memo) again(s *state.State, pod *corev1.Pod, o *engine.Options) *engine.Result {
	r := m.kept.result
	if r == nil {
		return nil
	}
	q := r.Query
	if q.State == s.Under(m.key.profile.Counting) && o.Candidates == nil && q.Options.MaxSteps == o.MaxSteps && q.Options.NoPreemption == o.NoPreemption &&
		(q.Pod.UID == pod.UID && q.Pod.Name == pod.Name || s.NominatedPods().Len() == 0 && !slices.ContainsFunc(pod.Spec.Volumes, ephemeral)) &&
		r.Again(pod, *o) {
		return r
	}
	m.forgo()
	return nil
}

func ephemeral(v corev1.Volume) bool { return v.Ephemeral != nil }

// forgo frees the result that was kept.
func (m *memo) forgo() {
	if m.kept.result != nil {
		m.kept.result.Free()
		m.kept.result = nil
	}
}

// freeKept frees results of the last state, which would keep it alive.
func (d *Decider) freeKept() {
	for _, m := range d.keepers {
		m.forgo()
		m.kept.listed = false
		d.resize(m)
	}
	d.keepers = d.keepers[:0]
}
