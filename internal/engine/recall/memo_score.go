package recall

import (
	"slices"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// keptScore is what is kept of a scorer: its raw scores, which do not depend on which rows are
// feasible.
type keptScore struct {
	kind      keptKind
	moves     bool    // the scores of rows change
	raw, norm int64   // where all rows have the same
	raws      []int64 // by row
	by        engine.Normalization
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
		if out.Raw, out.Norm, out.Summed = s.raws, s.raws, s.summed(); !out.Summed {
			out.Norm = q.Column()
			engine.NormalizeByMax(feasible, out, s.by == engine.ByMaxReverse)
		}
	default:
		return engine.Direct{}.Score(q, k, kept, feasible, out)
	}
	return nil
}

// summed reports whether the sums have the scores. Those that follow from the largest one do not
// stay while others change.
func (s *keptScore) summed() bool { return s.kind == keptByRow && s.by == engine.ByRule }

// Sums implements engine.Runner.
func (m *memo) Sums() []int64 {
	if m.hopeless || !slices.ContainsFunc(m.scores, func(s keptScore) bool { return s.summed() }) {
		return nil
	}
	rows := m.changed
	if !m.summed {
		rows, m.summed = m.pass, true
		m.sums = make([]int64, len(m.pass)<<state.ChunkBits)
	}
	for row := range rows.AllAnd(m.pass) {
		m.sums[row] = 0
		for k, w := range m.key.profile.Score {
			if s := &m.scores[k]; s.summed() {
				m.sums[row] += w.Weight * s.raws[row]
			}
		}
	}
	return m.sums
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
	was := s.summed()
	switch {
	case m.renewed != nil && m.near[rule] == engine.NodesOnly && f.Score != nil && m.renew(q, s, f, m.states[rule]):
	case s.kind == evaluateAgain || !m.whole && (s.kind == keptNone || s.kind == keptUniform) || f.Score == nil:
	case s.moves:
		s.ask(q, f, m.states[rule], m.rows, m.whole, &m.out)
	case s.kind == unevaluated:
		s.ask(q, f, m.states[rule], q.Nodes.Alive(), true, &m.out)
	}
	m.summed = m.summed && s.summed() == was
}

// renew brings a scorer that reads nodes alone up to date for those that changed. It returns false
// where all nodes are to be scored.
func (m *memo) renew(q *engine.Query, s *keptScore, f *engine.Plugin, kept any) (done bool) {
	rows := q.Bits()
	copy(rows, m.renewed)
	rows.And(q.Nodes.Alive())
	switch s.kind {
	case keptByRow:
		s.ask(q, f, kept, rows, false, &m.out)
	case keptUniform:
		was := *s
		s.ask(q, f, kept, rows, true, &m.out)
		if s.kind != keptUniform || s.raw != was.raw || s.norm != was.norm {
			*s = keptScore{moves: was.moves}
		}
	case keptNone:
		*s = keptScore{moves: s.moves}
	}
	return s.kind != unevaluated
}

// ask lets a scorer score rows and keeps the scores. It keeps none that the rule normalises in its
// own way: such a rule runs every time, as one does after an error, which it will return again.
func (s *keptScore) ask(q *engine.Query, f *engine.Plugin, kept any, rows state.Bits, whole bool, out *engine.Scores) {
	if rows.Empty() && !whole {
		return
	}
	err := q.ScoreBy(f, kept, rows, out)
	raw, norm, uniform := out.AllEqual()
	kind := keptByRow
	switch {
	case err != nil:
		kind = evaluateAgain
	case out.Skipped():
		kind = keptNone
	case uniform:
		kind = keptUniform
	case !out.NormIsRaw() && out.Normalization() == engine.ByRule:
		kind = evaluateAgain
	}
	if !out.Skipped() && !uniform {
		defer q.DropColumns(2)
	}
	if whole {
		*s = keptScore{kind: kind, moves: s.moves, raw: raw, norm: norm, by: out.Normalization()}
		if kind == keptByRow {
			s.raws = make([]int64, len(out.Raw))
		}
	}
	if kind != keptByRow || s.by != out.Normalization() {
		if !whole {
			s.kind = evaluateAgain
		}
		return
	}
	for row := range rows.All() {
		s.raws[row] = out.Raw[row]
	}
}
