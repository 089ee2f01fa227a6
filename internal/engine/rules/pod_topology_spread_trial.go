package rules

import (
	"math"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

var _ engine.Trier[[]*spreadCounts] = (*PodTopologySpread)(nil)

// Try returns the trial of the rule: it judges a node by the skew with the pod placed there.
func (p *PodTopologySpread) Try(q *engine.Query, counts []*spreadCounts) engine.Trial {
	t := &spreadTrial{}
	list := make([]*spreadConstraint, len(counts))
	for i, c := range counts {
		list[i] = c.spreadConstraint
	}
	keyed := withKeys(q, list)
	for _, c := range counts {
		l := spreadLevel{spreadCounts: c, keyed: keyed, counting: c.counting(q, keyed), matches: make([]bool, q.State.Tables().Size())}
		// Pods added or removed in a trial count by the selector alone: also terminating ones, and
		// all of them under an empty selector.
		for _, s := range q.ShapesIn(nil, q.Pod.Namespace, c.selector) {
			if int(s.ID) < len(l.matches) {
				l.matches[s.ID] = true
			}
		}
		l.emptiest()
		t.levels = append(t.levels, l)
	}
	return t
}

// spreadLevel is one constraint on one node. Only the node's own domain changes while pods are
// added and removed, so of the other domains only the two emptiest matter.
type spreadLevel struct {
	*spreadCounts
	keyed, counting state.Bits
	matches         []bool   // by shape
	low             [2]int32 // counts of the two emptiest domains
	at              int32    // the value of the emptiest
	row, domain     int32
	counts          bool  // the node counts for the constraint
	moved           int32 // matching pods added, less those removed
}

func (l *spreadLevel) emptiest() {
	l.low, l.at = [2]int32{math.MaxInt32, math.MaxInt32}, -1
	for v, n := range l.matching {
		switch {
		case !l.isEligible(v):
		case n < l.low[0]:
			l.low[1], l.low[0], l.at = l.low[0], n, int32(v)
		case n < l.low[1]:
			l.low[1] = n
		}
	}
}

func (l *spreadLevel) begin(row int32) {
	l.row, l.domain, l.moved = row, l.column.Value[row], 0
	l.counts = l.keyed.Has(int(row)) && (l.counting == nil || l.counting.Has(int(row)))
}

// skewNow is the skew with the pod placed on the node.
func (l *spreadLevel) skewNow() int32 {
	n := l.matching[l.domain] + l.moved
	least := int32(0)
	if l.domains >= int(l.minDomains) && l.domains > 0 {
		others := l.low[0]
		if l.at == l.domain {
			others = l.low[1]
		}
		least = others
		if l.isEligible(int(l.domain)) {
			least = min(others, n)
		}
	}
	n -= least
	if l.self {
		n++
	}
	return n
}

// spreadTrial is PodTopologySpread on one node.
type spreadTrial struct{ levels []spreadLevel }

// Begin starts with the row's domains.
func (t *spreadTrial) Begin(row int32, nominated []*state.Pod) {
	for i := range t.levels {
		t.levels[i].begin(row)
	}
	for _, p := range nominated {
		t.Move(p, 1)
	}
}

// Move counts a pod in or out where the selector matches and the node counts.
func (t *spreadTrial) Move(p *state.Pod, n int32) {
	for i := range t.levels {
		if l := &t.levels[i]; l.counts && l.matches[p.Class.Shape.ID] {
			l.moved += n
		}
	}
}

// AffectedBy reports whether a selector matches pods of the class.
func (t *spreadTrial) AffectedBy(c *state.Class) bool {
	for i := range t.levels {
		if t.levels[i].matches[c.Shape.ID] {
			return true
		}
	}
	return false
}

// Fits reports whether no constraint exceeds its maxSkew.
func (t *spreadTrial) Fits() bool {
	for i := range t.levels {
		if l := &t.levels[i]; l.domain < 0 || l.skewNow() > l.MaxSkew {
			return false
		}
	}
	return true
}

// Verdict returns the first constraint's reason.
func (t *spreadTrial) Verdict() (engine.Code, []string) {
	for i := range t.levels {
		switch l := &t.levels[i]; {
		case l.domain < 0:
			return engine.UnschedulableAndUnresolvable, []string{ReasonSpreadNoLabel}
		case l.skewNow() > l.MaxSkew:
			return engine.Unschedulable, []string{ReasonSpread}
		}
	}
	return engine.Success, nil
}
