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

// addRow rejects one row.
func (r *Rejected) addRow(q *Query, row int, code Code, reasons []string) {
	r.Nodes.Set(row)
	if code == UnschedulableAndUnresolvable {
		r.Unresolvable.Set(row)
	}
	for _, text := range reasons {
		k := slices.IndexFunc(r.Reasons, func(own Reason) bool { return own.Text == text })
		if k < 0 {
			k = len(r.Reasons)
			r.Reasons = append(r.Reasons, Reason{text, q.Bits()})
		}
		r.Reasons[k].Nodes.Set(row)
	}
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

// Merge adds what the same rule rejected in another pass. rank is that of a ReasonRanker, or nil.
func (r *Rejected) Merge(o *Rejected, rank func(text string) int) {
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
	if rank != nil {
		SortReasons(r.Reasons, rank)
	}
}

// SortReasons orders reasons by their rank.
func SortReasons(list []Reason, rank func(text string) int) {
	slices.SortStableFunc(list, func(a, b Reason) int {
		return cmp.Or(cmp.Compare(rank(a.Text), rank(b.Text)), strings.Compare(a.Text, b.Text))
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
