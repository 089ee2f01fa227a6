package suggest

import (
	"cmp"
	"slices"

	"berth/internal/engine"
)

// Scored returns the feasible nodes with a score, the best first, and among equals the chosen one
// first.
func Scored(nodes []engine.NodeVerdict, chosen string) []engine.NodeVerdict {
	var out []engine.NodeVerdict
	for i := range nodes {
		if n := &nodes[i]; n.Feasible && n.Score != nil {
			out = append(out, *n)
		}
	}
	slices.SortStableFunc(out, func(a, b engine.NodeVerdict) int {
		switch {
		case *a.Score != *b.Score:
			return cmp.Compare(*b.Score, *a.Score)
		case a.Name == chosen:
			return -1
		case b.Name == chosen:
			return 1
		}
		return cmp.Compare(a.Name, b.Name)
	})
	return out
}

// EqualScores names the plugins that gave all nodes the same points.
func EqualScores(nodes []engine.NodeVerdict) map[string]bool {
	first, same := map[string]int64{}, map[string]bool{}
	for i, n := range nodes {
		for _, s := range n.Scores {
			if i == 0 {
				first[s.Plugin], same[s.Plugin] = s.Weighted, true
			}
			if first[s.Plugin] != s.Weighted {
				same[s.Plugin] = false
			}
		}
	}
	return same
}
