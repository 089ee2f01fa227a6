package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"berth/internal/engine"
)

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
