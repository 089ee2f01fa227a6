package engine

import "berth/internal/engine/state"

// byteColumn is a column of normalised scores in bytes, with its weight.
type byteColumn struct {
	norm   []uint8
	weight int64
}

// byteColumns lists the scores in bytes, without the kept ones where a Runner has their sums.
func (r *Result) byteColumns(keptAdded bool) []byteColumn {
	list := r.Query.scratch.byteColumns[:0]
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
	}
	r.Query.scratch.byteColumns = list
	return list
}

// addBytes is addWeighted for scores in bytes. It adds for whole chunks: the totals of rows that
// are not feasible are not read.
func (r *Result) addBytes(list []byteColumn) {
	for _, c := range list {
		total := r.totals()
		for i, word := range r.Feasible {
			if word == 0 {
				continue
			}
			t := (*[state.ChunkSize]int64)(total[i<<state.ChunkBits:])
			for k, n := range (*[state.ChunkSize]uint8)(c.norm[i<<state.ChunkBits:]) {
				t[k] += c.weight * int64(n)
			}
		}
	}
}
