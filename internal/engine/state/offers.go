package state

import "math/bits"

// blockOffer is what a block of 16 nodes offers, as the shares of a pod are worked out from it.
type blockOffer struct {
	cpu, memory offer
	odd         uint16 // the rows without a node, or with one whose amounts do not divide
}

// offer is what the nodes of a block offer of one resource.
type offer struct {
	all int64 // where all offer the same
	// Where they do not, inverse is what a unit of 1<<shift is of what each offers, rounded up, the
	// whole being 1<<16. The unit is from a quarter to half of the least.
	inverse *fourWords
	shift   uint8
}

// maxOffer keeps products with a whole from an overflow.
const maxOffer = 1 << 48

// divides reports whether shares of cpu and memory can be told.
func (c *Capacity) divides() bool {
	return min(c.CPU, c.Memory) > 1 && max(c.CPU, c.Memory) <= maxOffer
}

// offersOf returns what the blocks of nodes offer.
func offersOf(capacity []Capacity) []blockOffer {
	out := make([]blockOffer, (len(capacity)+BlockSize-1)/BlockSize)
	for i := range out {
		o, first := &out[i], i<<blockBits
		o.odd = allRows
		var cpu, memory [BlockSize]int64
		for k, c := range capacity[first:min(first+BlockSize, len(capacity))] {
			if c.divides() {
				cpu[k], memory[k] = c.CPU, c.Memory
				o.odd &^= 1 << k
			}
		}
		o.cpu, o.memory = offerOf(&cpu), offerOf(&memory)
	}
	return out
}

// offerOf returns what nodes offer of one resource, 0 standing for none of which shares are told.
func offerOf(amounts *[BlockSize]int64) (o offer) {
	least, most := int64(maxOffer), int64(0)
	for _, n := range amounts {
		if n > 0 {
			least, most = min(least, n), max(most, n)
		}
	}
	if least >= most {
		o.all = most
		return o
	}
	o.shift, o.inverse = uint8(bits.Len64(uint64(least))-2), new(fourWords)
	for k, n := range amounts {
		if n > 0 {
			o.inverse.set(k, (1<<(laneBits+o.shift)+uint64(n)-1)/uint64(n))
		}
	}
	return o
}
