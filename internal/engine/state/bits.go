package state

import (
	"iter"
	"math/bits"
)

// Columns are read in chunks of 64 rows, as many as a word of Bits has.
const (
	ChunkBits = 6
	ChunkSize = 1 << ChunkBits
)

// Bits is a set of node rows. Sets of one NodeSet have the same length, so the
// operations below need no bounds of their own.
type Bits []uint64

// NewBits makes an empty set for n rows.
func NewBits(n int) Bits { return make(Bits, (n+63)>>6) }

// Has reports whether row is in the set.
func (b Bits) Has(row int) bool { return b[row>>6]&(1<<(row&63)) != 0 }

// Set adds row.
func (b Bits) Set(row int) { b[row>>6] |= 1 << (row & 63) }

// Clear removes row.
func (b Bits) Clear(row int) { b[row>>6] &^= 1 << (row & 63) }

// Count returns the number of rows in the set.
func (b Bits) Count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// Empty reports whether the set has no rows.
func (b Bits) Empty() bool {
	for _, w := range b {
		if w != 0 {
			return false
		}
	}
	return true
}

// And keeps the rows that are in o too.
func (b Bits) And(o Bits) {
	for i := range b {
		b[i] &= o[i]
	}
}

// AndNot removes the rows of o.
func (b Bits) AndNot(o Bits) {
	for i := range b {
		b[i] &^= o[i]
	}
}

// Or adds the rows of o.
func (b Bits) Or(o Bits) {
	for i := range b {
		b[i] |= o[i]
	}
}

// Within reports whether all rows of the set are in another one.
func (b Bits) Within(o Bits) bool {
	for i, w := range b {
		if w&^o[i] != 0 {
			return false
		}
	}
	return true
}

// Meets reports whether a row is in both sets.
func (b Bits) Meets(o Bits) bool {
	for i, w := range b {
		if w&o[i] != 0 {
			return true
		}
	}
	return false
}

// Zero empties the set.
func (b Bits) Zero() { clear(b) }

// Clone copies the set.
func (b Bits) Clone() Bits { return append(Bits(nil), b...) }

// All returns the rows in ascending order. The compiler inlines it, so that a range over it
// costs what a loop over the words would.
func (b Bits) All() iter.Seq[int] {
	return func(yield func(row int) bool) {
		for i, w := range b {
			for ; w != 0; w &= w - 1 {
				if !yield(i<<6 + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}

// AllAnd returns the rows that are in o too, in ascending order.
func (b Bits) AllAnd(o Bits) iter.Seq[int] {
	return func(yield func(row int) bool) {
		for i, w := range b {
			for w &= o[i]; w != 0; w &= w - 1 {
				if !yield(i<<6 + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}

// Runs returns the ranges [from, to) of consecutive rows, in ascending order; none crosses a word.
// Most sets of a large cluster have few holes, and a loop over a run's slice of a column takes half
// of what All takes, which looks for each next row.
func (b Bits) Runs() iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		for i, w := range b {
			for at := i << ChunkBits; w != 0; {
				skip := bits.TrailingZeros64(w)
				w >>= skip
				n := bits.TrailingZeros64(^w)
				if !yield(at+skip, at+skip+n) {
					return
				}
				w >>= n
				at += skip + n
			}
		}
	}
}

// BlockRuns is Runs in blocks of 16 rows, none of which a run crosses.
func (b Bits) BlockRuns() iter.Seq2[int, int] {
	return func(yield func(from, to int) bool) {
		for i, word := range b {
			for at := i << ChunkBits; word != 0; word >>= BlockSize {
				from := at
				for w := word & (1<<BlockSize - 1); w != 0; {
					skip := bits.TrailingZeros64(w)
					w >>= skip
					n := bits.TrailingZeros64(^w)
					if !yield(from+skip, from+skip+n) {
						return
					}
					w >>= n
					from += skip + n
				}
				at += BlockSize
			}
		}
	}
}

// First returns the lowest row, or -1.
func (b Bits) First() int {
	for i, w := range b {
		if w != 0 {
			return i<<6 + bits.TrailingZeros64(w)
		}
	}
	return -1
}

// CountAnd returns the number of rows that both sets hold.
func CountAnd(a, b Bits) int {
	n := 0
	for i := range a {
		n += bits.OnesCount64(a[i] & b[i])
	}
	return n
}

// grown returns the set with space for n rows. It keeps its backing array where that is large
// enough.
func (b Bits) grown(n int) Bits {
	want := (n + 63) >> 6
	if len(b) >= want {
		return b
	}
	return append(b, make(Bits, want-len(b))...)
}
