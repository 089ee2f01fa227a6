package state

import "slices"

// manyChunks is from how many chunks of rows on a resource's column has a place for each chunk.
const manyChunks = 8

// Requested is how much of one extended resource the pods on each row request. A resource that
// is requested on a few nodes takes no memory for the others, however many there are: a cluster
// may have as many resources as nodes.
type Requested struct {
	v      blocks[[ChunkSize]int64] // by row, or where chunks are listed by place in the list
	chunks []int32                  // those that v holds, in order of first use; nil for all
}

// At returns the amount on a row.
func (r *Requested) At(row int) int64 {
	if c := r.Chunk(row >> ChunkBits); c != nil {
		return c[row&(ChunkSize-1)]
	}
	return 0
}

// Chunk returns the 64 rows from chunk*64 on; nil where nothing was requested on any of them.
func (r *Requested) Chunk(chunk int) *[ChunkSize]int64 {
	if r == nil {
		return nil
	}
	if r.chunks != nil {
		chunk = slices.Index(r.chunks, int32(chunk))
	}
	if chunk < 0 {
		return nil
	}
	return r.v.block(chunk)
}

// add returns the column with n more on a row. The edit with this id may write what it returns.
func (r *Requested) add(id uint64, row int, n int64) *Requested {
	if r == nil {
		r = &Requested{chunks: []int32{}}
	} else if r.v.owner != id {
		fresh := *r
		r = &fresh
	}
	chunk := row >> ChunkBits
	if r.chunks != nil {
		chunk = r.place(id, int32(chunk))
	}
	r.v.own(id, chunk)[row&(ChunkSize-1)] += n
	return r
}

// place returns where v has a chunk, or is to have it.
func (r *Requested) place(id uint64, chunk int32) int {
	if i := slices.Index(r.chunks, chunk); i >= 0 {
		return i
	}
	if len(r.chunks) < manyChunks {
		r.chunks = append(slices.Clip(r.chunks), chunk)
		return len(r.chunks) - 1
	}
	var all blocks[[ChunkSize]int64]
	for i, c := range r.chunks {
		all.share(id, int(c), r.v.block(i))
	}
	r.v, r.chunks = all, nil
	return int(chunk)
}
