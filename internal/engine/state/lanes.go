package state

import "encoding/binary"

// A word has four numbers of 16 bits, its lanes, so that one operation is about four rows. Eight
// rows are two words, even and odd, whose lanes are the rows 0, 2, 4, 6 and 1, 3, 5, 7: that is how
// eight bytes come apart with a mask and a shift. Numbers below 1<<15 leave a lane's highest bit,
// the guard, to tell whether one is below another.
const (
	laneBits = 16
	lanes    = 0x0001000100010001 // times a number: it in every lane
	guards   = lanes << (laneBits - 1)
	oneLane  = 1<<laneBits - 1
	oneByte  = lanes * 0xff
	// LaneMost is the largest number of a lane with a guard.
	LaneMost = 1<<(laneBits-1) - 1
)

// splitBytes returns eight bytes in lanes.
func splitBytes(b []byte) (even, odd uint64) {
	v := binary.LittleEndian.Uint64(b)
	return v & oneByte, v >> 8 & oneByte
}

// lanesSet returns the rows whose lanes have their guard, a bit for each of eight.
func lanesSet(even, odd uint64) uint8 {
	const gather = 1<<48 | 1<<34 | 1<<20 | 1<<6 // moves two bits of each lane next to each other
	return uint8(((even&guards)>>15 | (odd&guards)>>14) * gather >> 48)
}

// ByteMask returns a byte for each of eight bits, all ones where the bit is set.
func ByteMask(set uint8) uint64 { return byteMasks[set] }

var byteMasks = func() (out [256]uint64) {
	for set := range out {
		for k := range 8 {
			out[set] |= uint64(-uint8(set>>k&1)) << (8 * k)
		}
	}
	return out
}()

// below returns lanes with a guard where a number of a is below that of b.
func below(a, b uint64) uint64 { return ^((a | guards) - b) & guards }

// filled returns lanes of all ones for those that have their guard.
func filled(a uint64) uint64 { return a&guards<<1 - a&guards>>(laneBits-1) }

// LaneSums are numbers up to LaneMost of 64 rows, in even and odd words.
type LaneSums [ChunkSize / 4]uint64

// AddBytes adds weight × each of 64 bytes.
func (s *LaneSums) AddBytes(of *[ChunkSize]uint8, weight uint64) {
	for k := 0; k < len(s); k += 2 {
		even, odd := splitBytes(of[4*k:])
		s[k] += even * weight
		s[k+1] += odd * weight
	}
}

// AddAll adds a number to each.
func (s *LaneSums) AddAll(n uint64) {
	for k := range s {
		s[k] += n * lanes
	}
}

// Add adds to the number of a row; what is below 0 may come before what it is taken from.
func (s *LaneSums) Add(k int, n int64) {
	s[k>>3<<1|k&1] += uint64(n) << (k >> 1 & 3 * laneBits)
}

// AddClasses adds to each row what its class has, that of rows without a class, which is below 0,
// being the first.
func (s *LaneSums) AddClasses(of []int32, adds []uint64) {
	k := 0
	for ; len(of) >= 8; k, of = k+2, of[8:] {
		o := (*[8]int32)(of)
		s[k] += adds[o[0]+1] + adds[o[2]+1]<<16 + adds[o[4]+1]<<32 + adds[o[6]+1]<<48
		s[k+1] += adds[o[1]+1] + adds[o[3]+1]<<16 + adds[o[5]+1]<<32 + adds[o[7]+1]<<48
	}
	for i, class := range of {
		s.Add(4*k+i, int64(adds[class+1]))
	}
}

// AddTo adds the numbers to others.
func (s *LaneSums) AddTo(to *[ChunkSize]int64) {
	for k := 0; k < len(s); k += 2 {
		out, e, o := (*[8]int64)(to[4*k:]), s[k], s[k+1]
		out[0] += int64(e & oneLane)
		out[1] += int64(o & oneLane)
		out[2] += int64(e >> 16 & oneLane)
		out[3] += int64(o >> 16 & oneLane)
		out[4] += int64(e >> 32 & oneLane)
		out[5] += int64(o >> 32 & oneLane)
		out[6] += int64(e >> 48)
		out[7] += int64(o >> 48)
	}
}

// AnyFrom reports whether one of the numbers is least or more.
func (s *LaneSums) AnyFrom(least uint64) bool {
	var reach uint64
	for _, v := range s {
		reach |= (v | guards) - least*lanes
	}
	return reach&guards != 0
}

// Most returns the largest number of some rows; 0 for none.
func (s *LaneSums) Most(rows uint64) int64 {
	var most uint64
	for k := 0; k < len(s); k += 2 {
		set := ByteMask(uint8(rows >> (4 * k)))
		even, odd := s[k]&(set&oneByte*0x101), s[k+1]&(set>>8&oneByte*0x101)
		most ^= (most ^ even) & filled(below(most, even))
		most ^= (most ^ odd) & filled(below(most, odd))
	}
	var out uint64
	for ; most != 0; most >>= laneBits {
		out = max(out, most&oneLane)
	}
	return int64(out)
}

// Equal returns the rows that have a number, a bit each.
func (s *LaneSums) Equal(n uint64) (rows uint64) {
	for k := 0; k < len(s); k += 2 {
		even, odd := s[k]^n*lanes, s[k+1]^n*lanes
		// A number that differs reaches the guard with all lower bits.
		rows |= uint64(^lanesSet(even+lanes*LaneMost, odd+lanes*LaneMost)) << (4 * k)
	}
	return rows
}
