package engine

import "berth/internal/engine/state"

// Plugin is a rule as the cycle runs it: a function for each phase, nil for those that the rule
// does not implement. State is what PreFilter returned, nil where it did not run.
type Plugin struct {
	Name string

	PreEnqueue func(q *Query) string
	PreFilter  func(q *Query) (state any, r PreFilterResult)
	Filter     func(q *Query, state any, in state.Bits, rej *Rejected) error
	PostFilter func(r *Result, state any) PostFilterResult
	Score      func(q *Query, state any, feasible state.Bits, out *Scores) error
	PreBind    func(q *Query, state any, row int, a *Effects) error

	// Try and Measure are set for filters whose verdict changes with the pods on a node.
	Try     func(q *Query, state any) Trial
	Measure func(q *Query) (need state.Amount, rest Trial)

	// Locality is read by a Decider. Without it a rule judges all rows every time.
	Locality   func(q *Query) Locality
	ReasonRank func(text string) int

	// Hints are what the queue asks about events after the rule has rejected a pod.
	Hints []Hint

	// These are read by explanations.
	Details      func(q *Query, state any, row int) []Detail
	NameBlockers func(q *Query, state any, row int, details []Detail)
	// PreFilterDetails are named already.
	PreFilterDetails func(q *Query) []Detail
	ScoreParts       func(q *Query, state any, feasible state.Bits) func(row int) []ScorePart
	Devices          func(q *Query, state any, row int) []AllottedDevice
	Volumes          func(q *Query, state any, row int) []VolumeBinding
	Spread           func(q *Query) []SpreadConstraint
	NamePods         func(q *Query, table []SpreadConstraint)
	Skews            func(q *Query) []Skew
	NotEvaluated     func(q *Query) (reason string, ok bool)
}

// Adapt makes a plugin from a rule whose PreFilter state is an S. It is the only place where states
// lose their type and get it back.
func Adapt[S any](rule Rule) *Plugin {
	typed := func(state any) S {
		s, _ := state.(S)
		return s
	}
	p := &Plugin{Name: rule.Name()}
	if r, ok := rule.(PreEnqueuer); ok {
		p.PreEnqueue = r.PreEnqueue
	}
	if r, ok := rule.(PreFilterer[S]); ok {
		p.PreFilter = func(q *Query) (any, PreFilterResult) { return r.PreFilter(q) }
	}
	if r, ok := rule.(Filterer[S]); ok {
		p.Filter = func(q *Query, state any, in state.Bits, rej *Rejected) error {
			return r.Filter(q, typed(state), in, rej)
		}
	}
	if r, ok := rule.(PostFilterer[S]); ok {
		p.PostFilter = func(on *Result, state any) PostFilterResult { return r.PostFilter(on, typed(state)) }
	}
	if r, ok := rule.(Scorer[S]); ok {
		p.Score = func(q *Query, state any, feasible state.Bits, out *Scores) error {
			return r.Score(q, typed(state), feasible, out)
		}
	}
	if r, ok := rule.(PartScorer[S]); ok {
		p.ScoreParts = func(q *Query, state any, feasible state.Bits) func(row int) []ScorePart {
			return r.ScoreParts(q, typed(state), feasible)
		}
	}
	if r, ok := rule.(PreBinder[S]); ok {
		p.PreBind = func(q *Query, state any, row int, a *Effects) error { return r.PreBind(q, typed(state), row, a) }
	}
	if r, ok := rule.(Trier[S]); ok {
		p.Try = func(q *Query, state any) Trial { return r.Try(q, typed(state)) }
	}
	if r, ok := rule.(Measurer); ok {
		p.Measure = r.Measure
	}
	if r, ok := rule.(Local); ok {
		p.Locality = r.Locality
	}
	if r, ok := rule.(ReasonRanker); ok {
		p.ReasonRank = r.ReasonRank
	}
	if r, ok := rule.(Hinter); ok {
		p.Hints = r.Hints()
	}
	if r, ok := rule.(Detailer[S]); ok {
		p.Details = func(q *Query, state any, row int) []Detail { return clipped(r.Details(q, typed(state), row)) }
	}
	if r, ok := rule.(BlockerNamer[S]); ok {
		p.NameBlockers = func(q *Query, state any, row int, details []Detail) {
			for i := range details {
				r.NameBlockers(q, typed(state), row, &details[i])
			}
			named(details)
		}
	}
	if r, ok := rule.(PreFilterDetailer); ok {
		p.PreFilterDetails = func(q *Query) []Detail {
			out := clipped(r.PreFilterDetails(q))
			named(out)
			return out
		}
	}
	if r, ok := rule.(Allotter[S]); ok {
		p.Devices = func(q *Query, state any, row int) []AllottedDevice { return r.Allotted(q, typed(state), row) }
	}
	if r, ok := rule.(VolumePlanner[S]); ok {
		p.Volumes = func(q *Query, state any, row int) []VolumeBinding { return r.Volumes(q, typed(state), row) }
	}
	if r, ok := rule.(Spreader); ok {
		p.Spread, p.NamePods, p.Skews = r.Spread, r.NamePods, r.Skews
	}
	if r, ok := rule.(Abstainer); ok {
		p.NotEvaluated = r.NotEvaluated
	}
	return p
}
