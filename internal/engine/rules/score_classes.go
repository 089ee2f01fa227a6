package rules

import (
	"math"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// classScores are raw scores by domain of a column, and by row for the rows that differ from their
// domain.
type classScores struct {
	engine.Classes
	column *state.Column // nil: all rows but Own have one score
}

// newClassScores makes scores, all 0, for the domains of a column and for the rows without one.
func newClassScores(q *engine.Query, column *state.Column) classScores {
	c, n := classScores{column: column}, 1
	if column != nil {
		n += len(column.Values)
		c.Of = column.Value
	}
	c.Raw, c.Norm, c.Own = make([]int64, n), make([]int64, n), q.Bits()
	return c
}

// span returns the least and the most of the scores of some rows, of which Own are a part.
func (c *classScores) span(rows state.Bits, raw []int64) (least, most int64) {
	least, most = math.MaxInt64, math.MinInt64
	for row := range c.Own.All() {
		least, most = min(least, raw[row]), max(most, raw[row])
	}
	for class, score := range c.Raw {
		if (score < least || score > most) && c.occurs(class, rows) {
			least, most = min(least, score), max(most, score)
		}
	}
	return least, most
}

// occurs reports whether one of the rows has the score of a class.
func (c *classScores) occurs(class int, rows state.Bits) bool {
	switch {
	case c.column == nil:
		return !rows.Within(c.Own)
	case class < len(c.column.Rows):
		for _, row := range c.column.Rows[class] {
			if rows.Has(int(row)) && !c.Own.Has(int(row)) {
				return true
			}
		}
	case !c.column.Whole:
		for row := range rows.All() {
			if c.column.Value[row] < 0 && !c.Own.Has(row) {
				return true
			}
		}
	}
	return false
}

// normalize sets the normalised scores that lie between the least and the most raw one; others do
// not occur.
func (c *classScores) normalize(least, most int64, one func(int64) int64, out *engine.Scores) {
	for class, score := range c.Raw {
		if score >= least && score <= most {
			c.Norm[class] = one(score)
		}
	}
	known := knownNorms(least, most, one)
	for row := range c.Own.All() {
		out.Norm[row] = normOf(known, least, out.Raw[row], one)
	}
	out.ByClass(c.Classes)
}

// maxKnownNorms is how far raw scores may be apart for each to be normalised once, not on each row.
const maxKnownNorms = 4096

// knownNorms returns the normalised scores of all raw ones from least to most; nil where these are
// too many.
func knownNorms(least, most int64, one func(int64) int64) []int64 {
	if most < least || uint64(most-least) >= maxKnownNorms {
		return nil
	}
	known := make([]int64, most-least+1)
	for i := range known {
		known[i] = one(least + int64(i))
	}
	return known
}

func normOf(known []int64, least, raw int64, one func(int64) int64) int64 {
	if known != nil {
		return known[raw-least]
	}
	return one(raw)
}
