package engine

import (
	"context"
	"slices"

	"berth/internal/engine/state"
)

// Result is a decision in columns, before it is written: package explain writes it. It holds
// scratch memory: Release it, once, when everything wanted has been read.
type Result struct {
	Query *Query

	Outcome Outcome
	Row     int // the chosen node, -1 without
	// Nominated reports that Row was taken because it is the nominated node, unscored.
	Nominated bool
	// NoNodes reports that there was no node to judge.
	NoNodes bool
	// Gates hold the pod back; HeldBack is the message of another PreEnqueue plugin that does,
	// HeldBy its name.
	Gates    []string
	HeldBack string
	HeldBy   string

	// PreFilter is set where a rule rejected the pod before the nodes were judged: its plugin, code
	// and reason hold for every node.
	PreFilter *PreFilterRejection
	// States are the PreFilter states, by rule, nil where PreFilter did not run. Skipped marks the
	// rules that have nothing to filter.
	States  []any
	Skipped []bool
	// Feasible are the nodes that pass, Rejected the others, by the first filter that fails them.
	// Where Narrowed, the first entry holds the nodes that PreFilter left out.
	Feasible state.Bits
	Rejected []Rejected
	Narrowed bool
	// narrowing are the rules whose PreFilter left nodes out, and with them the one that rejected
	// the nominated node.
	narrowing []string

	// Scored reports whether the feasible nodes were scored. They are not where only one was
	// feasible, or the nominated one was taken. Best are the nodes with the best total, Top.
	Scored bool
	Scores []RuleScores
	Best   state.Bits
	Top    int64

	// PostFilter is nil where the phase did not run.
	PostFilter *PostFilter

	// Digest is what package digest makes of the result, once that was done.
	Digest string
	// Released, where not nil, is called once by Release.
	Released func()

	run       Runner
	shared    map[any]any // what Shared keeps; nil: nothing
	ofKind    map[any]any // what SharedByKind keeps, in kindBytes; nil: nothing
	kindBytes int
	total     []int64 // by row, without common; nil where it is 0
	common    int64   // what Uniform scores add to all totals
}

// PreFilterRejection is a verdict on the pod itself.
type PreFilterRejection struct {
	Plugin string
	Code   Code
	Reason string
}

// Rejection is the verdict that keeps the pod off one node.
type Rejection struct {
	Plugin  string
	Code    Code
	Reasons []string
}

func (r *Result) begin(q *Query, run Runner) {
	*r = Result{Query: q, Row: -1, Outcome: UnschedulableOK, run: run}
	r.States, r.Skipped = q.perRule()
}

// Release ends the use of the result, which must not be read after.
func (r *Result) Release() {
	done := r.Released
	r.Released = nil
	r.run.Done(r)
	if done != nil {
		done()
	}
}

// Free gives back the scratch memory.
func (r *Result) Free() {
	if r.PostFilter != nil && r.PostFilter.Search != nil {
		r.PostFilter.Search.Release()
	}
	if s := r.Query.scratch; s != nil {
		s.rejected, s.scores = r.Rejected[:0], r.Scores[:0]
	}
	r.Query.Release()
}

// Node is the name of the chosen node.
func (r *Result) Node() string {
	if r.Row < 0 {
		return ""
	}
	return r.Query.Nodes.Node(r.Row).Name
}

// Nodes returns the nodes of the rows.
func (r *Result) Nodes() *state.NodeSet { return r.Query.Nodes }

// Considered is the number of nodes that the decision was about.
func (r *Result) Considered() int { return r.Query.Candidates.Count() }

// Total is a feasible row's weighted score, 0 without scoring.
func (r *Result) Total(row int) int64 {
	if !r.Scored || !r.Feasible.Has(row) {
		return 0
	}
	return r.totalOf(row)
}

// totalOf is Total of a feasible row that was scored.
func (r *Result) totalOf(row int) int64 {
	if r.total == nil {
		return r.common
	}
	return r.total[row] + r.common
}

// RejectedBy returns the entry of Rejected that lists a row; nil without.
func (r *Result) RejectedBy(row int) *Rejected {
	for i := range r.Rejected {
		if r.Rejected[i].Nodes.Has(row) {
			return &r.Rejected[i]
		}
	}
	return nil
}

// RejectedByRule returns what a filter rejected; nil for nothing.
func (r *Result) RejectedByRule(name string) *Rejected {
	for i := range r.Rejected {
		if r.Rejected[i].Plugin == name && (i > 0 || !r.Narrowed) {
			return &r.Rejected[i]
		}
	}
	return nil
}

// Rejectors returns the rules that rejected the pod, sorted: each that was the first to fail on a
// node, and those whose PreFilter left nodes out. An event may help the pod where it may change
// one of these verdicts. There are none where there was no node to judge
// (pkg/scheduler/schedule_one.go findNodesThatFitPod, framework/types.go AddPluginStatus).
func (r *Result) Rejectors() []string {
	out := slices.Clone(r.narrowing)
	if r.PreFilter != nil && r.PreFilter.Plugin != "" {
		out = append(out, r.PreFilter.Plugin)
	}
	for i := range r.Rejected {
		if r.Rejected[i].Plugin != "" {
			out = append(out, r.Rejected[i].Plugin)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// RejectionOf returns the verdict that keeps the pod off a row; the zero value for a feasible one.
func (r *Result) RejectionOf(row int) Rejection {
	if r.PreFilter != nil {
		return Rejection{r.PreFilter.Plugin, r.PreFilter.Code, []string{r.PreFilter.Reason}}
	}
	if rej := r.RejectedBy(row); rej != nil {
		return Rejection{rej.Plugin, rej.CodeOf(row), rej.ReasonsOf(row)}
	}
	return Rejection{}
}

// ReasonOf returns a rejected row's reasons in one text, and whether it is unresolvable by
// preemption; ok is false for a feasible row.
func (r *Result) ReasonOf(row int) (text string, unresolvable, ok bool) {
	if r.PreFilter != nil {
		return r.PreFilter.Reason, r.PreFilter.Code == UnschedulableAndUnresolvable, true
	}
	rej := r.RejectedBy(row)
	if rej == nil {
		return "", false, false
	}
	for _, reason := range rej.Reasons {
		if !reason.Nodes.Has(row) {
			continue
		}
		if text == "" {
			text = reason.Text
			continue
		}
		text += ", " + reason.Text
	}
	return text, rej.Unresolvable.Has(row), true
}

// Within runs f, which reads the decision, and ends it with the error of ctx once that has ended: a
// decision can take longer to write than to make. Outside of it nothing ends the methods that
// explain a decision.
func (r *Result) Within(ctx context.Context, f func()) (err error) {
	q := r.Query
	before := q.Options.Context
	q.Options.Context, q.explaining, q.nextLook = ctx, true, q.steps
	defer func() { q.Options.Context, q.explaining, q.nextLook = before, false, answered }()
	defer caught(&err)
	q.Work(0)
	f()
	return nil
}

// CheckContext ends the function that Within runs, where its context has ended.
func (r *Result) CheckContext() { r.Query.checkContext() }
