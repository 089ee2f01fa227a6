package state

import "math"

// Use is the sum of a node's pods. NonZero counts defaults for requests that containers lack.
type Use struct {
	Amount
	NonZeroCPU, NonZeroMem int64
	Pods                   int32
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
