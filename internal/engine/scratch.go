package engine

import (
	"sync"

	"berth/internal/engine/state"
)

// scratch is memory that decisions reuse. None of it outlives Release.
type scratch struct {
	rows     int
	bits     pool[state.Bits]
	columns  pool[[]int64]
	counts   pool[[]int32]
	states   pool[[]any]
	flags    pool[[]bool]
	rejected []Rejected
	scores   []RuleScores
}

// pool is memory of one kind, of which a decision takes one piece after the other.
type pool[T any] struct {
	list []T
	used int
}

// next returns the next piece, and whether it is yet to be made.
func (p *pool[T]) next() (piece *T, fresh bool) {
	if fresh = p.used == len(p.list); fresh {
		var none T
		p.list = append(p.list, none)
	}
	p.used++
	return &p.list[p.used-1], fresh
}

var scratchPool = sync.Pool{New: func() any { return &scratch{} }}

func getScratch(rows int) *scratch {
	s := scratchPool.Get().(*scratch)
	if s.rows != rows {
		*s = scratch{rows: rows}
	}
	return s
}

// Release gives back the scratch memory. The query must not be used after.
func (q *Query) Release() {
	s := q.scratch
	if s == nil {
		return
	}
	for _, states := range s.states.list[:s.states.used] {
		clear(states) // they may hold much
	}
	s.bits.used, s.columns.used, s.counts.used, s.states.used, s.flags.used = 0, 0, 0, 0, 0
	q.scratch = nil
	scratchPool.Put(s)
}

// Bits returns an empty set that lives as long as the decision.
func (q *Query) Bits() state.Bits {
	b, fresh := q.scratch.bits.next()
	if fresh {
		*b = state.NewBits(q.scratch.rows)
	} else {
		b.Zero()
	}
	return *b
}

// Column returns a column of one number a row that lives as long as the decision. Its content is
// undefined.
func (q *Query) Column() []int64 {
	c, fresh := q.scratch.columns.next()
	if fresh {
		*c = make([]int64, q.scratch.wholeChunks())
	}
	return *c
}

// wholeChunks returns the length of a column: whole chunks of 64 rows, as sets of rows have.
func (s *scratch) wholeChunks() int { return (s.rows + state.ChunkSize - 1) &^ (state.ChunkSize - 1) }

// DropColumns takes the last n columns back before the decision ends.
func (q *Query) DropColumns(n int) { q.scratch.columns.used -= n }

// Counts returns n zeros that live as long as the decision; n is at most the number of rows.
func (q *Query) Counts(n int) []int32 {
	c, fresh := q.scratch.counts.next()
	if fresh {
		*c = make([]int32, q.scratch.rows)
	}
	out := (*c)[:n]
	clear(out)
	return out
}

// perRule returns a PreFilter state and a flag for each rule, all zero.
func (q *Query) perRule() (states []any, flags []bool) {
	n := len(q.Profile.Rules)
	s, _ := q.scratch.states.next()
	if len(*s) != n {
		*s = make([]any, n)
	}
	f, _ := q.scratch.flags.next()
	if len(*f) != n {
		*f = make([]bool, n)
	}
	clear(*s)
	clear(*f)
	return *s, *f
}
