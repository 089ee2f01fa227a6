package engine

import "berth/internal/engine/state"

// Classes are scores by class of rows: what a rule reads is mostly the same on all rows but a few,
// or on all rows of a topology domain.
type Classes struct {
	// Of is the class of each row, the last one where it is below 0; nil: all rows are of the last.
	Of []int32
	// Raw and Norm are the scores by class.
	Raw, Norm []int64
	// Own are the rows whose scores are in the columns instead.
	Own state.Bits
}

// ByClass sets the scores of all feasible rows by their class, but for those that are c.Own. Own is
// not nil.
func (s *Scores) ByClass(c Classes) { s.classes = c }

// Classes returns what ByClass set; ok is false where the columns have the scores of all rows.
func (s *Scores) Classes() (c *Classes, ok bool) { return &s.classes, s.classes.Own != nil }

// Class returns the class of a row.
func (c *Classes) Class(row int) int {
	if c.Of == nil || c.Of[row] < 0 {
		return len(c.Raw) - 1
	}
	return int(c.Of[row])
}

// addClasses is addWeighted for the scores by class. What classes of the same rows add is added in
// one pass.
func (r *Result) addClasses() {
	var of []int32
	var adds []int64 // by class of of, the last one first
	for i := range r.Scores {
		s := &r.Scores[i]
		c := &s.classes
		if c.Own == nil {
			continue
		}
		if len(adds) != len(c.Norm) || len(of) != len(c.Of) || of != nil && &of[0] != &c.Of[0] {
			r.addByClass(of, adds)
			of, adds = c.Of, make([]int64, len(c.Norm))
		}
		for class, norm := range c.Norm {
			adds[(class+1)%len(adds)] += s.Weight * norm
		}
		total := r.totals()
		for row := range c.Own.All() {
			total[row] += s.Weight * (s.Norm[row] - c.Norm[c.Class(row)])
		}
	}
	r.addByClass(of, adds)
}

func (r *Result) addByClass(of []int32, adds []int64) {
	if len(adds) == 0 {
		return
	}
	total := r.totals()
	for from, to := range r.Feasible.Runs() {
		totals := total[from:to]
		if of == nil {
			for k := range totals {
				totals[k] += adds[0]
			}
			continue
		}
		for k, class := range of[from:to] {
			totals[k] += adds[class+1]
		}
	}
}
