package spool

import (
	"bytes"
)

// hole is a stretch of a segment that was acknowledged and cannot be read.
type hole struct {
	from, to int64
	why      string
}

// scanned is what a segment's bytes turn out to be.
type scanned struct {
	header  header
	records []record
	holes   []hole
	good    int64 // where the last good group ends
	torn    int64 // bytes of a tail that was never acknowledged, or may not have been
	kept    int   // whole records in it, which are taken all the same
	err     error // of the header
}

// scan reads a segment. end is how much of it was acknowledged, where the
// segment after it says so; below 0: not known. Records point into data.
func scan(data []byte, seq uint64, end int64) scanned {
	s := scanned{good: headerSize}
	s.header, s.err = decodeHeader(data, seq)
	limit := int64(len(data))
	missing := end > limit
	if end >= 0 {
		limit = min(limit, end)
	}
	p := int64(headerSize)
	if p > limit {
		p = limit
	}
	for p < limit {
		if size, ok := groupAt(data[:limit], seq, p); ok {
			s.records = append(s.records, recordsIn(data[:p+size], seq, p+groupHeaderSize)...)
			p += size
			s.good = p
			continue
		}
		next := nextGroup(data[:limit], seq, p+1)
		if next < 0 && end < 0 {
			kept := recordsIn(data[:limit], seq, p+groupHeaderSize)
			s.records, s.kept, s.torn = append(s.records, kept...), len(kept), limit-p
			return s
		}
		to := limit
		if next >= 0 {
			to = next
		}
		s.records = append(s.records, recordsIn(data[:to], seq, p+groupHeaderSize)...)
		s.holes = append(s.holes, hole{p, to, "a group's checksum is wrong"})
		p, s.good = to, to
	}
	if missing {
		s.holes = append(s.holes, hole{limit, end, "the file is shorter than what was acknowledged"})
	}
	if s.err != nil && (len(s.records) > 0 || end > headerSize) {
		s.holes = append(s.holes, hole{0, min(headerSize, limit), s.err.Error()})
	}
	return s
}

// groupAt reports whether a whole group begins at p, and how long it is.
func groupAt(data []byte, seq uint64, p int64) (size int64, ok bool) {
	b := data[p:]
	if len(b) < groupHeaderSize || !bytes.HasPrefix(b, groupMagic) || le.Uint32(b[12:]) != sum(seq, p, b[:12]) {
		return 0, false
	}
	size = groupHeaderSize + int64(le.Uint32(b[4:]))
	if size > int64(len(b)) || le.Uint32(b[16:]) != sum(seq, p, b[groupHeaderSize:size]) {
		return 0, false
	}
	return size, len(recordsIn(data[:p+size], seq, p+groupHeaderSize)) == int(le.Uint32(b[8:]))
}

// nextGroup finds the first whole group from p on; below 0 where there is none.
func nextGroup(data []byte, seq uint64, p int64) int64 {
	for p < int64(len(data)) {
		i := bytes.Index(data[p:], groupMagic)
		if i < 0 {
			return -1
		}
		p += int64(i)
		if _, ok := groupAt(data, seq, p); ok {
			return p
		}
		p++
	}
	return -1
}

// recordsIn returns the whole records from p on, and so of a damaged group what
// is left of it: a record that cannot be read is passed over as long as its
// length leads to a next one.
func recordsIn(data []byte, seq uint64, p int64) (recs []record) {
	for p+recordHeader <= int64(len(data)) {
		n := int64(le.Uint32(data[p:]))
		to := p + recordHeader + n
		if to > int64(len(data)) {
			return recs
		}
		payload := data[p+recordHeader : to]
		if le.Uint32(data[p+4:]) == sum(seq, p, payload) {
			if id, _, err := idOf(payload); err == nil {
				recs = append(recs, record{id: id, payload: payload, off: p + recordHeader})
			}
		}
		p = to
	}
	return recs
}
