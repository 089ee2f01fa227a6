package explain

import (
	"berth/internal/engine"
	"berth/internal/engine/state"
)

// failure is an entry of Failures with its nodes: those of rows that are unresolvable, or those
// that are not.
type failure struct {
	engine.FailureCount
	rows, unresolvable state.Bits
	hard               bool
}

// failures lists the rejections by plugin, code and reason, in the order that the rules ran.
func failures(r *engine.Result) []failure {
	if p := r.PreFilter; p != nil {
		if p.Plugin == "" {
			return nil
		}
		return []failure{{FailureCount: engine.FailureCount{Plugin: p.Plugin, Code: p.Code.String(), Reason: p.Reason, Nodes: r.Considered()}}}
	}
	var out []failure
	for i := range r.Rejected {
		rej := &r.Rejected[i]
		for _, reason := range rej.Reasons {
			hard := state.CountAnd(reason.Nodes, rej.Unresolvable)
			add := func(n int, code engine.Code) {
				if n > 0 {
					f := engine.FailureCount{Plugin: rej.Plugin, Code: code.String(), Reason: reason.Text, Nodes: n}
					out = append(out, failure{f, reason.Nodes, rej.Unresolvable, code != engine.Unschedulable})
				}
			}
			add(reason.Nodes.Count()-hard, engine.Unschedulable)
			add(hard, engine.UnschedulableAndUnresolvable)
		}
	}
	return out
}

// Failures counts the rejected nodes by plugin, code and reason, in the order that the rules ran.
func Failures(r *engine.Result) []engine.FailureCount {
	var out []engine.FailureCount
	for _, f := range failures(r) {
		out = append(out, f.FailureCount)
	}
	return out
}

// RejectedRows returns, for each entry of Failures, the rows of the nodes that it counts. They are
// not to be written. judged is false where the pod was rejected before nodes were judged: then they
// are all that the decision was about.
func RejectedRows(r *engine.Result) (rows []state.Bits, judged bool) {
	for _, f := range failures(r) {
		if f.rows == nil {
			return []state.Bits{r.Query.Candidates}, false
		}
		own := f.rows.Clone()
		if f.hard {
			own.And(f.unresolvable)
		} else {
			own.AndNot(f.unresolvable)
		}
		rows = append(rows, own)
	}
	return rows, true
}
