package state

import "sort"

// Posting is a row and a count on it.
type Posting struct {
	Row int32
	N   int32
}

// segMax bounds what adding one pod copies.
const segMax = 128

// Postings lists, in order of row, how many pods of one shape (or terms, or ports of one kind) each
// node has. It is immutable; add returns a new one that shares all segments but the one it changed.
type Postings struct {
	segs  [][]Posting
	total int
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
	if p == nil {
		return 0
	}
	si := sort.Search(len(p.segs), func(i int) bool { s := p.segs[i]; return s[len(s)-1].Row >= row })
	if si == len(p.segs) {
		return 0
	}
	seg := p.segs[si]
	i := sort.Search(len(seg), func(i int) bool { return seg[i].Row >= row })
	if i < len(seg) && seg[i].Row == row {
		return seg[i].N
	}
	return 0
}

// add returns the postings with delta more on row; a count of zero is dropped.
func (p *Postings) add(row, delta int32) *Postings {
	if p == nil || len(p.segs) == 0 {
		return &Postings{segs: [][]Posting{{{row, delta}}}, total: int(delta)}
	}
	out := &Postings{total: p.total + int(delta)}
	si := sort.Search(len(p.segs), func(i int) bool { s := p.segs[i]; return s[len(s)-1].Row >= row })
	if si == len(p.segs) {
		si--
	}
	seg := p.segs[si]
	i := sort.Search(len(seg), func(i int) bool { return seg[i].Row >= row })
	var fresh []Posting
	switch {
	case i < len(seg) && seg[i].Row == row && seg[i].N+delta == 0:
		fresh = append(append(make([]Posting, 0, len(seg)-1), seg[:i]...), seg[i+1:]...)
	case i < len(seg) && seg[i].Row == row:
		fresh = append([]Posting(nil), seg...)
		fresh[i].N += delta
	default:
		fresh = append(append(append(make([]Posting, 0, len(seg)+1), seg[:i]...), Posting{row, delta}), seg[i:]...)
	}
	segs := make([][]Posting, 0, len(p.segs)+1)
	segs = append(segs, p.segs[:si]...)
	switch {
	case len(fresh) > segMax:
		h := len(fresh) / 2
		segs = append(segs, fresh[:h:h], fresh[h:])
	case len(fresh) > 0:
		segs = append(segs, fresh)
	}
	out.segs = append(segs, p.segs[si+1:]...)
	return out
}
