package incremental

import (
	"math"
	"math/bits"
	"slices"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// Totals implements engine.Runner: sums of kept scores are kept as well, of the rows that pass the
// kept filters. All feasible ones do where there is a score.
func (m *memo) Totals(feasible, best state.Bits) (sums []int32, top int64, all bool) {
	again := func(s keptScore) bool { return s.kind == evaluateAgain }
	p := m.key.profile
	if m.hopeless || !feasible.Within(m.pass) || !room(p) {
		m.summed = false
		return nil, 0, false
	}
	m.sum(p, m.changed)
	if slices.ContainsFunc(m.scores, again) {
		return m.sums, 0, false
	}
	most := int32(math.MinInt32)
	for i, word := range feasible {
		if word == 0 || m.tops[i] < most {
			continue
		}
		sums, of := (*[state.ChunkSize]int32)(m.sums[i<<state.ChunkBits:]), m.tops[i]
		if word != m.pass[i] {
			of = highest(sums, word)
		}
		if of < most {
			continue
		}
		if of > most {
			most = of
			best[:i].Zero()
		}
		for k, sum := range sums {
			if sum == most {
				best[i] |= 1 << k
			}
		}
		best[i] &= word
	}
	return m.sums, int64(most), true
}

// highest returns the highest of those sums that a word names.
func highest(sums *[state.ChunkSize]int32, word uint64) int32 {
	most := int32(math.MinInt32)
	for ; word != 0; word &= word - 1 {
		most = max(most, sums[bits.TrailingZeros64(word)])
	}
	return most
}

// room reports whether sums of kept scores fit 32 bits.
func room(p *engine.Profile) bool {
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
func (m *memo) sum(p *engine.Profile, changed state.Bits) {
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
