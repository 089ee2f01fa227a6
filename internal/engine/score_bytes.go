package engine

import (
	"encoding/binary"
	"math"

	"berth/internal/engine/state"
)

// byteColumn is a column of normalised scores in bytes, with its weight.
type byteColumn struct {
	norm   []uint8
	weight int64
}

// addBytes is addWeighted for scores in bytes, without the kept ones where a Runner has their sums.
// It adds for whole chunks: the totals of rows that are not feasible are not read.
func (r *Result) addBytes(keptAdded bool) {
	var room [16]byteColumn
	list, most := room[:0], int64(0)
	lanes := true // the sums fit 16 bits
	for i := range r.Scores {
		s := &r.Scores[i]
		if s.RawBytes == nil || s.Kept && keptAdded {
			continue
		}
		norm := s.RawBytes
		if s.NormBytes != nil {
			norm = s.NormBytes
		}
		list = append(list, byteColumn{norm, s.Weight})
		lanes = lanes && s.Weight >= 0 && s.Weight <= math.MaxUint8
		most += s.Weight * math.MaxUint8
	}
	if len(list) == 0 {
		return
	}
	total := r.totals()
	for i, word := range r.Feasible {
		if word == 0 {
			continue
		}
		t := (*[state.ChunkSize]int64)(total[i<<state.ChunkBits:])
		if lanes && most <= math.MaxUint16 {
			addLanes(t, list, i<<state.ChunkBits)
			continue
		}
		for _, c := range list {
			for k, n := range (*[state.ChunkSize]uint8)(c.norm[i<<state.ChunkBits:]) {
				t[k] += c.weight * int64(n)
			}
		}
	}
}

// addLanes adds 64 rows from one on, eight at a time: the scores of every other row are multiplied
// at once, each in 16 bits of its own.
func addLanes(t *[state.ChunkSize]int64, list []byteColumn, from int) {
	const everyOther = 0x00ff00ff00ff00ff
	var even, odd [state.ChunkSize / 8]uint64
	for _, c := range list {
		norm, weight := (*[state.ChunkSize]uint8)(c.norm[from:]), uint64(c.weight)
		for k := range even {
			v := binary.LittleEndian.Uint64(norm[8*k:])
			even[k] += v & everyOther * weight
			odd[k] += v >> 8 & everyOther * weight
		}
	}
	for k := range even {
		out, e, o := (*[8]int64)(t[8*k:]), even[k], odd[k]
		out[0] += int64(e & math.MaxUint16)
		out[1] += int64(o & math.MaxUint16)
		out[2] += int64(e >> 16 & math.MaxUint16)
		out[3] += int64(o >> 16 & math.MaxUint16)
		out[4] += int64(e >> 32 & math.MaxUint16)
		out[5] += int64(o >> 32 & math.MaxUint16)
		out[6] += int64(e >> 48)
		out[7] += int64(o >> 48)
	}
}
