package engine

import (
	"math"
	"math/bits"
	"slices"

	"berth/internal/engine/state"
)

// ask lets a scorer score rows and keeps the scores. It keeps none that do not fit a byte or that
// the rule normalises in its own way: such a rule runs every time, as one does after an error,
// which it will return again.
func (s *keptScore) ask(q *Query, state any, rows state.Bits, whole bool, out *Scores) {
	if rows.Empty() && !whole {
		return
	}
	defer func(columns int) { q.scratch.ncols = columns }(q.scratch.ncols)
	*out = Scores{Raw: q.Column(), Norm: q.Column()}
	if err := s.scorer.Score(q, state, rows, out); err != nil {
		s.kind = evaluateAgain
		return
	}
	kind := keptByRow
	switch {
	case out.skip:
		kind = keptNone
	case out.uniform:
		kind = keptUniform
	case !out.normIsRaw() && out.by == byRule:
		kind = evaluateAgain
	}
	if whole {
		s.kind, s.raw, s.norm, s.by, s.most = kind, out.raw, out.norm, out.by, -1
		s.raws, s.norms, s.peak = nil, nil, 0
		if kind != keptByRow {
			return
		}
		s.raws = make([]uint8, len(out.Raw))
		if !out.normIsRaw() {
			s.norms = make([]uint8, len(out.Raw))
		}
	}
	if kind != keptByRow || s.by != out.by || (s.norms == nil) != out.normIsRaw() {
		s.kind = evaluateAgain
		return
	}
	s.most = -1
	var all int64
	for row := range rows.All() {
		v := out.Raw[row]
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
	var known [math.MaxUint8 + 1]uint8
	for raw := range known {
		known[raw] = uint8(normalByMax(int64(raw), s.most, s.by == byMaxReverse))
	}
	for row, raw := range s.raws {
		s.norms[row] = known[raw]
	}
	return true
}

// column returns the scores that the totals add up.
func (s *keptScore) column() []uint8 {
	if s.norms != nil {
		return s.norms
	}
	return s.raws
}

// score merges kept and new scores and finds the best.
func (m *memo) score(r *Result, changed state.Bits) error {
	q, p := r.q, r.q.Profile
	r.best = q.Bits()
	r.scores, r.scoreRules = m.given[:0], m.givenBy[:0]
	defer func() { m.given, m.givenBy = r.scores, r.scoreRules }()
	keep := !m.anyLive && !m.apart && m.room(p)
	for k := range m.scores {
		s := &m.scores[k]
		keep = keep && s.kind != evaluateAgain
		if s.kind == keptByRow && s.normalise(r.Feasible) {
			m.summed = false
		}
	}
	if !keep {
		m.summed = false
		r.total = q.Column()
		clear(r.total)
	}
	for k, w := range p.Score {
		s := &m.scores[k]
		switch s.kind {
		case evaluateAgain:
			same, err := r.scoreBy(w)
			if err != nil {
				return err
			}
			r.common += same
			continue
		case keptUniform:
			r.scores = append(r.scores, Scores{uniform: true, raw: s.raw, norm: s.norm})
			r.common += s.norm * w.Weight
		case keptByRow:
			r.scores = append(r.scores, Scores{raws: s.raws, norms: s.norms})
			if !keep {
				addNarrow(r.total, s.column(), w.Weight, r.Feasible)
			}
		default:
			continue
		}
		r.scoreRules = append(r.scoreRules, w)
	}
	r.scored = true
	if !keep {
		r.findBest(r.common)
		return nil
	}
	m.sum(p, changed)
	r.sums = m.sums
	m.findBest(r)
	return nil
}

// room reports whether sums of kept scores fit 32 bits.
func (m *memo) room(p *Profile) bool {
	var most int64
	for _, w := range p.Score {
		if w.Weight < 0 || w.Weight > math.MaxInt32 {
			return false
		}
		most += w.Weight * math.MaxUint8
	}
	return most < math.MaxInt32
}

// sum brings the sums of the kept scores up to date, and the best of every 64 rows; rows that do
// not pass have less than any sum.
func (m *memo) sum(p *Profile, changed state.Bits) {
	if !m.summed {
		if m.sums == nil {
			m.sums, m.tops = make([]int32, len(m.pass)<<state.ChunkBits), make([]int32, len(m.pass))
		}
		changed, m.summed = nil, true
	}
	for i, pass := range m.pass {
		rows := ^uint64(0)
		if changed != nil {
			rows = changed[i]
		}
		if rows == 0 {
			continue
		}
		sums := (*[state.ChunkSize]int32)(m.sums[i<<state.ChunkBits:])
		for ; rows != 0; rows &= rows - 1 {
			k := bits.TrailingZeros64(rows)
			if pass>>k&1 == 0 {
				sums[k] = math.MinInt32
				continue
			}
			var sum int32
			for j, w := range p.Score {
				if s := &m.scores[j]; s.kind == keptByRow {
					sum += int32(w.Weight) * int32(s.column()[i<<state.ChunkBits+k])
				}
			}
			sums[k] = sum
		}
		// Four independent sums at a time, which the processor adds in parallel.
		a, b, c, d := sums[0], sums[1], sums[2], sums[3]
		for k := 4; k < state.ChunkSize; k += 4 {
			a, b, c, d = max(a, sums[k]), max(b, sums[k+1]), max(c, sums[k+2]), max(d, sums[k+3])
		}
		m.tops[i] = max(a, b, c, d)
	}
}

// findBest is Result.findBest over sums.
func (m *memo) findBest(r *Result) {
	top := slices.Max(m.tops)
	for i, of := range m.tops {
		if of != top {
			continue
		}
		var best uint64
		for k, sum := range (*[state.ChunkSize]int32)(m.sums[i<<state.ChunkBits:]) {
			if sum == top {
				best |= 1 << k
			}
		}
		r.best[i] = best
	}
	r.top = int64(top) + r.common
}

// addNarrow is addWeighted for bytes. It adds for whole chunks: the totals of rows that are not
// feasible are not read.
func addNarrow(total []int64, norm []uint8, weight int64, feasible state.Bits) {
	for i, word := range feasible {
		if word == 0 {
			continue
		}
		t, n := (*[state.ChunkSize]int64)(total[i<<state.ChunkBits:]), (*[state.ChunkSize]uint8)(norm[i<<state.ChunkBits:])
		for k := range t {
			t[k] += weight * int64(n[k])
		}
	}
}
