package digest

import (
	"encoding/binary"
	"math"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// appendScores writes a rule's scores of the feasible nodes, rows being their indexes in order of
// name: the raw ones, then the normalised ones unless they are the same. The form depends on the
// values alone, not on how the rule computed them.
func appendScores(b []byte, r *engine.Result, rows state.Bits, s *engine.Scores) []byte {
	if raw, norm, equal := s.AllEqual(); equal {
		b = appendUniform(b, raw)
		if raw == norm {
			return append(b, '=')
		}
		return appendUniform(b, norm)
	}
	from := len(b)
	b = appendColumn(b, r, rows, s.Raw, s.RawBytes)
	if s.NormIsRaw() {
		return append(b, '=')
	}
	at := len(b)
	b = appendColumn(b, r, rows, s.Norm, s.NormBytes)
	if string(b[from:at]) == string(b[at:]) {
		b = append(b[:at], '=')
	}
	return b
}

func appendUniform(b []byte, v int64) []byte { return binary.AppendVarint(append(b, 'u'), v) }

// appendColumn writes the values of the feasible nodes in the shortest of four forms: one value
// that they all have; one byte each, 64 at a time, without blocks that have no feasible node, and 0
// for other nodes; two bytes each, as the difference to the least; eight bytes each. Values are in
// wide, or in narrow where the caller knows that they fit a byte.
func appendColumn(b []byte, r *engine.Result, rows state.Bits, wide []int64, narrow []uint8) []byte {
	from := len(b)
	b = append(b, 'b')
	var first, differ int64
	fits := true
	if narrow != nil {
		b, first, differ = appendNarrow(b, r, rows, narrow)
	} else {
		b, first, differ, fits = appendBytes(b, r, rows, wide)
	}
	switch {
	case differ == 0:
		return appendUniform(b[:from], first)
	case fits:
		return b
	}
	return appendWide(b[:from], r, rows, wide)
}

// appendBytes writes a column in blocks of bytes, eight at a time. It returns the first value, bits
// in which others differ from it, and whether all fit a byte; it stops at one that does not.
func appendBytes(b []byte, r *engine.Result, rows state.Bits, col []int64) (out []byte, first, differ int64, fits bool) {
	set := r.Query.Nodes
	first = col[r.Feasible.First()]
	ones := uint64(uint8(first)) * 0x0101010101010101
	var other uint64
	for i, word := range rows {
		if word == 0 {
			continue
		}
		chunk := (*[state.ChunkSize]int64)(col[i<<state.ChunkBits:])
		if !set.InOrder() {
			chunk = inOrder(set, col, i)
		}
		at := len(b)
		b = append(b, make([]byte, state.ChunkSize)...)
		for k := 0; k < state.ChunkSize; k += 8 {
			some := word >> k & 0xff
			packed, all := pack((*[8]int64)(chunk[k:]))
			if all&^0xff != 0 && wideAmong((*[8]int64)(chunk[k:]), some) {
				return b, first, differing(r.Feasible, col, first), false
			}
			mask := spread[some]
			other |= (packed ^ ones) & mask
			binary.LittleEndian.PutUint64(b[at+k:], packed&mask)
		}
	}
	return b, first, int64(other), true
}

// inOrder returns a block of a column in order of the nodes' names.
func inOrder(set *state.NodeSet, col []int64, block int) *[state.ChunkSize]int64 {
	var out [state.ChunkSize]int64
	order := set.Order()[block<<state.ChunkBits:]
	for k, row := range order[:min(len(order), state.ChunkSize)] {
		out[k] = col[row]
	}
	return &out
}

// pack returns the low bytes of eight values, and all bits that are set in them.
func pack(v *[8]int64) (packed uint64, all int64) {
	low := func(k int) uint64 { return uint64(uint8(v[k])) << (8 * k) }
	packed = low(0) | low(1) | low(2) | low(3) | low(4) | low(5) | low(6) | low(7)
	return packed, v[0] | v[1] | v[2] | v[3] | v[4] | v[5] | v[6] | v[7]
}

// wideAmong reports whether one of the values that some names does not fit a byte. The others may
// hold anything.
func wideAmong(v *[8]int64, some uint64) bool {
	for k := range v {
		if some>>k&1 == 1 && v[k]&^0xff != 0 {
			return true
		}
	}
	return false
}

// differing returns bits in which a value of the rows differs from the first; 0 where none does.
func differing(rows state.Bits, col []int64, first int64) int64 {
	for row := range rows.All() {
		if col[row] != first {
			return col[row] ^ first
		}
	}
	return 0
}

// appendNarrow is appendBytes for a column of bytes, eight at a time.
func appendNarrow(b []byte, r *engine.Result, rows state.Bits, col []uint8) (out []byte, first, differ int64) {
	set := r.Query.Nodes
	one := col[r.Feasible.First()]
	ones := uint64(one) * 0x0101010101010101
	var other uint64
	for i, word := range rows {
		if word == 0 {
			continue
		}
		at := len(b)
		b = append(b, col[i<<state.ChunkBits:(i+1)<<state.ChunkBits]...)
		block := (*[state.ChunkSize]byte)(b[at:])
		if !set.InOrder() {
			for k := range block {
				if word>>k&1 == 1 {
					block[k] = col[set.Order()[i<<state.ChunkBits+k]]
				}
			}
		}
		for k := 0; k < state.ChunkSize; k += 8 {
			mask := spread[word>>k&0xff]
			v := binary.LittleEndian.Uint64(block[k:]) & mask
			other |= (v ^ ones) & mask
			binary.LittleEndian.PutUint64(block[k:], v)
		}
	}
	return b, int64(one), int64(other)
}

// spread has a byte for each of eight bits, all ones where the bit is set.
var spread = func() (out [256]uint64) {
	for set := range out {
		for k := range 8 {
			out[set] |= uint64(-uint8(set>>k&1)) << (8 * k)
		}
	}
	return out
}()

// appendWide writes values that do not fit a byte: two bytes each, as the difference to the least,
// where the span allows it, which it does for all but strange weights; otherwise eight.
func appendWide(b []byte, r *engine.Result, rows state.Bits, col []int64) []byte {
	set := r.Query.Nodes
	least, most := int64(math.MaxInt64), int64(math.MinInt64)
	for from, to := range r.Feasible.Runs() {
		for _, v := range col[from:to] {
			least, most = min(least, v), max(most, v)
		}
	}
	short := most-least <= math.MaxUint16 && most-least >= 0
	if short {
		b = binary.AppendVarint(append(b, 's'), least)
	} else {
		b = append(b, 'w')
	}
	for row := range rows.All() {
		if !set.InOrder() {
			row = int(set.Order()[row])
		}
		if short {
			b = binary.LittleEndian.AppendUint16(b, uint16(col[row]-least))
		} else {
			b = binary.LittleEndian.AppendUint64(b, uint64(col[row]))
		}
	}
	return b
}
