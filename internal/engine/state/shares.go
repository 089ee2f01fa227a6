package state

import "math/bits"

// Shares are what the pods of a block of 16 nodes take of what these offer, where all of them offer
// as much cpu and memory: scores follow by additions, without a division for each node.
//
// The shares of cpu and memory are the upper and the lower half of one number. They are rounded
// down, so that pods and a further one take less than two units more than the sum of theirs.
type Shares struct {
	cpu, memory int64             // what each of the nodes offers; 0 where they differ
	nonZero     [BlockSize]uint64 // of the sums with defaults, the whole being hundred
	used        [BlockSize]uint64 // of the sums, the whole being unity
	unbalanced  [BlockSize]uint8  // Use.Unbalanced
}

const (
	percentBits, oneBits = 24, 30
	hundred, unity       = percent << percentBits, 1 << oneBits
	both                 = 1<<32 | 1 // times a share: of cpu and of memory
	// negative is set in what is left where pods take more than the whole, and the next lower bits
	// in what is used where they take all or more.
	negative = both << 31
	// maxCPU is the most millicores by which percents differ by two units or more, and maxMemory
	// keeps percents from an overflow.
	maxCPU, maxMemory = 1 << (percentBits - 1), 1 << 50
)

// Shares returns the shares of a row's block of 16; none where they are not known. Not to be
// written.
func (s *State) Shares(row int) *Shares {
	if b := s.use.block(row >> blockBits); b != nil {
		return &b.shares
	}
	return &unused.shares
}

// offer brings what each of the nodes offers up to date, and the shares where that changes.
func (s *Shares) offer(cpu, memory int64, of *[BlockSize]Use) {
	if min(cpu, memory) <= 0 || cpu > maxCPU || memory > maxMemory {
		cpu, memory = 0, 0
	}
	if s.cpu == cpu && s.memory == memory {
		return
	}
	s.cpu, s.memory = cpu, memory
	for k := range of {
		s.weigh(k, &of[k])
	}
}

// weigh brings the shares of a node up to date.
func (s *Shares) weigh(k int, u *Use) {
	if s.cpu == 0 {
		return
	}
	// One that takes more than all stays above it whatever a pod adds.
	s.nonZero[k], s.used[k], s.unbalanced[k] = both*(hundred+1), both*unity, uint8(u.Unbalanced)
	if s.has(u.NonZeroCPU, u.NonZeroMem) {
		s.nonZero[k] = s.of(u.NonZeroCPU, u.NonZeroMem, hundred)
	}
	if s.has(u.CPU, u.Memory) {
		s.used[k] = s.of(u.CPU, u.Memory, unity)
	}
}

// has reports whether the amounts are between 0 and what each of the nodes offers.
func (s *Shares) has(cpu, memory int64) bool {
	return min(cpu, memory) >= 0 && cpu <= s.cpu && memory <= s.memory
}

// of returns the shares of amounts.
func (s *Shares) of(cpu, memory int64, whole uint64) uint64 {
	return share(cpu, s.cpu, whole)<<32 | share(memory, s.memory, whole)
}

// share returns n×whole/of, rounded down; n is between 0 and of.
func share(n, of int64, whole uint64) uint64 {
	hi, lo := bits.Mul64(uint64(n), whole)
	q, _ := bits.Div64(hi, lo, uint64(of))
	return q
}

// PodShares are the shares of a pod, worked out once for blocks that offer the same.
type PodShares struct {
	CPU, Memory int64 // of the pod

	ofCPU, ofMemory int64
	known           bool
	left, used      uint64 // what a pod leaves of hundred, and what it takes of unity
}

// in makes them those of a block's nodes; false where it knows none, or a node does not offer
// what the pod takes.
func (p *PodShares) in(s *Shares) bool {
	if p.ofCPU != s.cpu || p.ofMemory != s.memory {
		p.ofCPU, p.ofMemory = s.cpu, s.memory
		if p.known = s.cpu != 0 && s.has(p.CPU, p.Memory); p.known {
			p.left, p.used = both*hundred-s.of(p.CPU, p.Memory, hundred), s.of(p.CPU, p.Memory, unity)
		}
	}
	return p.known
}

// PercentLeft writes what a pod leaves of each node's cpu and memory, in percent rounded down, and
// the mean of the two rounded down. It returns the rows that it cannot tell, a bit each, which are
// those next to a whole number.
func (p *PodShares) PercentLeft(s *Shares, out *[BlockSize]uint8) (rest uint16) {
	if !p.in(s) {
		return 1<<BlockSize - 1
	}
	// What is left is up to two units too much. Of cpu, percents that differ do so by more.
	const wholeMemory = 1<<percentBits - 2
	whole := p.left
	for k, taken := range &s.nonZero {
		left := whole - taken
		if left&negative != 0 || left&wholeMemory == 0 {
			rest |= 1 << k
			continue
		}
		out[k] = uint8((left>>(32+percentBits) + left>>percentBits&(1<<(32-percentBits)-1)) / 2)
	}
	return rest
}

// Balanced writes the balance of each node with a pod, beside that without: 75 where they are the
// same, and half of a point more for each that it is better. It returns the rows that it cannot
// tell, a bit each, which are those next to a whole number.
func (p *PodShares) Balanced(s *Shares, out *[BlockSize]uint8) (rest uint16) {
	if !p.in(s) {
		return 1<<BlockSize - 1
	}
	// Half of the difference, in percent, is up to 100 units too large or too small, and the
	// quotients that Balance rounds are off by less than a unit.
	const unsure = 128
	more := p.used
	for k, used := range &s.used {
		used += more
		apart := int64(used>>32) - int64(used&(1<<32-1))
		sign := apart >> 63
		costs := uint64(apart^sign-sign)*(percent/2) + unsure
		if used&(negative|negative>>1) != 0 || costs&(unity-1) < 2*unsure {
			rest |= 1 << k
			continue
		}
		out[k] = uint8(percent/2 + (percent/2-1+uint64(s.unbalanced[k])-costs>>oneBits)/2)
	}
	return rest
}
