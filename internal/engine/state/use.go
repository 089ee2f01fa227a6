package state

import "math"

const percent = 100

// Use is the sum of a node's pods. NonZero counts defaults for requests that containers lack.
type Use struct {
	Amount
	NonZeroCPU, NonZeroMem int64
	Pods                   int32
	// Unbalanced is how many points of the balance score the node's uneven use of cpu and memory
	// costs: 0 to 50, see Balance, or unknown. It is kept here because it changes only with pods,
	// and every decision reads it.
	Unbalanced int32
}

// unknown is the Unbalanced of amounts that overflow. No score is as large.
const unknown = math.MaxInt32

// Balance scores how evenly cpu and memory are used, 50 to 100: 100 less the
// standard deviation of the two fractions, in percent
// (plugins/noderesources/balanced_allocation.go balancedResourceScore).
func Balance(cpu, cpuCapacity, memory, memoryCapacity int64) int64 {
	a, b := float64(cpu)/float64(cpuCapacity), float64(memory)/float64(memoryCapacity)
	if a > 1 {
		a = 1
	}
	if b > 1 {
		b = 1
	}
	return int64((1 - math.Abs((a-b)/2)) * percent)
}

// weigh brings Unbalanced up to date.
func (u *Use) weigh(c *Capacity) {
	u.Unbalanced = 0
	if c.CPU != 0 && c.Memory != 0 {
		if u.Unbalanced = unknown; min(u.CPU, u.Memory, c.CPU, c.Memory) >= 0 {
			u.Unbalanced = int32(percent - Balance(u.CPU, c.CPU, u.Memory, c.Memory))
		}
	}
}

// useBlock is the sums of 16 rows.
type useBlock struct {
	of [BlockSize]Use
	// least is what each of the nodes has left at least.
	least  Left
	shares shares
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
	b.of[row-first].weigh(&set.capacity[row])
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
	b.shares.weigh(row-first, &b.of[row-first], &set.capacity[row])
}
