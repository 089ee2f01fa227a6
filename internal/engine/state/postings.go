package state

import (
	"slices"
	"sort"
)

// Posting is a row and a count on it.
type Posting struct {
	Row int32
	N   int32
}

// segMax bounds what adding one pod copies.
const segMax = 128

// Postings lists, in order of row, how many pods of one shape (or terms, or ports of one kind) each
// node has. It is immutable, unless it belongs to an edit in place.
type Postings struct {
	segs  [][]Posting
	total int
	owner uint64 // the edit in place that may write it, with all segments; 0: none
}

// Total is the sum over all rows.
func (p *Postings) Total() int {
	if p == nil {
		return 0
	}
	return p.total
}

// Each calls f for every row with a count other than zero.
func (p *Postings) Each(f func(row, n int32)) {
	if p == nil {
		return
	}
	for _, seg := range p.segs {
		for _, e := range seg {
			f(e.Row, e.N)
		}
	}
}

// Segments returns the raw runs, for loops that cannot afford a call per entry.
func (p *Postings) Segments() [][]Posting {
	if p == nil {
		return nil
	}
	return p.segs
}

// At returns the count of one row.
func (p *Postings) At(row int32) int32 {
	if p == nil || len(p.segs) == 0 {
		return 0
	}
	si, i, ok := p.find(row)
	if !ok {
		return 0
	}
	return p.segs[si][i].N
}

// find returns the segment of a row and the row's place in it, or where it would be. There must be
// a segment.
func (p *Postings) find(row int32) (si, i int, ok bool) {
	si = min(sort.Search(len(p.segs), func(i int) bool { s := p.segs[i]; return s[len(s)-1].Row >= row }), len(p.segs)-1)
	seg := p.segs[si]
	i = sort.Search(len(seg), func(i int) bool { return seg[i].Row >= row })
	return si, i, i < len(seg) && seg[i].Row == row
}

// add returns postings with delta more on row; a count of zero is dropped. They share all segments
// but the one that changed, unless an edit in place is given, which owns them: then it writes them
// from the second time on.
func (p *Postings) add(inPlace uint64, row, delta int32) *Postings {
	if p == nil || len(p.segs) == 0 {
		return &Postings{segs: [][]Posting{{{row, delta}}}, total: int(delta), owner: inPlace}
	}
	si, i, ok := p.find(row)
	if inPlace == 0 || p.owner != inPlace {
		p = &Postings{append(make([][]Posting, 0, len(p.segs)+1), p.segs...), p.total, inPlace}
		for k, seg := range p.segs {
			if k == si || inPlace != 0 {
				p.segs[k] = append(make([]Posting, 0, len(seg)+1), seg...)
			}
		}
	}
	seg := p.segs[si]
	switch {
	case !ok:
		seg = slices.Insert(seg, i, Posting{row, delta})
	case seg[i].N+delta == 0:
		seg = slices.Delete(seg, i, i+1)
	default:
		seg[i].N += delta
	}
	p.total += int(delta)
	p.segs[si] = seg
	switch n := len(seg); {
	case n > segMax:
		p.segs[si] = seg[: n/2 : n/2]
		p.segs = slices.Insert(p.segs, si+1, seg[n/2:])
	case n == 0:
		p.segs = slices.Delete(p.segs, si, si+1)
	}
	return p
}
