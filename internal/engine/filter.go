package engine

import (
	"fmt"
	"sort"

	"berth/internal/engine/state"
)

// preFilter runs the first phase. It returns the names to which the nodes were narrowed (nil: all)
// and the plugins that narrowed them (pkg/scheduler/framework/runtime RunPreFilterPlugins).
func (r *Result) preFilter() (names map[string]struct{}, narrowing []string, err error) {
	q, p := r.Query, r.Query.Profile
	for _, i := range p.PreFilter {
		f := p.Rules[i]
		if f.PreFilter == nil {
			continue
		}
		state, res := r.run.PreFilter(q, i)
		r.States[i], r.Skipped[i] = state, res.Skip
		switch {
		case res.Skip:
			continue
		case res.Code == Error:
			return nil, nil, fmt.Errorf("%s: %s", f.Name, res.Reason)
		case res.Code == UnschedulableAndUnresolvable:
			r.PreFilter = &PreFilterRejection{f.Name, res.Code, res.Reason}
			return nil, nil, nil
		case res.Code == Unschedulable:
			// The others still run, since preemption may follow; the last one's reason is shown.
			r.PreFilter = &PreFilterRejection{f.Name, res.Code, res.Reason}
			continue
		}
		if res.Names == nil {
			continue
		}
		narrowing = append(narrowing, f.Name)
		if names == nil {
			names = res.Names
		} else {
			both := map[string]struct{}{}
			for n := range names {
				if _, ok := res.Names[n]; ok {
					both[n] = struct{}{}
				}
			}
			names = both
		}
		if len(names) == 0 {
			sort.Strings(narrowing)
			text := fmt.Sprintf("node(s) didn't satisfy plugin(s) %v simultaneously", narrowing)
			if len(narrowing) == 1 {
				text = "node(s) didn't satisfy plugin " + narrowing[0]
			}
			r.PreFilter, r.narrowing = &PreFilterRejection{f.Name, UnschedulableAndUnresolvable, text}, narrowing
			return nil, nil, nil
		}
	}
	r.narrowing = narrowing
	return names, narrowing, nil
}

// filter runs the filters over in, removes the rows that they reject, and adds the rejections to
// out. Each rule sees only the rows that passed the ones before it, so a node is listed under the
// first plugin that fails it.
func (r *Result) filter(out []Rejected, in state.Bits) ([]Rejected, error) {
	q, p := r.Query, r.Query.Profile
	for k, i := range p.Filter {
		f := p.Rules[i]
		if f.Filter == nil || r.Skipped[i] {
			continue
		}
		rej, err := r.run.Filter(q, k, r.States[i], in)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		if len(rej.Reasons) == 0 {
			continue
		}
		out = append(out, rej)
		in.AndNot(rej.Nodes)
		if in.Empty() {
			break
		}
	}
	return out, nil
}
