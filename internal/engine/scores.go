package engine

import "berth/internal/engine/state"

// Scores is one rule's column of scores. The rule fills Raw and Norm for the feasible rows, or
// calls Uniform where all are the same, or Skip where it does not score.
type Scores struct {
	Raw, Norm []int64
	// Summed reports that a Runner's Sums have the scores.
	Summed bool

	skip      bool
	uniform   bool
	raw, norm int64
	by        Normalization
}

// RuleScores are the scores of one rule of the profile.
type RuleScores struct {
	WeightedRule
	Scores
}

// Normalization is how the normalised scores follow from the raw ones.
type Normalization uint8

// The normalisations.
const (
	ByRule       Normalization = iota // in the rule's own way
	ByMax                             // by NormalizeByMax
	ByMaxReverse                      // by NormalizeByMax, reversed
)

// NormalizedByMax marks Norm as the result of NormalizeByMax on Raw, for rules that compute it
// faster themselves.
func (s *Scores) NormalizedByMax(reverse bool) {
	s.by = ByMax
	if reverse {
		s.by = ByMaxReverse
	}
}

// Normalization returns how Norm follows from Raw.
func (s *Scores) Normalization() Normalization { return s.by }

// NormIsRaw reports whether the two are one column.
func (s *Scores) NormIsRaw() bool { return len(s.Raw) > 0 && &s.Raw[0] == &s.Norm[0] }

// Skipped reports whether the rule does not score.
func (s *Scores) Skipped() bool { return s.skip }

// AllEqual returns the score of Uniform; ok is false where nodes have scores of their own.
func (s *Scores) AllEqual() (raw, norm int64, ok bool) { return s.raw, s.norm, s.uniform }

// Skip marks the rule as not scoring this pod.
func (s *Scores) Skip() { s.skip = true }

// Uniform sets one score for all feasible nodes.
func (s *Scores) Uniform(raw, norm int64) { s.uniform, s.raw, s.norm = true, raw, norm }

// Same makes the normalised scores the raw ones.
func (s *Scores) Same() { s.Norm = s.Raw }

// At returns a feasible row's scores.
func (s *Scores) At(row int) (raw, norm int64) {
	if s.uniform {
		return s.raw, s.norm
	}
	return s.Raw[row], s.Norm[row]
}

// MaxScore is the best normalised score.
const MaxScore = 100

// NormalizeByMax maps raw scores to 0..100 in proportion to the largest, reversed if reverse is
// set, truncating as upstream does (plugins/helper/normalize_score.go DefaultNormalizeScore).
func NormalizeByMax(feasible state.Bits, out *Scores, reverse bool) {
	out.NormalizedByMax(reverse)
	var most int64
	for from, to := range feasible.Runs() {
		for _, raw := range out.Raw[from:to] {
			most = max(most, raw)
		}
	}
	one := func(raw int64) int64 { return NormalByMax(raw, most, reverse) }
	if most >= maxKnown {
		for row := range feasible.All() {
			out.Norm[row] = one(out.Raw[row])
		}
		return
	}
	// Raw scores are few and small, so each is divided once.
	var known [maxKnown]int64
	for raw := range most + 1 {
		known[raw] = one(raw)
	}
	for from, to := range feasible.Runs() {
		norm := out.Norm[from:to]
		for k, raw := range out.Raw[from:to] {
			norm[k] = known[raw]
		}
	}
}

// NormalByMax is what NormalizeByMax makes of one raw score, most being the largest.
func NormalByMax(raw, most int64, reverse bool) int64 {
	var n int64
	if most > 0 {
		n = MaxScore * raw / most
	}
	if reverse {
		n = MaxScore - n
	}
	return n
}

// maxKnown is the raw score up to which normalised ones are looked up.
const maxKnown = 512
