package explain

import (
	"cmp"
	"slices"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// namedNodes is of how many rejected nodes, by name, an answer about a pod that fits nowhere names
// the objects. ExplainAll names those of all nodes.
const namedNodes = 50

// naming counts the nodes of which an answer names the objects.
type naming struct {
	every bool
	left  int
	room  []engine.PluginScore // for the scores of all that are listed; may be nil
}

// namesOf returns how the answer at a level names them. A pod that is placed has none, but where
// every rule runs.
func namesOf(r *engine.Result, every bool) *naming {
	n := &naming{every: every}
	if r.Outcome != engine.Scheduled {
		n.left = namedNodes
	}
	return n
}

// verdict explains the next row.
func (n *naming) verdict(r *engine.Result, row int) engine.NodeVerdict {
	if r.Feasible.Has(row) {
		r.Query.Work(verdictSteps)
		room := n.room[:min(len(n.room), len(r.Scores))]
		n.room = n.room[len(room):]
		return feasibleVerdict(r, row, room)
	}
	names := n.every || n.left > 0
	n.left--
	return verdict(r, row, names)
}

// Blocker is an object in the way of a decision, and the rule that rejects a node because of it.
type Blocker struct {
	Rule string
	engine.Blocker
}

// ManyNodes is of how many rejected nodes those are found that are nearest to taking the pod, where
// the objects are to be shown or changed; a record looks at fewer.
const ManyNodes = 256

// nearestRows is of how many nodes Blockers names the objects.
const nearestRows = 3

// Blockers returns at most ten objects that keep a pod from being placed: those of the nodes that
// are nearest to taking it of as many as are looked at, the nearest first. Nodes on which evictions
// may help come before the others, then those with fewer obstacles, then those that are short of
// less, and last by name. Where a plugin rejects the pod before any node is judged, they are the
// objects for which it does. A decision that places the pod has none. More counts what is left out
// of these nodes; an object that several details leave out counts for each.
func Blockers(r *engine.Result, looked int) (out []Blocker, more int) {
	add := func(rule string, details []engine.Detail) {
		for i := range details {
			more += details[i].BlockersOmitted
			for _, b := range details[i].Blockers {
				same := func(o Blocker) bool {
					return o.Rule == rule && o.Kind == b.Kind && o.Namespace == b.Namespace && o.Name == b.Name
				}
				if !slices.ContainsFunc(out, same) {
					out = append(out, Blocker{rule, b})
				}
			}
		}
	}
	switch {
	case r.Outcome == engine.Scheduled:
	case r.Outcome == engine.Gated:
		add(r.HeldBy, preFilterDetails(r.Query, r.HeldBy))
	case !listsNodes(r):
	case r.PreFilter != nil:
		add(r.PreFilter.Plugin, preFilterDetails(r.Query, r.PreFilter.Plugin))
	default:
		for _, row := range nearest(r, looked) {
			v := NamedVerdict(r, row)
			add(v.Plugin, v.Details)
		}
	}
	if n := len(out) - engine.MaxBlockers; n > 0 {
		return out[:engine.MaxBlockers], more + n
	}
	return out, more
}

// nearest returns the rejected rows that are nearest to taking the pod.
func nearest(r *engine.Result, looked int) []int {
	type near struct {
		row, obstacles int
		short          float64
	}
	var rows []near
	for _, row := range nearRows(r, looked) {
		v := Verdict(r, row)
		rows = append(rows, near{row, len(v.Details), shortBy(v.Details)})
	}
	slices.SortStableFunc(rows, func(a, b near) int {
		return cmp.Or(cmp.Compare(a.obstacles, b.obstacles), cmp.Compare(a.short, b.short))
	})
	out := make([]int, 0, nearestRows)
	for _, at := range rows[:min(len(rows), nearestRows)] {
		out = append(out, at.row)
	}
	return out
}

// nearRows returns the first rows by name on which evictions may help; where there are none, those
// of all rejected nodes.
func nearRows(r *engine.Result, looked int) []int {
	rows, hard := r.Query.Bits(), r.Query.Bits()
	for i := range r.Rejected {
		rows.Or(r.Rejected[i].Nodes)
		hard.Or(r.Rejected[i].Unresolvable)
	}
	soft := r.Query.Bits()
	copy(soft, rows)
	if soft.AndNot(hard); !soft.Empty() {
		rows = soft
	}
	return firstRows(r, rows, looked)
}

func firstRows(r *engine.Result, rows state.Bits, most int) []int {
	var out []int
	for row := range r.Nodes().ByName(rows) {
		if len(out) == most {
			break
		}
		out = append(out, row)
	}
	return out
}

// shortBy is which part of the requests is missing, and by how much a skew is exceeded.
func shortBy(details []engine.Detail) float64 {
	sum := 0.0
	for i := range details {
		switch d := &details[i]; {
		case d.Requested != nil && d.Available != nil && *d.Requested > 0:
			sum += min(1, max(0, float64(*d.Requested-*d.Available)/float64(*d.Requested)))
		case d.Skew != nil && d.MaxSkew != nil:
			sum += float64(*d.Skew - *d.MaxSkew)
		}
	}
	return sum
}
