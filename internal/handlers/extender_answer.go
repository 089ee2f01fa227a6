package handlers

import (
	"slices"

	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/state"
	"berth/internal/handlers/wire"
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
	if c.args.All && set == c.table.set {
		copy(c.rows, c.args.Rows)
		return
	}
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

// filter writes the verdicts. Each asked node is either kept or in one of the maps: one that is in
// neither would count as unresolvable without a reason and vanish from kube-scheduler's event.
func (c *call) filter(r *engine.Result) {
	c.verdicts = slices.Grow(c.verdicts[:0], len(c.rows))[:len(c.rows)]
	for i, row := range c.rows {
		v := &c.verdicts[i]
		if row < 0 {
			*v = wire.Verdict{Outcome: wire.Failed, Reason: unknownNode}
			continue
		}
		if r.Feasible.Has(int(row)) {
			*v = wire.Verdict{}
			continue
		}
		text, unresolvable, ok := r.ReasonOf(int(row))
		*v = wire.Verdict{Outcome: wire.Failed, Reason: text}
		if !ok { // the pod was not judged node by node: it is gated
			text = explain.Message(r)
			*v = wire.Verdict{Outcome: wire.Unresolvable, Reason: text}
		}
		if unresolvable {
			v.Outcome = wire.Unresolvable
		}
	}
	c.reply = wire.AppendFilterResult(c.reply[:0], &c.args, c.table.names, c.verdicts)
}

// pass writes that every asked node passes.
func (c *call) pass() {
	n := len(c.args.Rows)
	if c.args.HasNodes && !c.args.HasNames {
		n = len(c.args.Nodes)
	}
	c.verdicts = slices.Grow(c.verdicts[:0], n)[:n]
	clear(c.verdicts)
	c.reply = wire.AppendFilterResult(c.reply[:0], &c.args, c.table.names, c.verdicts)
}

// score writes the totals, brought to 0..10 in proportion to the best one of those asked for.
func (c *call) score(r *engine.Result) {
	c.scores = slices.Grow(c.scores[:0], len(c.rows))[:len(c.rows)]
	top := r.Top
	for i, row := range c.rows {
		c.scores[i] = 0
		if row >= 0 && top > 0 {
			c.scores[i] = r.Total(int(row)) * bestScore / top
		}
	}
	c.reply = wire.AppendHostPriorityList(c.reply[:0], &c.args, c.table.names, c.scores)
}
