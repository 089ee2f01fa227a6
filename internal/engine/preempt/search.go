package preempt

import (
	"math"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/semantics"
)

// The messages for pods that may not preempt, word for word upstream's (plugins/defaultpreemption
// PodEligibleToPreemptOthers).
const (
	ReasonPolicyNever       = "not eligible due to preemptionPolicy=Never."
	ReasonVictimTerminating = "not eligible due to a terminating pod on the nominated node."
)

// Ways are what releases of Kubernetes do differently.
type Ways struct {
	FirstViolatedOnly, TellsPlacement bool // as in semantics.Release
}

// WaysOf returns those of a release.
func WaysOf(r *semantics.Release) Ways { return Ways{r.FirstViolatedOnly, r.TellsPlacement} }

// Search is the search for victims: the result for each node, in columns. Nothing is evicted, and
// the state is not changed (pkg/scheduler/framework/preemption Evaluator.Preempt).
type Search struct {
	r        *engine.Result
	ways     Ways
	eligible bool
	reason   string       // why not
	waitsFor []*state.Pod // that are the reason, if some are
	// potential are the nodes on which evictions might help. bare are those of them without a pod
	// of lower priority, unfit those on which the pod does not fit even without all of these.
	potential, bare, unfit state.Bits
	candidates             []candidate // in order of rows
	best                   int         // of candidates; -1 without
	named                  []namedNode // for Options.Victims instead, by name
	runs                   *dryRun
	details                map[int]*evictions
}

func newSearch(r *engine.Result, ways Ways) *Search {
	q := r.Query
	return &Search{r: r, ways: ways, best: -1, potential: q.Bits(), bare: q.Bits(), unfit: q.Bits(), details: map[int]*evictions{}}
}

// candidatePool holds lists of candidates that later searches use again.
var candidatePool = sync.Pool{New: func() any { return new([]candidate) }}

// Find looks for victims for a pod that fits nowhere, as DefaultPreemption does, but over all nodes
// on which evictions might help.
func (w Ways) Find(r *engine.Result) *Search {
	q, s := r.Query, newSearch(r, w)
	if s.reason, s.waitsFor = ineligible(r); s.reason != "" {
		return s
	}
	s.eligible = true
	for i := range r.Rejected {
		s.potential.Or(r.Rejected[i].Nodes)
		s.potential.AndNot(r.Rejected[i].Unresolvable)
	}
	if s.potential.Empty() {
		return s
	}
	if q.State.NoneBelow(q.Priority()) {
		s.bare.Or(s.potential)
		return s
	}
	s.runs = newDryRun(r, s.potential, w)
	s.candidates = (*candidatePool.Get().(*[]candidate))[:0]
	for row := range s.potential.All() {
		q.Work(1 + int(q.State.Use(row).Pods))
		switch c, what := s.runs.try(row); what {
		case noVictims:
			s.bare.Set(row)
		case doesNotHelp:
			s.unfit.Set(row)
		case helps:
			s.candidates = append(s.candidates, c)
		}
	}
	if len(s.candidates) > 0 {
		s.best = s.choose()
	}
	return s
}

// Release implements engine.Search.
func (s *Search) Release() {
	if list := s.candidates; cap(list) > 0 {
		s.candidates = nil
		candidatePool.Put(&list)
	}
}

// ineligible returns why the pod may not preempt others, and the pods that are the reason; "" where
// it may. Its policy must allow it. None of its earlier victims may still be terminating on its
// nominated node, unless that node is unresolvable for it now.
func ineligible(r *engine.Result) (reason string, waitsFor []*state.Pod) {
	q := r.Query
	if p := q.Pod.Spec.PreemptionPolicy; p != nil && *p == corev1.PreemptNever {
		return ReasonPolicyNever, nil
	}
	row := q.Nodes.Row(q.Pod.Status.NominatedNodeName)
	if row < 0 || !q.Candidates.Has(row) || r.RejectionOf(row).Code == engine.UnschedulableAndUnresolvable {
		return "", nil
	}
	for p := range q.State.PodsOn(row).All() {
		if p.Terminating && p.EvictedByScheduler && q.State.PriorityOf(p) < q.Priority() {
			reason, waitsFor = ReasonVictimTerminating, append(waitsFor, p)
		}
	}
	return reason, waitsFor
}

// Of returns a decision's search; nil where there was none.
func Of(r *engine.Result) *Search {
	if r.PostFilter == nil {
		return nil
	}
	s, _ := r.PostFilter.Search.(*Search)
	return s
}

// Row implements engine.Search.
func (s *Search) Row() int {
	if s.best < 0 {
		return -1
	}
	return int(s.candidates[s.best].row)
}

// CandidateRows returns the nodes on which evictions would let the pod fit, and those of them on
// which no budget would be violated. Both are empty where preemption was not tried or does not
// help.
func CandidateRows(r *engine.Result) (all, unviolated state.Bits) {
	all, unviolated = state.NewBits(r.Nodes().Len()), state.NewBits(r.Nodes().Len())
	s := Of(r)
	if s == nil {
		return all, unviolated
	}
	for i := range s.candidates {
		c := &s.candidates[i]
		all.Set(int(c.row))
		if c.violations == 0 {
			unviolated.Set(int(c.row))
		}
	}
	return all, unviolated
}

// Victims lists the victims on the chosen node, by importance.
func Victims(r *engine.Result) []engine.Victim {
	if s := Of(r); s != nil && s.best >= 0 {
		return s.detail(s.Row()).victims
	}
	return nil
}

// Equals counts the nodes among which the choice of the victims' node is chance upstream, with the
// chosen one.
func Equals(r *engine.Result) (n int) {
	s := Of(r)
	if s == nil || s.best < 0 {
		return 0
	}
	for i := range s.candidates {
		if round, _ := s.against(&s.candidates[i], &s.candidates[s.best]); round == len(Criteria)-1 {
			n++
		}
	}
	return n
}

// ClearedNominations lists the pods that lose their nomination to the chosen node: those of lower
// priority than the pod, of schedulers that the configuration runs, by namespace and name
// (pkg/scheduler/framework/preemption getLowerPriorityNominatedPods).
func ClearedNominations(r *engine.Result) []*state.Pod {
	node := r.NominatedNode()
	if node == "" {
		return nil
	}
	var out []*state.Pod
	for p := range r.Query.Nominees() {
		if p.Nominated == node && r.Query.State.PriorityOf(p) < r.Query.Priority() {
			out = append(out, p)
		}
	}
	return out
}

// ClearsNomination reports whether a pod that fits nowhere loses its nominated node. It keeps it
// where PostFilter returns no result: the pod is not eligible to preempt others, a plugin failed,
// or DefaultPreemption is not among the plugins (pkg/scheduler/schedule_one.go schedulingAlgorithm,
// framework/preemption/preemption.go Preempt).
func ClearsNomination(r *engine.Result) bool {
	switch {
	case r.Outcome != engine.UnschedulableOK:
		return false
	case r.NoNodes || r.PostFilter == nil: // ErrNoNodesAvailable, or no PostFilter plugin
		return true
	}
	s := Of(r)
	return s != nil && s.eligible
}

// now is the time of the decision, which stands for the start of pods without one, in seconds and
// nanoseconds since 1970; without a time, the end of time.
func now(q *engine.Query) (seconds, nanos int64) {
	if q.Options.Now.IsZero() {
		return math.MaxInt64, math.MaxInt64
	}
	return q.Options.Now.Unix(), q.Options.Now.UnixNano()
}
