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

// addClasses is addWeighted for scores by class.
func (r *Result) addClasses(s *RuleScores) {
	c, total := &s.classes, r.totals()
	last := s.Weight * c.Norm[len(c.Norm)-1]
	for from, to := range r.Feasible.Runs() {
		totals := total[from:to]
		if c.Of == nil {
			for k := range totals {
				totals[k] += last
			}
			continue
		}
		for k, class := range c.Of[from:to] {
			if class < 0 {
				totals[k] += last
			} else {
				totals[k] += s.Weight * c.Norm[class]
			}
		}
	}
	for row := range c.Own.All() {
		total[row] += s.Weight * (s.Norm[row] - c.Norm[c.Class(row)])
	}
}
