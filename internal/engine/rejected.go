package engine

import (
	"cmp"
	"slices"
	"strings"

	"berth/internal/engine/state"
)

// Rejected collects the nodes that one rule rejects.
type Rejected struct {
	// Plugin is the rule's name.
	Plugin string
	// Nodes are all that failed, Unresolvable those that preemption cannot help.
	Nodes, Unresolvable state.Bits
	// Reasons are the reasons; a node may have several.
	Reasons []Reason
}

// Reason is one of a rule's reasons and the nodes that have it.
type Reason struct {
	Text  string
	Nodes state.Bits
}

// NewRejected returns a collection without nodes that lives as long as the decision.
func (q *Query) NewRejected(plugin string) Rejected {
	return Rejected{Plugin: plugin, Nodes: q.Bits(), Unresolvable: q.Bits()}
}

// Add rejects nodes for a reason. It keeps the set, which therefore must not be
// written afterwards.
func (r *Rejected) Add(text string, code Code, nodes state.Bits) {
	if nodes.Empty() {
		return
	}
	r.Nodes.Or(nodes)
	if code == UnschedulableAndUnresolvable {
		r.Unresolvable.Or(nodes)
	}
	r.Reasons = append(r.Reasons, Reason{text, nodes})
}

// CodeOf returns the code of a rejected row.
func (r *Rejected) CodeOf(row int) Code {
	if r.Unresolvable.Has(row) {
		return UnschedulableAndUnresolvable
	}
	return Unschedulable
}

// ReasonsOf lists the reasons of a row.
func (r *Rejected) ReasonsOf(row int) []string {
	var out []string
	for i := range r.Reasons {
		if r.Reasons[i].Nodes.Has(row) {
			out = append(out, r.Reasons[i].Text)
		}
	}
	return out
}

// Merge adds what the same rule rejected in another pass.
func (r *Rejected) Merge(o *Rejected, rule *Plugin) {
	r.Nodes.Or(o.Nodes)
	r.Unresolvable.Or(o.Unresolvable)
	for _, reason := range o.Reasons {
		k := slices.IndexFunc(r.Reasons, func(own Reason) bool { return own.Text == reason.Text })
		if k < 0 {
			r.Reasons = append(r.Reasons, Reason{reason.Text, reason.Nodes.Clone()})
		} else {
			r.Reasons[k].Nodes.Or(reason.Nodes)
		}
	}
	if rule != nil && rule.ReasonRank != nil {
		rule.SortReasons(r.Reasons)
	}
}

// SortReasons orders reasons as the rule does, which has a ReasonRank.
func (p *Plugin) SortReasons(list []Reason) {
	slices.SortStableFunc(list, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(p.ReasonRank(a.Text), p.ReasonRank(b.Text)), strings.Compare(a.Text, b.Text))
	})
}

// Within returns the rejections of the rows of in alone.
func (r *Rejected) Within(q *Query, in state.Bits) Rejected {
	both := func(a state.Bits) state.Bits {
		out := q.Bits()
		copy(out, a)
		out.And(in)
		return out
	}
	out := Rejected{Plugin: r.Plugin, Nodes: both(r.Nodes), Unresolvable: both(r.Unresolvable)}
	for _, reason := range r.Reasons {
		if rows := both(reason.Nodes); !rows.Empty() {
			out.Reasons = append(out.Reasons, Reason{reason.Text, rows})
		}
	}
	return out
}

// mergeRejected adds more to have, plugin by plugin and reason by reason, in the order of the
// filters. The sets of both stay as they are.
func (q *Query) mergeRejected(have, more []Rejected) []Rejected {
	p := q.Profile
	for i := range more {
		m := &more[i]
		at := slices.IndexFunc(have, func(h Rejected) bool { return h.Plugin == m.Plugin })
		if at < 0 {
			have = append(have, *m)
			continue
		}
		both := have[at].Within(q, have[at].Nodes)
		both.Merge(m, p.RuleNamed(m.Plugin))
		have[at] = both
	}
	place := func(r Rejected) int {
		return slices.IndexFunc(p.Filter, func(i int) bool { return p.Rules[i].Name == r.Plugin })
	}
	slices.SortStableFunc(have, func(a, b Rejected) int { return place(a) - place(b) })
	return have
}
