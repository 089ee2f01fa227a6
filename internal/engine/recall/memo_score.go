package recall

import (
	"math"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// keptScore is what is kept of a scorer.
type keptScore struct {
	kind      keptKind
	moves     bool  // the scores of rows change
	raw, norm int64 // where all rows have the same
	raws      []uint8
	peak      uint8 // no raw score is above it
	by        engine.Normalization
	norms     []uint8 // nil where they equal the raw ones
	most      int64   // the raw maximum that norms are made for; -1 before they are made
}

type keptKind uint8

const (
	unevaluated   keptKind = iota
	evaluateAgain          // nothing is kept
	keptNone
	keptUniform
	keptByRow
)

// Score implements engine.Runner.
func (m *memo) Score(q *engine.Query, k int, kept any, feasible state.Bits, out *engine.Scores) error {
	if m.hopeless {
		return engine.Direct{}.Score(q, k, kept, feasible, out)
	}
	if err := m.finishFilters(q); err != nil {
		return err
	}
	for ; m.scoredTo <= k; m.scoredTo++ {
		m.updateScore(q, m.scoredTo)
	}
	switch s := &m.scores[k]; s.kind {
	case keptNone:
		out.Skip()
	case keptUniform:
		out.Uniform(s.raw, s.norm)
	case keptByRow:
		if s.normalise(feasible) {
			m.summed = false
		}
		out.RawBytes, out.NormBytes, out.Kept = s.raws, s.norms, true
		if s.norms != nil {
			out.NormalizedByMax(s.by == engine.ByMaxReverse)
		}
	default:
		return engine.Direct{}.Score(q, k, kept, feasible, out)
	}
	return nil
}

// updateScore brings a scorer up to date: on the changed rows that pass the kept filters, or once
// for all rows, whether or not they are feasible now.
func (m *memo) updateScore(q *engine.Query, k int) {
	s, rule := &m.scores[k], q.Profile.Score[k].Rule
	f := q.Profile.Rules[rule]
	if m.whole {
		s.moves = m.near[rule] == engine.OwnRow
		switch {
		case f.Score == nil:
			s.kind = keptNone
		case m.live[rule]:
			s.kind = evaluateAgain
		}
	}
	switch {
	case s.kind == evaluateAgain || !m.whole && (s.kind == keptNone || s.kind == keptUniform) || f.Score == nil:
	case s.moves:
		s.ask(q, f, m.states[rule], m.rows, m.whole, &m.out)
		if s.kind == evaluateAgain {
			m.summed = false // the sums may have it
		}
	case s.kind == unevaluated:
		s.ask(q, f, m.states[rule], q.Nodes.Alive(), true, &m.out)
	}
}

// ask lets a scorer score rows and keeps the scores. It keeps none that do not fit a byte or that
// the rule normalises in its own way: such a rule runs every time, as one does after an error,
// which it will return again.
func (s *keptScore) ask(q *engine.Query, f *engine.Plugin, kept any, rows state.Bits, whole bool, out *engine.Scores) {
	if rows.Empty() && !whole {
		return
	}
	err := q.ScoreBy(f, kept, rows, out)
	raw, norm, uniform := out.AllEqual()
	_, classed := out.Classes()
	kind := keptByRow
	switch {
	case err != nil || classed:
		kind = evaluateAgain
	case out.Skipped():
		kind = keptNone
	case uniform:
		kind = keptUniform
	case !out.NormIsRaw() && out.Normalization() == engine.ByRule:
		kind = evaluateAgain
	}
	if !out.Skipped() && !uniform && out.RawBytes == nil {
		defer q.DropColumns(2)
	}
	if whole {
		s.kind, s.raw, s.norm, s.by, s.most = kind, raw, norm, out.Normalization(), -1
		s.raws, s.norms, s.peak = nil, nil, 0
		if kind != keptByRow {
			return
		}
		n := len(q.Nodes.Alive()) << state.ChunkBits
		s.raws = make([]uint8, n)
		if !out.NormIsRaw() {
			s.norms = make([]uint8, n)
		}
	}
	if kind != keptByRow || s.by != out.Normalization() || (s.norms == nil) != out.NormIsRaw() {
		s.kind = evaluateAgain
		return
	}
	s.most = -1
	var all int64
	for row := range rows.All() {
		v, _ := out.At(row)
		s.raws[row] = uint8(v)
		s.peak = max(s.peak, uint8(v))
		all |= v
	}
	if all&^math.MaxUint8 != 0 {
		s.kind = evaluateAgain
	}
}

// normalise brings the normalised scores of a kept column up to date. They depend on the feasible
// rows by the largest raw score alone, and all change with it.
func (s *keptScore) normalise(feasible state.Bits) (changed bool) {
	if s.norms == nil {
		return false
	}
	most := uint8(0)
	for row := range feasible.All() {
		if most = max(most, s.raws[row]); most == s.peak {
			break // this is the maximum, which some feasible row mostly has
		}
	}
	if int64(most) == s.most {
		return false
	}
	s.most = int64(most)
	// Rows above the maximum are not feasible; what is noted for them is not read.
	engine.NormBytesByMax(s.norms, s.raws, s.most, s.by == engine.ByMaxReverse)
	return true
}

// column returns the scores that the totals add up.
func (s *keptScore) column() []uint8 {
	if s.norms != nil {
		return s.norms
	}
	return s.raws
}
