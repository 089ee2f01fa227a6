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

// sieveOf counts the candidates that each criterion leaves. Those that the answer omits lost, too;
// nothing is known of where.
func sieveOf(p *engine.Preemption) []sieveRow {
	all := len(p.Candidates) + p.CandidatesOmitted
	if all == 0 {
		return nil
	}
	rows := []sieveRow{{Criterion: "evictions help", Left: all, Bar: bar(all, all, "good")}}
	for round := 1; ; round++ {
		row, more := sieveRow{}, false
		for i := range p.Candidates {
			switch lost := p.Candidates[i].Lost; {
			case lost == nil:
			case lost.Round == round:
				row.Criterion = lost.Criterion
				row.Fell++
			case lost.Round > round:
				more = true
			}
		}
		if row.Fell > 0 {
			row.Left = rows[len(rows)-1].Left - row.Fell
			row.Bar = bar(row.Left, all, "good")
			rows = append(rows, row)
		}
		if !more {
			return rows
		}
	}
}
