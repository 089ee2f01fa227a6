package engine

import (
	"fmt"
	"sort"
	"strings"

	"berth/internal/engine/state"
)

// Result is a decision in columns, before it is written. It holds scratch memory: Release it, once,
// when everything wanted has been read.
type Result struct {
	q *Query

	Outcome Outcome
	Row     int // the chosen node, -1 without
	// Nominated reports that Row was taken because it is the nominated node, unscored.
	Nominated bool
	Feasible  state.Bits
	Rejected  []Rejected
	// PreFilter is set where a rule rejected the pod before the nodes were judged: its plugin, code
	// and reason hold for every node.
	PreFilter *PreFilterRejection

	narrowed   bool  // the first entry of Rejected has the nodes that PreFilter left out
	states     []any // per rule
	scored     bool
	scores     []Scores
	scoreRules []WeightedRule
	total      []int64
	sums       []int32 // set by a Decider instead of total, less common
	common     int64   // the part of the totals that all feasible nodes share and sums leave out
	best       state.Bits
	top        int64
	noNodes    bool
	gates      []string
	heldBack   string  // why PreEnqueue holds the pod back, other than by gates
	digest     string  // once worked out
	dry        *dryRun // the search for victims; nil where there was none
}

// PreFilterRejection is a verdict on the pod itself.
type PreFilterRejection struct {
	Plugin string
	Code   Code
	Reason string
}

// Release gives back the scratch memory. The result must not be used after.
func (r *Result) Release() {
	if r.q != nil && r.q.scratch != nil {
		scratchPool.Put(r.q.scratch)
		r.q.scratch = nil
	}
}

// Node is the name of the chosen node.
func (r *Result) Node() string {
	if r.Row < 0 {
		return ""
	}
	return r.q.Nodes.Node(r.Row).Name
}

// Nodes returns the nodes of the rows.
func (r *Result) Nodes() *state.NodeSet { return r.q.Nodes }

// Scored reports whether the feasible nodes were scored. They are not where only one was feasible,
// or the nominated one was taken.
func (r *Result) Scored() bool { return r.scored }

// Total is a feasible row's weighted score, 0 without scoring.
func (r *Result) Total(row int) int64 {
	if !r.scored || !r.Feasible.Has(row) {
		return 0
	}
	return r.totalOf(row)
}

func (r *Result) totalOf(row int) int64 {
	if r.sums != nil {
		return int64(r.sums[row]) + r.common
	}
	return r.total[row]
}

// Top is the best total.
func (r *Result) Top() int64 { return r.top }

// Candidate reports whether a row was considered.
func (r *Result) Candidate(row int) bool { return r.q.Candidates.Has(row) }

// Considered is the number of nodes that the decision was about.
func (r *Result) Considered() int { return r.q.Candidates.Count() }

// ReasonOf returns a rejected row's reasons in one text, and whether it is unresolvable by
// preemption; ok is false for a feasible row.
func (r *Result) ReasonOf(row int) (text string, unresolvable, ok bool) {
	if r.PreFilter != nil {
		return r.PreFilter.Reason, r.PreFilter.Code == UnschedulableAndUnresolvable, true
	}
	for i := range r.Rejected {
		rej := &r.Rejected[i]
		if !rej.Nodes.Has(row) {
			continue
		}
		for _, reason := range rej.Reasons {
			if !reason.Nodes.Has(row) {
				continue
			}
			if text != "" {
				text += ", "
			}
			text += reason.Text
		}
		return text, rej.Unresolvable.Has(row), true
	}
	return "", false, false
}

// Failures counts the rejected nodes by plugin, code and reason, in the order
// that the rules ran.
func (r *Result) Failures() []FailureCount {
	if r.PreFilter != nil {
		if r.PreFilter.Plugin == "" {
			return nil
		}
		return []FailureCount{{r.PreFilter.Plugin, r.PreFilter.Code.String(), r.PreFilter.Reason, r.Considered()}}
	}
	var out []FailureCount
	for i := range r.Rejected {
		rej := &r.Rejected[i]
		for _, reason := range rej.Reasons {
			hard := state.CountAnd(reason.Nodes, rej.Unresolvable)
			soft := reason.Nodes.Count() - hard
			if soft > 0 {
				out = append(out, FailureCount{rej.Plugin, Unschedulable.String(), reason.Text, soft})
			}
			if hard > 0 {
				out = append(out, FailureCount{rej.Plugin, UnschedulableAndUnresolvable.String(), reason.Text, hard})
			}
		}
	}
	return out
}

// RejectedNames names, for each entry of Failures, the nodes that it counts, by
// name; nil where there are more than limit.
func (r *Result) RejectedNames(limit int) [][]string {
	names := func(rows state.Bits, hard state.Bits, want bool) []string {
		var out []string
		for _, row := range r.q.Nodes.Order() {
			if rows.Has(int(row)) && hard.Has(int(row)) == want {
				if len(out) == limit {
					return nil
				}
				out = append(out, r.q.Nodes.Node(int(row)).Name)
			}
		}
		return out
	}
	var out [][]string
	if r.PreFilter != nil {
		if r.PreFilter.Plugin != "" {
			out = append(out, nil)
		}
		return out
	}
	for i := range r.Rejected {
		rej := &r.Rejected[i]
		for _, reason := range rej.Reasons {
			hard := state.CountAnd(reason.Nodes, rej.Unresolvable)
			soft := reason.Nodes.Count() - hard
			for _, part := range []struct {
				n    int
				want bool
			}{{soft, false}, {hard, true}} {
				switch {
				case part.n == 0:
				case part.n > limit:
					out = append(out, nil)
				default:
					out = append(out, names(reason.Nodes, rej.Unresolvable, part.want))
				}
			}
		}
	}
	return out
}

// Message is kube-scheduler's own summary of a pod that fits nowhere, with what preemption adds
// where it was tried in vain (pkg/scheduler/framework/types.go FitError.Error).
func (r *Result) Message() string {
	switch r.Outcome {
	case Gated:
		if r.heldBack != "" {
			return r.heldBack
		}
		return "Scheduling is blocked due to non-empty scheduling gates"
	case Scheduled:
		return ""
	default:
	}
	if r.q.Options.Victims != nil {
		return r.askedMessage()
	}
	if text := r.postFilterText(); text != "" {
		return r.fitMessage() + " " + text
	}
	return r.fitMessage()
}

// fitMessage is the summary up to the filters.
func (r *Result) fitMessage() string {
	if r.noNodes {
		return "no nodes available to schedule pods"
	}
	head := fmt.Sprintf("0/%d nodes are available:", r.Considered())
	if r.PreFilter != nil {
		return fmt.Sprintf("%s %s.", head, r.PreFilter.Reason)
	}
	counts := map[string]int{}
	for i := range r.Rejected {
		for _, reason := range r.Rejected[i].Reasons {
			counts[reason.Text] += reason.Nodes.Count()
		}
	}
	parts := make([]string, 0, len(counts))
	for text, n := range counts {
		parts = append(parts, fmt.Sprintf("%d %s", n, text))
	}
	if len(parts) == 0 {
		return head
	}
	sort.Strings(parts)
	return fmt.Sprintf("%s %s.", head, strings.Join(parts, ", "))
}

// bestRows returns up to n of the best feasible rows: by total, then by name.
func (r *Result) bestRows(n int) []int32 {
	if n <= 0 {
		return nil
	}
	set := r.q.Nodes
	better := func(a, b int32) bool {
		if r.scored {
			if x, y := r.totalOf(int(a)), r.totalOf(int(b)); x != y {
				return x > y
			}
		}
		return set.Node(int(a)).Name < set.Node(int(b)).Name
	}
	var top []int32
	for i := range r.Feasible.All() {
		row := int32(i)
		if len(top) == n && !better(row, top[n-1]) {
			continue
		}
		at := sort.Search(len(top), func(i int) bool { return better(row, top[i]) })
		if len(top) < n {
			top = append(top, 0)
		}
		copy(top[at+1:], top[at:])
		top[at] = row
	}
	return top
}
