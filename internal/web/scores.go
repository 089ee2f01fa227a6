package web

import (
	"fmt"

	"berth/internal/engine"
	"berth/internal/words"
)

// wonBy describes the chosen node's lead over the next, and the one plugin without which the next
// would have won, if there is one. Nodes are in order, the chosen one first among equals.
func wonBy(nodes []engine.NodeVerdict, chosen string) string {
	if len(nodes) == 1 {
		return "It is the only node with a score."
	}
	if nodes[0].Name != chosen {
		return ""
	}
	first, next := &nodes[0], &nodes[1]
	lead := *first.Score - *next.Score
	if lead == 0 {
		return fmt.Sprintf("%s is as good: equals are ordered by a hash of pod and node.", next.Name)
	}
	text := fmt.Sprintf("It won by %s over %s", words.Plural(int(lead), "point"), next.Name)
	for _, s := range first.Scores {
		if s.Weighted-weighted(next, s.Plugin) > lead {
			return fmt.Sprintf("%s; without %s %s wins.", text, s.Plugin, next.Name)
		}
	}
	return text + "."
}
