package recall

import (
	"math"
	"math/bits"
	"slices"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// maxTops is up to how many classes of rows have their best sums apart.
const maxTops = 16

// tops are the best of every 64 sums, by class of a column of classes. Rows without a class are of
// class 0, the others of one more than the column has.
type tops struct {
	of []int32 // nil: there is one class
	n  int
	// By block of 64 rows, then by class: the best sum, and the rows that have it.
	v  []int32
	at []uint64
}

// fit makes the tops those of other classes, and reports whether they were that already.
func (t *tops) fit(of []int32, n, blocks int) (same bool) {
	if n > maxTops {
		of, n = nil, 1
	}
	same = t.n == n && (of == nil) == (t.of == nil) && (of == nil || &of[0] == &t.of[0])
	if !same {
		*t = tops{of, n, make([]int32, n*blocks), make([]uint64, n*blocks)}
	}
	return same
}

// change takes a new sum of a row into account. It returns false where the best of its class have
// to be looked for again.
func (t *tops) change(row int, sum int32) bool {
	i, bit := row>>state.ChunkBits*t.n, uint64(1)<<(row&(state.ChunkSize-1))
	if t.of != nil {
		i += int(t.of[row] + 1)
	}
	switch {
	case sum > t.v[i]:
		t.v[i], t.at[i] = sum, bit
	case sum == t.v[i]:
		t.at[i] |= bit
	default:
		t.at[i] &^= bit
	}
	return t.at[i] != 0
}

// update finds the tops of a block.
func (t *tops) update(block int, sums *[state.ChunkSize]int32) {
	v, at := t.v[block*t.n:(block+1)*t.n], t.at[block*t.n:(block+1)*t.n]
	for class := range v {
		v[class], at[class] = math.MinInt32, 0
	}
	if t.of == nil {
		v[0] = state.Largest(sums)
		for k, sum := range sums {
			if sum == v[0] {
				at[0] |= 1 << k
			}
		}
		return
	}
	classes := t.of[block<<state.ChunkBits : min((block+1)<<state.ChunkBits, len(t.of))]
	for k, class := range classes {
		v[class+1] = max(v[class+1], sums[k])
	}
	for k, class := range classes {
		if sums[k] == v[class+1] {
			at[class+1] |= 1 << k
		}
	}
}

// Totals implements engine.Runner: sums of kept scores are kept as well, of the rows that pass the
// kept filters. All feasible ones do where there is a score.
func (m *memo) Totals(scores []engine.RuleScores, feasible, best state.Bits) (sums []int32, top int64, all bool) {
	p := m.key.profile
	if m.hopeless || !feasible.Within(m.pass) || !room(p) {
		m.summed = false
		return nil, 0, false
	}
	f, all := m.finderOf(scores)
	m.sum(p, f.of, f.n)
	if !all {
		return m.sums, 0, false
	}
	f.sums, f.feasible, f.best, f.most = m.sums, feasible, best, math.MinInt64
	f.find(&m.tops)
	clear(f.classed) // they hold columns of the decision
	return m.sums, f.most, true
}

// finder looks for the best totals of sums and scores by class.
type finder struct {
	sums           []int32
	feasible, best state.Bits
	most           int64

	classed []engine.RuleScores
	of      []int32 // the class of each row by all of these scores; nil: there is one class
	n       int
	adds    []int64    // what they add, by class as in tops
	own     state.Bits // the rows that have scores of their own by one of them; nil for none
}

// finderOf reads which scores are by class; ok is false where others have to be added too, or
// classes are not of one column.
func (m *memo) finderOf(scores []engine.RuleScores) (f *finder, ok bool) {
	f = &m.finder
	*f = finder{n: 1, classed: f.classed[:0], adds: f.adds[:0], own: f.own[:0]}
	for i := range scores {
		s := &scores[i]
		c, classed := s.Classes()
		_, _, uniform := s.AllEqual()
		switch {
		case classed && c.Of != nil && f.of != nil && &c.Of[0] != &f.of[0]:
			return &finder{n: 1}, false
		case classed:
			if f.classed = append(f.classed, *s); c.Of != nil {
				f.of, f.n = c.Of, len(c.Raw)
			}
		case !uniform && !s.Kept:
			return &finder{n: 1}, false
		}
	}
	f.adds = append(f.adds, make([]int64, f.n)...)
	for i := range f.classed {
		s := &f.classed[i]
		c, _ := s.Classes()
		for class := range f.adds {
			k := len(c.Norm) - 1
			if c.Of != nil && class > 0 {
				k = class - 1
			}
			f.adds[class] += s.Weight * c.Norm[k]
		}
		if i == 0 {
			f.own = append(f.own, c.Own...)
		} else {
			f.own.Or(c.Own)
		}
	}
	return f, true
}

// find looks at the rows with scores of their own, at the best rows of every block and class, and
// last at blocks whose best rows are none of the rest, where they may still have one of the best.
func (f *finder) find(t *tops) {
	for row := range f.own.AllAnd(f.feasible) {
		total := int64(f.sums[row])
		for i := range f.classed {
			_, norm := f.classed[i].At(row)
			total += f.classed[i].Weight * norm
		}
		f.take(row>>state.ChunkBits, 1<<(row&(state.ChunkSize-1)), total)
	}
	if t.n != f.n {
		most := slices.Max(f.adds)
		for block, top := range t.v {
			if int64(top)+most >= f.most {
				f.look(block)
			}
		}
		return
	}
	for block := range f.feasible {
		rest := f.rest(block)
		for class, add := range f.adds {
			i := block*t.n + class
			if rows := t.at[i] & rest; rows != 0 {
				f.take(block, rows, int64(t.v[i])+add)
			}
		}
	}
	for block := range f.feasible {
		rest := f.rest(block)
		for class, add := range f.adds {
			if i := block*t.n + class; t.at[i]&rest == 0 && int64(t.v[i])+add > f.most && rest != 0 {
				f.look(block)
				break
			}
		}
	}
}

// take takes rows of a block among the best where none has a higher total.
func (f *finder) take(block int, rows uint64, total int64) {
	if total < f.most {
		return
	}
	if total > f.most {
		f.most = total
		f.best.Zero()
	}
	f.best[block] |= rows
}

// rest returns the feasible rows of a block that have no scores of their own.
func (f *finder) rest(block int) uint64 {
	if len(f.own) == 0 {
		return f.feasible[block]
	}
	return f.feasible[block] &^ f.own[block]
}

// look adds up the rest of a block.
func (f *finder) look(block int) {
	for word := f.rest(block); word != 0; word &= word - 1 {
		row, class := block<<state.ChunkBits+bits.TrailingZeros64(word), 0
		if f.of != nil {
			class = int(f.of[row] + 1)
		}
		f.take(block, word&-word, int64(f.sums[row])+f.adds[class])
	}
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

// sum brings the sums of the kept scores up to date, and their tops by class; rows that do not pass
// have less than any sum.
func (m *memo) sum(p *engine.Profile, of []int32, classes int) {
	if m.sums == nil {
		m.sums = make([]int32, len(m.pass)<<state.ChunkBits)
	}
	same := m.tops.fit(of, classes, len(m.pass)) && m.summed
	for i, pass := range m.pass {
		rows := m.changed[i]
		if !m.summed {
			rows = ^uint64(0)
		}
		if rows == 0 && same {
			continue
		}
		sums, again := (*[state.ChunkSize]int32)(m.sums[i<<state.ChunkBits:]), !same
		for ; rows != 0; rows &= rows - 1 {
			k := bits.TrailingZeros64(rows)
			row := i<<state.ChunkBits + k
			sums[k] = math.MinInt32
			if pass>>k&1 == 1 {
				sums[k] = 0
				for j, w := range p.Score {
					if s := &m.scores[j]; s.kind == keptByRow {
						sums[k] += int32(w.Weight) * int32(s.column()[row])
					}
				}
			}
			again = again || !m.tops.change(row, sums[k])
		}
		if again {
			m.tops.update(i, sums)
		}
	}
	m.summed = true
}
