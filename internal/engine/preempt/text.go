package preempt

import (
	"fmt"
	"sort"
	"strings"

	"berth/internal/engine"
)

// Upstream's messages for nodes on which preemption does not help.
const (
	ReasonNoVictims  = "No preemption victims found for incoming pod"
	ReasonNotHelpful = "Preemption is not helpful for scheduling"
)

// Text is what DefaultPreemption adds to the message: why no evictions help, or else where they do,
// in releases that tell it (plugins/defaultpreemption PostFilter, framework/preemption Preempt).
func (s *Search) Text() string {
	switch {
	case s.best < 0:
		return "preemption: " + s.notHelpful()
	case s.ways.TellsPlacement:
		return fmt.Sprintf("preemption: found a potential placement for pod on node %s, preempting %d victims", s.r.NominatedNode(), s.candidates[s.best].victims)
	}
	return ""
}

// notHelpful counts the reasons why evictions help nowhere.
func (s *Search) notHelpful() string {
	if s.reason != "" {
		return s.reason
	}
	tried, counts := s.potential.Count(), map[string]int{}
	if n := s.bare.Count(); n > 0 {
		counts[ReasonNoVictims] = n
	}
	others := s.r.Query.Bits()
	others.Or(s.potential)
	others.AndNot(s.bare)
	for row := range others.All() {
		for _, reason := range s.whyNot(row).Reasons {
			counts[reason]++
		}
	}
	if n := s.r.Considered() - tried; n > 0 {
		counts[ReasonNotHelpful] += n
	}
	list := make([]string, 0, len(counts))
	for reason, n := range counts {
		list = append(list, fmt.Sprintf("%d %s", n, reason))
	}
	sort.Strings(list)
	return fmt.Sprintf("0/%d nodes are available: %s.", s.r.Considered(), strings.Join(list, ", "))
}

// whyNot returns the reason why evictions do not help on a node on which they were tried.
func (s *Search) whyNot(row int) engine.Rejection {
	if s.bare.Has(row) {
		return engine.Rejection{Code: engine.UnschedulableAndUnresolvable, Reasons: []string{ReasonNoVictims}}
	}
	j := s.runs
	k := j.q.State.Ranking(row, j.now)
	j.begin(row, k.Pods[k.Below(j.priority):])
	return j.why(row)
}
