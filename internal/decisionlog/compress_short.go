package decisionlog

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
	"sync"
)

// shortEncoder writes small inputs as blocks of S2 with the dictionary. The library's encoder
// clears a table of 64 KiB on the stack of each caller, which takes longer than the search.
type shortEncoder struct {
	text  []byte // the dictionary, and behind it the input
	known int    // bytes of the dictionary
	out   []byte // the block
	// own are places of the input in text by the hash of what begins there; 0: none.
	own [1 << ownBits]uint16
}

const (
	ownBits   = 10
	knownBits = 13
	// minCopy is the least number of equal bytes that are copied.
	minCopy = 4
)

// knownPlaces are the places of the dictionary by the hash of what begins there.
var knownPlaces = sync.OnceValue(func() *[1 << knownBits]uint16 {
	var at [1 << knownBits]uint16
	text := []byte(strings.TrimSuffix(dictionary1, "\n"))
	for i := range len(text) - 7 {
		at[hashOf(binary.LittleEndian.Uint64(text[i:]), knownBits)] = uint16(i)
	}
	return &at
})

var shortEncoders = sync.Pool{New: func() any {
	text := []byte(strings.TrimSuffix(dictionary1, "\n"))
	return &shortEncoder{text: text, known: len(text)}
}}

// hashOf hashes the first five bytes of eight.
func hashOf(v uint64, bits int) uint64 { return (v << 24) * 0x9e3779b97f4a7c15 >> (64 - bits) }

// packShort is pack of an input of up to smallInput bytes.
func packShort(js []byte) []byte {
	e := shortEncoders.Get().(*shortEncoder)
	defer shortEncoders.Put(e)
	e.text = append(e.text[:e.known], js...)
	e.out = append(e.out[:0], shortForm)
	if e.encode(); len(e.out) >= len(js) {
		return bytes.Clone(js)
	}
	return bytes.Clone(e.out)
}

// encode appends the block to out: what is equal at the last distance, where the input had the same
// bytes last, or in the dictionary.
func (e *shortEncoder) encode() {
	clear(e.own[:])
	known, text := knownPlaces(), e.text
	e.out = binary.AppendUvarint(e.out, uint64(len(text)-e.known))
	written, last := e.known, e.known // the decoder begins with this distance
	for at := e.known; at+8 <= len(text); {
		v := binary.LittleEndian.Uint64(text[at:])
		h := hashOf(v, ownBits)
		from := at - last
		if !e.begins(from, uint32(v)) {
			from = int(e.own[h])
			if from == 0 || !e.begins(from, uint32(v)) {
				from = int(known[hashOf(v, knownBits)])
			}
		}
		e.own[h] = uint16(at)
		if !e.begins(from, uint32(v)) {
			at += 2 + (at-written)>>5
			continue
		}
		n := e.equal(from, at)
		for at > written && from > 0 && from != e.known && text[from-1] == text[at-1] {
			from, at, n = from-1, at-1, n+1
		}
		e.literal(text[written:at])
		e.copied(at-from, n, last)
		last = at - from
		at += n
		written = at
	}
	e.literal(text[written:])
}

// begins reports whether the bytes at a place that can be copied are these.
func (e *shortEncoder) begins(from int, four uint32) bool {
	return binary.LittleEndian.Uint32(e.text[from:]) == four && (from+minCopy <= e.known || from >= e.known)
}

// equal returns how many bytes from two places on are equal. A copy from the dictionary ends with
// it.
func (e *shortEncoder) equal(from, at int) (n int) {
	a, b := e.text[from:], e.text[at:]
	if from < e.known {
		a = e.text[from:e.known]
	}
	for len(a) >= n+8 && len(b) >= n+8 {
		if x := binary.LittleEndian.Uint64(a[n:]) ^ binary.LittleEndian.Uint64(b[n:]); x != 0 {
			return n + bits.TrailingZeros64(x)>>3
		}
		n += 8
	}
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// literal appends bytes as they are.
func (e *shortEncoder) literal(b []byte) {
	switch n := len(b) - 1; {
	case n < 0:
		return
	case n < 60:
		e.out = append(e.out, byte(n)<<2)
	case n < 1<<8:
		e.out = append(e.out, 60<<2, byte(n))
	default:
		e.out = append(e.out, 61<<2, byte(n), byte(n>>8))
	}
	e.out = append(e.out, b...)
}

// copied appends the copy of n bytes at a distance: with the distance, up to 64, and the rest as
// repeats of the last distance.
func (e *shortEncoder) copied(distance, n, last int) {
	if distance != last {
		if distance < 1<<11 && n < 12 {
			e.out = append(e.out, byte(distance>>8)<<5|byte(n-4)<<2|1, byte(distance))
			return
		}
		first := n
		if n > 64 {
			first = min(64, n-minCopy)
		}
		e.out = append(e.out, byte(first-1)<<2|2, byte(distance), byte(distance>>8))
		if n -= first; n == 0 {
			return
		}
	}
	switch n -= minCopy; {
	case n < 5:
		e.out = append(e.out, byte(n)<<2|1, 0)
	case n < 1<<8+4:
		e.out = append(e.out, 5<<2|1, 0, byte(n-4))
	default:
		n -= 1 << 8
		e.out = append(e.out, 6<<2|1, 0, byte(n), byte(n>>8))
	}
}
