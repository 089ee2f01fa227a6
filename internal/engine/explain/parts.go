package explain

import "berth/internal/engine"

// partsOf is of how many of the best nodes the scores are taken apart.
const partsOf = 50

// parts takes raw scores apart. What a rule reads for it is read once.
type parts struct {
	r  *engine.Result
	of []func(row int) []engine.ScorePart // by score
}

func newParts(r *engine.Result) *parts {
	return &parts{r, make([]func(row int) []engine.ScorePart, len(r.Scores))}
}

// add adds the parts to the verdict on a feasible row.
func (p *parts) add(v *engine.NodeVerdict, row int) {
	for k := range v.Scores {
		rule := p.r.Scores[k].Rule
		split := p.r.Query.Profile.Rules[rule].ScoreParts
		if split == nil {
			continue
		}
		if p.of[k] == nil {
			p.of[k] = split(p.r.Query, p.r.States[rule], p.r.Feasible)
		}
		p.r.Query.Work(verdictSteps)
		v.Scores[k].Parts = p.of[k](row)
	}
}

// InParts explains one row as Verdict does, with the parts of its scores.
func InParts(r *engine.Result, row int) engine.NodeVerdict {
	v := Verdict(r, row)
	newParts(r).add(&v, row)
	return v
}

// AddParts adds what constraints and terms add to the scores of the best nodes of a written
// decision, and of the node with a name.
func AddParts(r *engine.Result, d *engine.Decision, name string) {
	if !r.Scored {
		return
	}
	wanted := r.Query.Bits()
	for _, row := range r.BestRows(partsOf) {
		wanted.Set(int(row))
	}
	if row := r.Nodes().Row(name); row >= 0 && r.Feasible.Has(row) {
		wanted.Set(row)
	}
	p := newParts(r)
	for i := range d.Nodes {
		if row := r.Nodes().Row(d.Nodes[i].Name); row >= 0 && wanted.Has(row) {
			p.add(&d.Nodes[i], row)
		}
	}
}
