package engine

import (
	"math"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine/state"
)

// The messages for pods that may not preempt, word for word upstream's (plugins/defaultpreemption
// PodEligibleToPreemptOthers).
const (
	ReasonPolicyNever       = "not eligible due to preemptionPolicy=Never."
	ReasonVictimTerminating = "not eligible due to a terminating pod on the nominated node."
)

// dryRun is the search for victims: the result for each node, in columns. Nothing is evicted, and
// the state is not changed (pkg/scheduler/framework/preemption Evaluator.Preempt).
type dryRun struct {
	eligible bool
	reason   string // why not
	// failed is the error of a PostFilter plugin before this one, which then does not run.
	failed string
	// potential are the nodes on which evictions might help. bare are those of them without a pod
	// of lower priority, unfit those on which the pod does not fit even without all of these.
	potential, bare, unfit state.Bits
	candidates             []candidate // in order of rows
	best                   int         // of candidates; -1 without
	// for Options.Victims instead: the result for each named node
	asked    []judged
	judge    *rowJudge
	details  map[int]*evictions
	text     string // of PostFilter, once worked out
	textDone bool
}

// preempt looks for victims where the pod fits nowhere, as DefaultPreemption does, but over all
// nodes on which evictions might help.
func (r *Result) preempt(skip []bool) {
	q := r.q
	if r.Outcome != UnschedulableOK || q.Options.NoPreemption || len(q.Profile.PostFilter) == 0 {
		return
	}
	d := &dryRun{best: -1, potential: q.Bits(), bare: q.Bits(), unfit: q.Bits(), details: map[int]*evictions{}}
	r.dry = d
	if r.devicesUnread() {
		d.failed = "not found"
		return
	}
	if !q.Profile.Preemption {
		return
	}
	if d.eligible, d.reason = r.eligible(); !d.eligible {
		return
	}
	for i := range r.Rejected {
		d.potential.Or(r.Rejected[i].Nodes)
		d.potential.AndNot(r.Rejected[i].Unresolvable)
	}
	if d.potential.Empty() {
		return
	}
	j := newRowJudge(r, skip, d.potential)
	d.judge = j
	d.candidates = q.scratch.candidates[:0]
	for row := range d.potential.All() {
		q.Work(1 + len(q.State.PodsOn(row)))
		switch c, what := j.look(row); what {
		case noVictims:
			d.bare.Set(row)
		case doesNotHelp:
			d.unfit.Set(row)
		case helps:
			d.candidates = append(d.candidates, c)
		}
	}
	q.scratch.candidates = d.candidates
	if len(d.candidates) > 0 {
		d.best = r.bestCandidate()
		r.Outcome = Preempting
	}
}

// devicesUnread reports whether DynamicResources fails in PostFilter because its PreFilter left no
// state: another plugin rejected the pod before it ran. Upstream then does not reach preemption.
func (r *Result) devicesUnread() bool {
	const devices = "DynamicResources"
	post := false
	for _, name := range r.q.Profile.PostFilter {
		post = post || name == devices
	}
	if !post {
		return false
	}
	for _, i := range r.q.Profile.PreFilter {
		switch name := r.q.Profile.Rules[i].Name; {
		case name == devices:
			return false
		case r.PreFilter != nil && r.PreFilter.Plugin == name && r.PreFilter.Code == UnschedulableAndUnresolvable:
			return true
		}
	}
	return true
}

// eligible reports whether the pod may preempt others, and otherwise why not. Its policy must allow
// it. None of its earlier victims may still be terminating on its nominated node, unless that node
// is unresolvable for it now.
func (r *Result) eligible() (bool, string) {
	q := r.q
	if p := q.Pod.Spec.PreemptionPolicy; p != nil && *p == corev1.PreemptNever {
		return false, ReasonPolicyNever
	}
	row := q.Nodes.Row(q.Pod.Status.NominatedNodeName)
	if row < 0 || !q.Candidates.Has(row) {
		return true, ""
	}
	if _, unresolvable, _ := r.ReasonOf(row); unresolvable {
		return true, ""
	}
	for _, p := range q.State.PodsOn(row) {
		if p.Terminating && p.EvictedByScheduler && q.State.PriorityOf(p) < podPriority(q.Pod) {
			return false, ReasonVictimTerminating
		}
	}
	return true, ""
}

// NominatedNode is the node of the victims; empty unless the outcome is Preempting.
func (r *Result) NominatedNode() string {
	if r.dry == nil || r.dry.best < 0 {
		return ""
	}
	return r.q.Nodes.Node(int(r.dry.candidates[r.dry.best].row)).Name
}

// CandidateCount is the number of nodes on which evicting pods would help.
func (r *Result) CandidateCount() int {
	if r.dry == nil {
		return 0
	}
	return len(r.dry.candidates)
}

// ClearedNominations lists the pods that lose their nomination to the chosen node: those of lower
// priority than the pod, of schedulers that the configuration runs, by namespace and name
// (pkg/scheduler/framework/preemption getLowerPriorityNominatedPods).
func (r *Result) ClearedNominations() []*state.Pod {
	node := r.NominatedNode()
	if node == "" {
		return nil
	}
	var out []*state.Pod
	for _, p := range r.q.State.NominatedPods() {
		if p.Nominated == node && !r.q.Profile.gates(p) && r.q.Profile.runs(p.Scheduler) &&
			p.UID != string(r.q.Pod.UID) && r.q.State.PriorityOf(p) < podPriority(r.q.Pod) {
			out = append(out, p)
		}
	}
	return out
}

// ClearsNomination reports whether a pod that fits nowhere loses its nominated node. It keeps it
// where PostFilter returns no result: the pod is not eligible to preempt others, a plugin failed,
// or DefaultPreemption is not among the plugins (pkg/scheduler/schedule_one.go schedulingAlgorithm,
// framework/preemption/preemption.go Preempt).
func (r *Result) ClearsNomination() bool {
	if r.Outcome != UnschedulableOK {
		return false
	}
	if r.noNodes || r.dry == nil { // ErrNoNodesAvailable, or no PostFilter plugin
		return true
	}
	return r.q.Profile.Preemption && r.dry.failed == "" && r.dry.eligible
}

// nowSeconds is the time of the decision, which stands for the start of pods without one, in
// seconds and nanoseconds since 1970; without a time, the end of time.
func (q *Query) nowSeconds() (seconds, nanos int64) {
	if q.Options.Now.IsZero() {
		return math.MaxInt64, math.MaxInt64
	}
	return q.Options.Now.Unix(), q.Options.Now.UnixNano()
}
