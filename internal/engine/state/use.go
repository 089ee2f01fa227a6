package state

import (
	"math"
	"slices"
	"sync"
)

// Use is the sum of a node's pods. NonZero counts defaults for requests that containers lack.
type Use struct {
	Amount
	NonZeroCPU, NonZeroMem int64
	Pods                   int32
}

// add adds what pods count as.
func (u *Use) add(n *Counted, sign int64) {
	u.CPU += sign * n.Request.CPU
	u.Memory += sign * n.Request.Memory
	u.Ephemeral += sign * n.Request.Ephemeral
	u.NonZeroCPU += sign * n.NonZeroCPU
	u.NonZeroMem += sign * n.NonZeroMem
}

// useBlock is the sums of 16 rows.
type useBlock struct {
	of [BlockSize]Use
	// least is what each of the nodes has left at least.
	least Left
}

// Left is what is left of what a node offers.
type Left struct {
	Amount
	Pods int64
}

// unused is a block of rows without pods.
var unused useBlock

// Use returns the sum of a row's pods.
func (s *State) Use(row int) (u Use) {
	if b := s.use.block(row >> blockBits); b != nil {
		u = b.of[row&(BlockSize-1)]
	}
	return u
}

// Uses returns the sums of the rows [from, to), a run of Bits.BlockRuns. Not to be written.
func (s *State) Uses(from, to int) []Use {
	first := from & (BlockSize - 1)
	return s.uses(from).of[first : first+to-from]
}

// uses returns the block of a row.
func (s *State) uses(row int) *useBlock {
	if b := s.use.block(row >> blockBits); b != nil {
		return b
	}
	return &unused
}

// LeastLeft returns what the nodes of a row's block of 16 have left at least; nothing where it is
// not known. Not to be written.
func (s *State) LeastLeft(row int) *Left {
	return &s.uses(row).least
}

// weigh brings what is worked out from a row's sum up to date.
func (b *useBlock) weigh(set *NodeSet, row int) {
	first := row &^ (BlockSize - 1)
	least := &b.least
	*least = Left{Amount{math.MaxInt64, math.MaxInt64, math.MaxInt64}, math.MaxInt64}
	for k, n := range set.rows[first:min(first+BlockSize, len(set.rows))] {
		if n == nil {
			continue
		}
		c, u := &set.capacity[first+k], &b.of[k]
		left := c.Minus(&u.Amount)
		least.CPU, least.Memory, least.Ephemeral = min(least.CPU, left.CPU), min(least.Memory, left.Memory), min(least.Ephemeral, left.Ephemeral)
		least.Pods = min(least.Pods, c.Pods-int64(u.Pods))
	}
}

// Counts returns what pods of a class count as in the state. Not to be written.
func (s *State) Counts(c *Class) *Counted { return s.counting.of(c) }

// of returns what pods of a class count as.
func (c Counting) of(class *Class) *Counted {
	if c != 0 && class.others != nil {
		return &class.others[c-1]
	}
	return &class.Counted
}

// views are the states that differ from one in what pods count as, made at their first use.
type views struct {
	mu     sync.Mutex
	of     [Countings]*State
	step   uint64       // the step of the state in place that they were made at
	before *earlierSums // nil: of none
}

// earlierSums are the sums of an earlier state, and those of its views: a block of 16 rows that did
// not change since is theirs.
type earlierSums struct {
	use blocks[useBlock]
	was [Countings]blocks[useBlock]
}

// share makes a block of an earlier view one of the next; false where there is none or it changed.
func (b *earlierSums) share(next *State, id uint64, block int, now *useBlock) bool {
	if b == nil || b.use.block(block) != now {
		return false
	}
	was := b.was[next.counting].block(block)
	if was != nil {
		next.use.share(id, block, was)
	}
	return was != nil
}

// next returns a copy for an edit, with views of its own.
func (s *State) next() *State {
	next := *s
	next.views = &views{}
	if s.inPlace || s.varied.Total() == 0 {
		return &next
	}
	v := s.views
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.of == [Countings]*State{} {
		next.views.before = v.before
		return &next
	}
	before := &earlierSums{use: s.use}
	for c, view := range v.of {
		if view != nil {
			before.was[c] = view.use
		}
	}
	next.views.before = before
	return &next
}

// What the state of another Counting takes, in bytes: itself, a block of sums, and an extended
// resource beside its amounts, with their parts of groups.
const (
	bytesOfView      = 1 << 10
	bytesPerUseBlock = 960
	bytesPerScalar   = 512
)

// ViewBytes returns an upper bound of what the state of one other Counting takes beside this one,
// in bytes, whether it is made yet or not.
func (s *State) ViewBytes() int64 {
	varied := int64(s.varied.Total())
	if varied == 0 {
		return 0
	}
	rows := int64(len(s.nodes.Alive()) * 64)
	n := bytesOfView + min(varied, rows/BlockSize)*bytesPerUseBlock
	return n + int64(s.t.varyingScalars())*(bytesPerScalar+8*min(varied*ChunkSize, rows))
}

// ViewsBytes bounds what the states of all Countings take, and the sums that are kept of those of
// the state before.
func (s *State) ViewsBytes() int64 { return 2 * int64(Countings-1) * s.ViewBytes() }

// Under returns the state in which pods count by another Counting. All else is shared. Its sums are
// made once, from what the state before it had of it where that has not changed.
func (s *State) Under(c Counting) *State {
	if c == s.counting {
		return s
	}
	v := s.views
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.step != s.step {
		v.of, v.step = [Countings]*State{}, s.step
	}
	switch have := v.of[c]; {
	case have == nil:
		v.of[c] = s.derive(c, v)
	case s.inPlace: // pods that wait may have changed without a step
		next := *s
		next.counting, next.views, next.use, next.scalar = c, have.views, have.use, have.scalar
		v.of[c] = &next
	}
	return v.of[c]
}

// derive makes the state of another Counting.
func (s *State) derive(c Counting, v *views) *State {
	id, next := lastEdit.Add(1), *s
	next.counting, next.views = c, &views{}
	done := -1
	s.varied.Each(func(row, _ int32) {
		i := int(row) >> blockBits
		if i == done {
			return
		}
		done = i
		if !v.before.share(&next, id, i, s.use.block(i)) {
			s.recount(&next, id, i)
		}
	})
	s.recountScalars(&next, id)
	return &next
}

// recount sums up the pods of a block of rows by the Counting of next.
func (s *State) recount(next *State, id uint64, block int) {
	b := next.use.own(id, block)
	for row := block << blockBits; row < (block+1)<<blockBits; row++ {
		if s.varied.At(int32(row)) == 0 {
			continue
		}
		u := &b.of[row&(BlockSize-1)]
		for p := range s.PodsOn(row).All() {
			if p.Class.others != nil {
				u.add(s.Counts(p.Class), -1)
				u.add(next.Counts(p.Class), 1)
			}
		}
	}
	b.weigh(s.nodes, block<<blockBits)
}

// recountScalars does so for extended resources. These cannot be resized, so that hardly a pod
// differs in them.
func (s *State) recountScalars(next *State, id uint64) {
	if s.t.varyingScalars() == 0 {
		return
	}
	s.varied.Each(func(row, _ int32) {
		for p := range s.PodsOn(int(row)).All() {
			was, is := s.Counts(p.Class).Request.Scalars, next.Counts(p.Class).Request.Scalars
			if slices.Equal(was, is) {
				continue
			}
			for sign, list := range map[int64][]Scalar{-1: was, 1: is} {
				for _, sc := range list {
					at := next.scalar.edit(id, int(sc.ID))
					*at = (*at).add(id, int(row), sign*sc.N)
				}
			}
		}
	})
}
