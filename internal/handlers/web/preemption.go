package web

import (
	"html/template"

	"berth/internal/engine"
)

// sieveRow is one criterion of the choice among the candidates of a preemption.
type sieveRow struct {
	Criterion string
	// Fell candidates lost by the criterion, Left ones are still in.
	Fell, Left int
	Bar        template.HTML
}

// sieveOf draws the rounds of the choice, as the engine counts them over all candidates; nil where
// there is no choice.
func sieveOf(p *engine.Preemption) []sieveRow {
	if len(p.Rounds) == 0 {
		return nil
	}
	all := p.Rounds[0].Fell + p.Rounds[0].Left
	rows := []sieveRow{{Criterion: "evictions help", Left: all, Bar: bar(all, all, "good")}}
	for _, r := range p.Rounds {
		rows = append(rows, sieveRow{r.Criterion, r.Fell, r.Left, bar(r.Left, all, "good")})
	}
	return rows
}
