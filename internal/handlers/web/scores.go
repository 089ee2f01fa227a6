package web

import (
	"fmt"
	"html/template"

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

// scoreBin is how many nodes have a total from one number of points to another.
type scoreBin struct {
	From, To int64
	Nodes    int
	Chosen   bool // the chosen node is one of them
	Bar      template.HTML
}

// binsOf counts nodes in ten equal ranges of points, the highest first; nodes are in order. It is
// nil where the table of scores has all of them.
func binsOf(nodes []engine.NodeVerdict, chosen string) []scoreBin {
	if len(nodes) <= shownScores {
		return nil
	}
	const most = 10
	high, low := *nodes[0].Score, *nodes[len(nodes)-1].Score
	width := (high-low)/most + 1
	bins := make([]scoreBin, (high-low)/width+1)
	for i := range bins {
		bins[i].To = high - int64(i)*width
		bins[i].From = max(bins[i].To-width+1, low)
	}
	for i := range nodes {
		b := &bins[(high-*nodes[i].Score)/width]
		b.Nodes++
		b.Chosen = b.Chosen || nodes[i].Name == chosen
	}
	for i := range bins {
		bins[i].Bar = bar(bins[i].Nodes, len(nodes), "s0")
	}
	return bins
}
