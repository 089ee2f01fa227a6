package upgrade

import (
	"cmp"
	"slices"
	"strings"

	"berth/internal/decision"
)

// examples is how many decisions a group names.
const examples = 3

// Group are decisions that differ in the same way by the same behaviours.
type Group struct {
	Kind Kind `json:"kind" enums:"fails,noLongerFits,fitsNow,otherVictims,otherNode,otherDevices,otherScores,otherMessage"`
	// Causes are names of behaviours; absent where none of those in which the releases differ makes
	// the difference.
	Causes    []string  `json:"causes,omitempty"`
	Decisions int       `json:"decisions"`
	Examples  []Example `json:"examples"`
} // @name UpgradeGroup

// Example is a decision of a group.
type Example struct {
	// ID is the record's; absent for a decision that was asked for the report.
	ID     string          `json:"id,omitempty"`
	Pod    decision.PodRef `json:"pod"`
	Before string          `json:"before"`
	After  string          `json:"after"`
} // @name UpgradeExample

// Tally groups changes.
type Tally struct{ groups map[string]*Group }

// Add counts the changes of a decision.
func (t *Tally) Add(id string, pod decision.PodRef, changes []Change) {
	if t.groups == nil {
		t.groups = map[string]*Group{}
	}
	for _, c := range changes {
		key := string(c.Kind) + " " + strings.Join(c.Causes, " ")
		g := t.groups[key]
		if g == nil {
			g = &Group{Kind: c.Kind, Causes: c.Causes}
			t.groups[key] = g
		}
		if g.Decisions++; len(g.Examples) < examples {
			g.Examples = append(g.Examples, Example{id, pod, c.Before, c.After})
		}
	}
}

// Groups lists the groups, the weightiest kind first, then those of most decisions.
func (t *Tally) Groups() []Group {
	list := make([]Group, 0, len(t.groups))
	for _, g := range t.groups {
		list = append(list, *g)
	}
	slices.SortFunc(list, func(a, b Group) int {
		return cmp.Or(
			cmp.Compare(weight(a.Kind), weight(b.Kind)),
			cmp.Compare(b.Decisions, a.Decisions),
			slices.Compare(a.Causes, b.Causes),
		)
	})
	return list
}
