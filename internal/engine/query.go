package engine

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"berth/internal/engine/state"
)

// Query is one pod judged against one state. It owns the decision's scratch memory; a Query is for
// one goroutine.
type Query struct {
	State   *state.State
	Nodes   *state.NodeSet
	Pod     *corev1.Pod
	Profile *Profile
	Options Options
	Compiled

	// Candidates are the nodes that the decision considers.
	Candidates state.Bits

	added    []*state.Pod
	nsLabels labels.Set
	scratch  *scratch
	result   *Result // to be written; nil: anew

	steps, nextLook int64 // of Work
	explaining      bool  // within Result.Within
	timeRead        bool  // what is shared names a pod whose state depends on Options.Now
	words           map[any]string
	named           map[any]Blockers
	selectorKeys    []string
}

// Options are the inputs of a decision beside state, pod and profile. All but
// Context are recorded, so that a replay gets the same ones.
type Options struct {
	// Context is the caller's; nil stands for one that does not end. It is no input of the answer.
	// Once it has ended, a long search ends with an error that wraps the context's, and there is no
	// decision.
	Context context.Context
	// MaxSteps bounds the work of the decision; 0: no bound. A decision over it is a WorkError.
	MaxSteps int64
	// Candidates limits the nodes to those of these names; nil means all. The engine ignores names
	// that the state does not have.
	Candidates []string
	// Now is the time the decision is judged at; the engine has no clock.
	Now time.Time
	// ScoreAlways scores even a single feasible node, which kube-scheduler does not. The extender's
	// /prioritize needs it.
	ScoreAlways bool
	// NoScores stops after the filters: the extender's /filter does not need the best node. The
	// outcome is Scheduled where a node is feasible, without a node.
	NoScores bool
	// NoPreemption turns preemption off for this decision.
	NoPreemption bool
	// EqualsBy replaces the pod's UID in the choice among equal nodes; "" is the pod's own.
	EqualsBy string
	// Victims, where not nil, asks another question, that of the extender's /preempt: whether the
	// pod would fit on these nodes once these pods are gone.
	Victims []NodeVictims
}

// Compiled is what a query works out about its pod, the nodes and the namespaces. Queries about
// equal pods have it in common while these stay as they are.
type Compiled struct {
	// Request is the pod's request.
	Request state.Request

	scoring      *scoringRequests
	required     state.Bits
	requiredDone bool
	affinity     state.Bits
	terms        []*state.Term
	local        state.LocalNames
	found        map[any]any
}

// Found returns what find returned the first time, of this query or one about an equal pod. It must
// follow from what a Locality may depend on, and is not to be written.
func Found[T any](q *Query, key any, find func() T) T {
	if v, ok := q.found[key]; ok {
		return v.(T)
	}
	v := find()
	if q.found == nil {
		q.found = map[any]any{}
	}
	q.found[key] = v
	return v
}

// Context is the caller's, for rules that may take long. Once it has ended they must return an
// error, and no answer that depends on it.
func (q *Query) Context() context.Context {
	if q.Options.Context == nil {
		return context.Background()
	}
	return q.Options.Context
}

// RequiredRows returns the nodes that match the pod's nodeSelector and required node affinity; nil
// stands for all. It is worked out once per decision. Not to be written.
func (q *Query) RequiredRows() state.Bits {
	if !q.requiredDone {
		q.required, q.requiredDone = q.requiredRows(), true
	}
	return q.required
}

// requiredRows is NodeSet.RequiredRows with its work counted.
func (q *Query) requiredRows() state.Bits {
	affinity := q.AffinityRows()
	if len(q.Pod.Spec.NodeSelector) == 0 && affinity == nil {
		return nil
	}
	q.Work(len(q.Pod.Spec.NodeSelector))
	out := q.Nodes.SelectorRows(q.Pod.Spec.NodeSelector)
	if affinity != nil {
		out.And(affinity)
	}
	return out
}

// AffinityRows returns the nodes that match the pod's required node affinity alone; nil stands for
// all. It is worked out once per decision. Not to be written.
func (q *Query) AffinityRows() state.Bits {
	if required := state.RequiredNodeAffinity(q.Pod); required != nil && q.affinity == nil {
		q.affinity = q.NodeSelectorRows(required)
	}
	return q.affinity
}

// Added lists pods that were added to the state for this evaluation alone, such as those nominated
// to a node. Not to be written.
func (q *Query) Added() []*state.Pod { return q.added }

// Terms returns the pod's own inter-pod affinity terms, their namespace selectors resolved to the
// namespaces of the state. A selector of all namespaces stays a selector; any other becomes names
// (plugins/interpodaffinity mergeAffinityTermNamespacesIfNotEmpty).
func (q *Query) Terms() []*state.Term { return q.terms }

// NamespaceLabels returns the labels of the pod's namespace.
func (q *Query) NamespaceLabels() labels.Set { return q.nsLabels }

// ShapesSelected appends the shapes of placed pods that one of the pod's own
// terms selects.
func (q *Query) ShapesSelected(dst []*state.Shape, t *state.Term) []*state.Shape {
	return q.State.Tables().ShapesSelected(dst, t, q.checkContext)
}

// ShapesIn appends the shapes of one namespace that a selector matches.
func (q *Query) ShapesIn(dst []*state.Shape, ns string, sel labels.Selector) []*state.Shape {
	return q.State.Tables().ShapesIn(dst, ns, sel, q.checkContext)
}

// TermsSelectingPod appends the terms of placed pods that select the pod.
func (q *Query) TermsSelectingPod(dst []*state.Term) []*state.Term {
	return q.State.Tables().TermsSelecting(dst, q.Pod.Namespace, q.nsLabels, q.Pod.Labels, q.checkContext)
}

// ScalarID returns the id of a resource by name; ok is false where neither a node nor a pod of
// the state nor the pod in question mentions it.
func (q *Query) ScalarID(name string) (id int32, ok bool) { return q.local.ScalarID(name) }

// ScalarName returns a resource's name.
func (q *Query) ScalarName(id int32) string { return q.local.ScalarName(id) }

// Mounted returns the distinct CSI volumes that the pod would bring to a node of a kind, as
// LocalNames.MountedBy.
func (q *Query) Mounted(on state.Moved) (volumes []state.CSIVolume, err error) {
	return q.local.MountedBy(q.State, q.Pod, on)
}

// AttachedBy is State.AttachedBy with ids that are comparable with those of Mounted.
func (q *Query) AttachedBy(dst []state.CSIVolume, p *state.Pod, on state.Moved) (volumes []state.CSIVolume, trouble string) {
	return q.local.AttachedBy(q.State, dst, p, on)
}

// ScoringRequest returns what resource scorers count for the pod. With nonZero, containers that
// lack a request for cpu or memory count as 100m and 200Mi.
func (q *Query) ScoringRequest(nonZero bool) state.Request {
	if q.scoring == nil {
		q.scoring = &scoringRequests{}
	}
	i := 0
	if nonZero {
		i = 1
	}
	if !q.scoring.done[i] {
		q.scoring.of[i], q.scoring.done[i] = q.local.ScoringRequest(q.State, q.Pod, nonZero), true
	}
	return q.scoring.of[i]
}

// scoringRequests are worked out once: without and with defaults for missing requests.
type scoringRequests struct {
	of   [2]state.Request
	done [2]bool
}

// NewQuery prepares a question. Options.Candidates without a node of the state are ignored.
func NewQuery(s *state.State, pod *corev1.Pod, p *Profile, o Options) (q *Query, err error) {
	s = s.Under(p.Counting)
	q = &Query{State: s, Nodes: s.Nodes(), Pod: pod, Profile: p, Options: o, nsLabels: s.NamespaceLabels(pod.Namespace)}
	q.local = state.NewLocalNames(s)
	defer func() {
		if err != nil {
			q, err = nil, fmt.Errorf("pod %s/%s: %w", pod.Namespace, pod.Name, err)
		}
	}()
	defer caught(&err)
	if q.terms, err = s.TermsOf(pod, p.ExclusionMeansAll, q.checkContext); err != nil {
		return nil, err
	}
	q.Request = q.local.RequestOf(pod)
	q.scratch = getScratch(s.Nodes().Len())
	q.findCandidates()
	return q, nil
}

// findCandidates finds the rows of Options.Candidates.
func (q *Query) findCandidates() {
	if q.Options.Candidates == nil {
		q.Candidates = q.Nodes.Alive()
		return
	}
	q.Candidates = q.Bits()
	q.Nodes.SetRows(q.Candidates, q.Options.Candidates)
}

// Compile works out what queries about equal pods have in common, for a query that no rule has read
// yet. It returns an error where that is too much work.
func (q *Query) Compile() (c Compiled, err error) {
	defer caught(&err)
	q.RequiredRows()
	q.scoring, q.found = &scoringRequests{}, map[any]any{}
	return q.Compiled, nil
}

// Room is memory for a question and its result, the next of which overwrite them.
type Room struct {
	query  Query
	result Result
}

// NewQuery prepares a question about an equal pod, in the given room or, where that is nil, in
// one of its own.
func (c *Compiled) NewQuery(s *state.State, pod *corev1.Pod, p *Profile, o Options, room *Room) *Query {
	if room == nil {
		room = new(Room)
	}
	q := &room.query
	s = s.Under(p.Counting)
	*q = Query{
		State: s, Nodes: s.Nodes(), Pod: pod, Profile: p, Options: o, nsLabels: s.NamespaceLabels(pod.Namespace),
		Compiled: *c, scratch: getScratch(s.Nodes().Len()), result: &room.result,
	}
	q.findCandidates()
	return q
}

// Bytes is about how many bytes it holds.
func (c *Compiled) Bytes() int { return 8 * len(c.required) }
