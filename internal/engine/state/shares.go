package state

import (
	"encoding/binary"
	"math/bits"
)

// shares are what the pods of a block of 16 nodes take of what these offer, in lanes: the scores by
// cpu and memory follow by additions, of four nodes at a time and without a division for each.
//
// A share is a number of parts, of which the whole has 25,600: 256 are one percent of it.
type shares struct {
	// cpu and memory are of the sums with defaults, rounded up. One more than the whole stands for
	// all that is more.
	cpu, memory fourWords
	// apart is the share of cpu less that of memory, of the sums, rounded down; below 0 in two's
	// complement.
	apart      fourWords
	unbalanced [BlockSize]uint8 // Use.Unbalanced
	odd        uint16           // the rows whose pods take less than nothing, or more than all
}

// fourWords are lanes for 16 rows.
type fourWords [BlockSize / 4]uint64

const (
	percentBits = 8
	whole       = percent << percentBits
	halfBits    = percentBits + 1 // of parts of half a percent
	allRows     = 1<<BlockSize - 1
	// maxSum keeps sums from an overflow with a pod.
	maxSum = 1 << 62
	// finer is how many more bits a difference has before it is rounded.
	finer = 16
)

// set sets the lane of a row.
func (w *fourWords) set(k int, n uint64) {
	word, at := &w[k>>3<<1|k&1], k>>1&3*laneBits
	*word = *word&^(oneLane<<at) | n&oneLane<<at
}

// weigh brings the shares of a node up to date.
func (s *shares) weigh(k int, u *Use, c *Capacity) {
	s.odd |= 1 << k
	if !c.divides() || min(u.CPU, u.Memory, u.NonZeroCPU, u.NonZeroMem) < 0 || u.CPU > c.CPU || u.Memory > c.Memory || max(u.NonZeroCPU, u.NonZeroMem) > maxSum {
		return
	}
	s.odd &^= 1 << k
	s.cpu.set(k, shareUp(u.NonZeroCPU, c.CPU))
	s.memory.set(k, shareUp(u.NonZeroMem, c.Memory))
	s.apart.set(k, uint64((fineShare(u.CPU, c.CPU)-fineShare(u.Memory, c.Memory))>>finer))
	s.unbalanced[k] = uint8(u.Unbalanced)
}

// shareUp returns a share, rounded up, and one more than the whole for all that is more.
func shareUp(n, of int64) uint64 {
	if n > of {
		return whole + 1
	}
	return (uint64(n)*whole + uint64(of) - 1) / uint64(of)
}

// fineShare returns a share with more bits, rounded down; n is between 0 and of.
func fineShare(n, of int64) int64 {
	hi, lo := bits.Mul64(uint64(n), whole<<finer)
	q, _ := bits.Div64(hi, lo, uint64(of))
	return int64(q)
}

// PodShares are the shares that one pod takes of the nodes of a block.
type PodShares struct {
	cpu, memory podShare
	unsure      uint64 // by how many parts one of them may be rounded up
}

// NewPodShares returns those of a pod with these requests.
func NewPodShares(cpu, memory int64) PodShares {
	return PodShares{cpu: podShare{amount: cpu}, memory: podShare{amount: memory}}
}

// in makes them those of a block; false where they are not known.
func (p *PodShares) in(o *blockOffer) bool {
	p.unsure = 1
	if o.cpu.inverse != nil || o.memory.inverse != nil {
		p.unsure = 3
	}
	return p.cpu.in(&o.cpu) && p.memory.in(&o.memory)
}

// podShare is the share of one resource, rounded up.
type podShare struct {
	amount int64
	all    int64 // what each of the nodes offers; 0 where they differ
	known  bool
	of     fourWords
}

// in makes them those of a block; false where a node offers less than the pod takes.
func (p *podShare) in(o *offer) bool {
	if o.inverse == nil {
		if p.all != o.all {
			p.all, p.known = o.all, o.all > 0 && p.amount >= 0 && p.amount <= o.all
			if p.known {
				n := lanes * shareUp(p.amount, o.all)
				p.of = fourWords{n, n, n, n}
			}
		}
		return p.known
	}
	if p.all = 0; p.amount < 0 || p.amount > 2<<o.shift {
		return false
	}
	// The share of the unit is at most twice the whole and an inverse at most 1<<15, so that two
	// products have 32 bits each. Rounded up are the share of the unit, which is less than half of
	// a part for the node, the inverse, less than four fifths of one, and the product, one at most.
	const low, high = 1<<32 | 1, lanes ^ (1<<32 | 1)
	n := (uint64(p.amount)*whole + 1<<o.shift - 1) >> o.shift
	for i, inverse := range o.inverse {
		even, odd := inverse&(low*oneLane)*n, inverse>>laneBits&(low*oneLane)*n
		p.of[i] = even>>laneBits&(low*oneLane) | odd&(high*oneLane) + lanes
	}
	return true
}

// PercentLeft writes what a pod leaves of the cpu and memory of 16 nodes from a row on, each in
// percent rounded down, and their mean rounded down. It returns the rows that it cannot tell, a
// bit each.
func (p *PodShares) PercentLeft(s *State, row int, out *[BlockSize]uint8) (rest uint16) {
	o := &s.nodes.offers[row>>blockBits]
	if !p.in(o) {
		return allRows
	}
	b := s.uses(row)
	// What is left is too little by less than one part for the pods, and by unsure for this one,
	// so that from unsure parts below a whole percent on it may reach that.
	const percents, next = lanes * 0x7f << percentBits, lanes << percentBits
	unsure := p.unsure * lanes
	rest = o.odd | b.shares.odd
	for i := 0; i < len(p.cpu.of); i += 2 {
		cpu0, memory0 := all-p.cpu.of[i]-b.shares.cpu[i], all-p.memory.of[i]-b.shares.memory[i]
		cpu1, memory1 := all-p.cpu.of[i+1]-b.shares.cpu[i+1], all-p.memory.of[i+1]-b.shares.memory[i+1]
		if cpu0&cpu1&memory0&memory1&guards != guards { // more is taken than there is
			cpu0, memory0, cpu1, memory1 = atLeast0(cpu0), atLeast0(memory0), atLeast0(cpu1), atLeast0(memory1)
		}
		next0 := (cpu0&oneByte + unsure) | (memory0&oneByte + unsure)
		next1 := (cpu1&oneByte + unsure) | (memory1&oneByte + unsure)
		if (next0|next1)&next != 0 {
			rest |= uint16(lanesSet(next0<<(15-percentBits), next1<<(15-percentBits))) << (4 * i)
		}
		mean0 := (cpu0&percents + memory0&percents) >> (percentBits + 1) & oneByte
		mean1 := (cpu1&percents + memory1&percents) >> (percentBits + 1) & oneByte
		binary.LittleEndian.PutUint64(out[4*i:], mean0|mean1<<8)
	}
	return rest
}

// all is the whole in each lane, with a guard that is gone where more is taken.
const all = guards | lanes*whole

// atLeast0 makes lanes without a guard 0.
func atLeast0(v uint64) uint64 { return v & (v&guards - v&guards>>(laneBits-1)) }

// Balanced writes the balance of 16 nodes from a row on with a pod, beside that without: 75 where
// they are the same, and half of a point more for each that it is better. It returns the rows that
// it cannot tell, a bit each.
func (p *PodShares) Balanced(s *State, row int, out *[BlockSize]uint8) (rest uint16) {
	o := &s.nodes.offers[row>>blockBits]
	if !p.in(o) {
		return allRows
	}
	b := s.uses(row)
	rest = o.odd | b.shares.odd
	if p.cpu.amount > b.least.CPU || p.memory.amount > b.least.Memory {
		// The balance of a node that pods take more of than it offers is another one.
		for k, c := range s.nodes.capacity[row:min(row+BlockSize, len(s.nodes.capacity))] {
			if u := &b.of[k]; p.cpu.amount > c.CPU-u.CPU || p.memory.amount > c.Memory-u.Memory {
				rest |= 1 << k
			}
		}
	}
	// The difference is off by less than unsure parts, one more for the pods, and one where cpu has
	// less. Next to a whole number the rounding of Balance tells, which is by far less than a part.
	const parts, sevenBits = lanes * (1<<halfBits - 1), lanes * 0x7f
	unsure := (p.unsure + 1) * lanes
	for i := 0; i < len(p.cpu.of); i += 2 {
		apart0 := apart(p.cpu.of[i], p.memory.of[i], b.shares.apart[i])
		apart1 := apart(p.cpu.of[i+1], p.memory.of[i+1], b.shares.apart[i+1])
		near0, near1 := below((apart0+unsure)&parts, 2*unsure), below((apart1+unsure)&parts, 2*unsure)
		if near0|near1 != 0 {
			rest |= uint16(lanesSet(near0, near1)) << (4 * i)
		}
		cost0, cost1 := splitBytes(b.shares.unbalanced[4*i:])
		// The guards keep lanes that are not told from the others.
		cost0 += (guards | lanes*(percent/2-1)) - apart0>>halfBits&sevenBits
		cost1 += (guards | lanes*(percent/2-1)) - apart1>>halfBits&sevenBits
		score0, score1 := cost0>>1&sevenBits+lanes*(percent/2), cost1>>1&sevenBits+lanes*(percent/2)
		binary.LittleEndian.PutUint64(out[4*i:], score0|score1<<8)
	}
	return rest
}

// apart returns how far shares of cpu and memory are apart with a pod's, one part less where that
// of cpu is less.
func apart(cpu, memory, others uint64) uint64 {
	pod := (cpu | guards) - memory
	sum := (others&^guards + pod&^guards) ^ (others^pod)&guards // 1<<15 more than it is, in each lane by itself
	return (sum ^ filled(^sum)) &^ guards
}
