package engine

import (
	"math"
	"math/bits"
)

// ask lets a scorer score rows and keeps what it says. Scores that are not
// bytes, and normalised ones of the rule's own making, are not kept: the rule is
// asked every time then, as after an error, which it will give again.
func (s *keptScore) ask(q *Query, rows Bits, whole bool) {
	if rows.Empty() && !whole {
		return
	}
	columns := q.scratch.ncols
	defer func() { q.scratch.ncols = columns }()
	out := Scores{Raw: q.Column(), Norm: q.Column()}
	if err := s.scorer.Score(q, rows, &out); err != nil {
		s.kind = askAgain
		return
	}
	kind := saysByRow
	switch {
	case out.skip:
		kind = saysNothing
	case out.uniform:
		kind = saysAlike
	case !out.normIsRaw() && out.by == byRule:
		kind = askAgain
	}
	if whole {
		s.kind, s.raw, s.norm, s.by, s.most = kind, out.raw, out.norm, out.by, -1
		s.raws, s.norms = nil, nil
		if kind != saysByRow {
			return
		}
		s.raws = make([]uint8, len(out.Raw))
		if !out.normIsRaw() {
			s.norms = make([]uint8, len(out.Raw))
		}
	}
	if kind != saysByRow || s.by != out.by || (s.norms == nil) != out.normIsRaw() {
		s.kind = askAgain
		return
	}
	s.most = -1
	var all int64
	for i, word := range rows {
		for ; word != 0; word &= word - 1 {
			row := i<<leafBits + bits.TrailingZeros64(word)
			v := out.Raw[row]
			s.raws[row] = uint8(v)
			all |= v
		}
	}
	if all&^math.MaxUint8 != 0 {
		s.kind = askAgain
	}
}

// normalise brings the normalised scores of a kept column up to date. They
// depend on the feasible rows by the largest raw score alone.
func (s *keptScore) normalise(feasible Bits) {
	if s.norms == nil {
		return
	}
	most := uint8(0)
	for i, word := range feasible {
		for ; word != 0; word &= word - 1 {
			most = max(most, s.raws[i<<leafBits+bits.TrailingZeros64(word)])
		}
	}
	if int64(most) == s.most {
		return
	}
	s.most = int64(most)
	// Rows above the most are not feasible, and what is noted for them is not read.
	var known [math.MaxUint8 + 1]uint8
	for raw := range known {
		known[raw] = uint8(normalByMax(int64(raw), s.most, s.by == byMaxReverse))
	}
	for row, raw := range s.raws {
		s.norms[row] = known[raw]
	}
}

// column gives what the totals add up.
func (s *keptScore) column() []uint8 {
	if s.norms != nil {
		return s.norms
	}
	return s.raws
}

// score adds up kept and new scores and finds the best.
func (m *memo) score(r *Result) error {
	q, p := r.q, r.q.Profile
	r.total = q.Column()
	r.best = q.Bits()
	r.scores = make([]Scores, 0, len(p.Score))
	r.scoreRules = make([]WeightedRule, 0, len(p.Score))
	var alike int64
	clear(r.total)
	for k, w := range p.Score {
		s := &m.scores[k]
		if s.scorer == nil {
			continue
		}
		switch s.kind {
		case askAgain:
			same, err := r.scoreBy(s.scorer, w)
			if err != nil {
				return err
			}
			alike += same
			continue
		case saysNothing, notAsked:
			continue
		case saysAlike:
			r.scores = append(r.scores, Scores{uniform: true, raw: s.raw, norm: s.norm})
			alike += s.norm * w.Weight
		case saysByRow:
			s.normalise(r.Feasible)
			r.scores = append(r.scores, Scores{raws: s.raws, norms: s.norms})
			addNarrow(r.total, s.column(), w.Weight, r.Feasible)
		}
		r.scoreRules = append(r.scoreRules, w)
	}
	r.scored = true
	r.findBest(alike)
	return nil
}

// addNarrow is addWeighted for bytes. It adds for whole chunks: what it makes of
// rows that are not feasible is not read.
func addNarrow(total []int64, norm []uint8, weight int64, feasible Bits) {
	for i, word := range feasible {
		if word == 0 {
			continue
		}
		t, n := (*[leafSize]int64)(total[i<<leafBits:]), (*[leafSize]uint8)(norm[i<<leafBits:])
		for k := range t {
			t[k] += weight * int64(n[k])
		}
	}
}
