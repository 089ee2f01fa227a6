package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"berth/internal/engine"
)

// topNodes returns up to n of the feasible nodes with a score, the best first, and among
// equals the chosen one.
func topNodes(nodes []engine.NodeVerdict, n int, chosen string) []engine.NodeVerdict {
	var out []engine.NodeVerdict
	for _, v := range nodes {
		if v.Feasible && v.Score != nil {
			out = append(out, v)
		}
	}
	slices.SortStableFunc(out, func(a, b engine.NodeVerdict) int {
		return cmp.Or(cmp.Compare(*b.Score, *a.Score), cmp.Compare(boolean(b.Name == chosen), boolean(a.Name == chosen)), cmp.Compare(a.Name, b.Name))
	})
	return out[:min(n, len(out))]
}

// scoresInLine names the plugins that gave the most points, the most first. Those
// in same are left out.
func scoresInLine(scores []engine.PluginScore, same map[string]bool) string {
	list := slices.Clone(scores)
	slices.SortStableFunc(list, func(a, b engine.PluginScore) int { return cmp.Compare(b.Weighted, a.Weighted) })
	var parts []string
	for _, s := range list {
		if s.Weighted != 0 && !same[s.Plugin] {
			parts = append(parts, fmt.Sprintf("%s %d", s.Plugin, s.Weighted))
		}
	}
	return strings.Join(parts, ", ")
}

// equalScores names the plugins that gave all nodes the same points.
func equalScores(nodes []engine.NodeVerdict) map[string]bool {
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
