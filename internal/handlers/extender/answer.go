package extender

import (
	"slices"

	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/state"
	"berth/internal/handlers/extender/wire"
)

// bestScore is what extender/v1 calls MaxExtenderPriority.
const bestScore = 10

// place finds the rows of the asked nodes in the state that was judged; -1 where it has no such
// node. That state has other rows than the table only in Nodes mode, or if nodes changed in
// between.
func (c *call) place(set *state.NodeSet) {
	byNodes := c.args.HasNodes && !c.args.HasNames
	n := len(c.args.Rows)
	if byNodes {
		n = len(c.args.Nodes)
	}
	c.rows = slices.Grow(c.rows[:0], n)[:n]
	alive := set.Alive()
	for i := range c.rows {
		row := int32(-1)
		switch {
		case byNodes:
			row = int32(set.Row(string(c.args.Nodes[i].Name)))
		case c.args.Rows[i] < 0:
		case set == c.table.set:
			row = c.args.Rows[i]
		default:
			row = int32(set.Row(c.table.names.Name(int(c.args.Rows[i]))))
		}
		if row >= 0 && !alive.Has(int(row)) {
			row = -1
		}
		c.rows[i] = row
	}
}

// filter writes which nodes do not fit; all others are kept.
func (c *call) filter(r *engine.Result) {
	c.failures = c.failures[:0]
	for i, row := range c.rows {
		if row < 0 {
			c.failures = append(c.failures, wire.Failure{At: i, Reason: unknownNode})
			continue
		}
		if r.Feasible.Has(int(row)) {
			continue
		}
		text, unresolvable, ok := r.ReasonOf(int(row))
		if !ok { // the pod was not judged node by node: it is gated
			text, unresolvable = explain.Message(r), true
		}
		c.failures = append(c.failures, wire.Failure{At: i, Unresolvable: unresolvable, Reason: text})
	}
	c.reply = wire.AppendFilterResult(c.reply[:0], &c.args, c.table.names, c.failures)
}

// pass writes that every asked node passes.
func (c *call) pass() {
	c.reply = wire.AppendFilterResult(c.reply[:0], &c.args, c.table.names, nil)
}

// score writes how good each asked node is, 0 to bestScore. What does not fit gets 0.
func (c *call) score(r *engine.Result) {
	c.scores = slices.Grow(c.scores[:0], len(c.rows))[:len(c.rows)]
	for i, row := range c.rows {
		c.scores[i] = -1
		if row >= 0 && r.Feasible.Has(int(row)) {
			c.scores[i] = r.Total(int(row))
		}
	}
	priorities(c.scores)
	c.reply = wire.AppendHostPriorityList(c.reply[:0], &c.args, c.table.names, c.scores)
}

// leastStep is how many points of a total a step of the protocol stands for at least:
// kube-scheduler counts a step as that many (MaxNodeScore / MaxExtenderPriority) at weight 1.
const leastStep = 10

// priorities replaces totals, of which those below 0 are of nodes that do not fit, by scores: the
// highest gets bestScore, the others fall by one for each step that they are worse, begun ones
// included. A step is a tenth of the distance between highest and lowest, and leastStep at least.
func priorities(totals []int64) {
	highest, lowest := int64(-1), int64(-1)
	for _, t := range totals {
		highest = max(highest, t)
		if t >= 0 && (lowest < 0 || t < lowest) {
			lowest = t
		}
	}
	distance := max(highest-lowest, bestScore*leastStep)
	for i, t := range totals {
		if t < 0 {
			totals[i] = 0
			continue
		}
		totals[i] = bestScore - (bestScore*(highest-t)+distance-1)/distance
	}
}
