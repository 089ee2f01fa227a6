package spool

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"strings"
)

// A segment is a header and then groups. All numbers are little-endian.
//
//	header: magic 8, version 4, number 8, previous segment 8, its good bytes 8, CRC 4
//	group:  magic 4, body bytes 4, records 4, CRC of that 4, CRC of the body 4, body
//	record: payload bytes 4, CRC 4, payload (id bytes 2, id, JSON of entry)
//
// Every CRC is CRC-32C and begins with the segment's number and the place in
// it, so that bytes of another file or from elsewhere never pass for good. The
// groups' magic holds bytes that no UTF-8 text has.
const (
	headerSize      = 40
	groupHeaderSize = 20
	recordHeader    = 8
	version         = 1
	unknownEnd      = ^uint64(0)
)

var (
	fileMagic  = []byte("berthspl")
	groupMagic = []byte{0xff, 'b', 'g', 0xfe}
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	le         = binary.LittleEndian
)

// errVersion reports that a newer program wrote a segment.
var errVersion = errors.New("a segment has a format that this program does not know")

func sum(seq uint64, off int64, parts ...[]byte) uint32 {
	var seed [16]byte
	le.PutUint64(seed[:], seq)
	le.PutUint64(seed[8:], uint64(off))
	c := crc32.Update(0, castagnoli, seed[:])
	for _, p := range parts {
		c = crc32.Update(c, castagnoli, p)
	}
	return c
}

func segmentName(seq uint64) string { return fmt.Sprintf("%016x.spool", seq) }

// segmentNumber reads a segment's name.
func segmentNumber(name string) (seq uint64, ok bool) {
	if n, err := fmt.Sscanf(name, "%016x.spool", &seq); err != nil || n != 1 {
		return 0, false
	}
	return seq, name == segmentName(seq)
}

// header is the beginning of a segment. It holds how much of the segment before
// was acknowledged: what is behind that was refused, and what is missing of it
// was lost.
type header struct{ seq, prev, prevGood uint64 }

func (h header) encode() []byte {
	b := append(make([]byte, 0, headerSize), fileMagic...)
	b = le.AppendUint32(b, version)
	b = le.AppendUint64(b, h.seq)
	b = le.AppendUint64(b, h.prev)
	b = le.AppendUint64(b, h.prevGood)
	return le.AppendUint32(b, sum(h.seq, 0, b))
}

var errHeader = errors.New("a segment's header cannot be read")

func decodeHeader(b []byte, seq uint64) (header, error) {
	if len(b) < headerSize || string(b[:8]) != string(fileMagic) || le.Uint32(b[36:]) != sum(seq, 0, b[:36]) {
		return header{}, errHeader
	}
	if v := le.Uint32(b[8:]); v != version {
		return header{}, fmt.Errorf("%w: %d", errVersion, v)
	}
	return header{le.Uint64(b[12:]), le.Uint64(b[20:]), le.Uint64(b[28:])}, nil
}

// record is one entry on its way to or from the disk.
type record struct {
	id      string
	payload []byte
	off     int64 // of the payload in its segment
}

func encodeRecord(e *entry) (record, error) {
	id := ""
	if e.Decision != nil {
		id = e.Decision.ID
	}
	if len(id) > 0xffff {
		return record{}, errors.New("the id is too long")
	}
	js, err := json.Marshal(e)
	if err != nil {
		return record{}, err
	}
	b := le.AppendUint16(make([]byte, 0, 2+len(id)+len(js)), uint16(len(id)))
	b = append(b, id...)
	return record{id: id, payload: append(b, js...)}, nil
}

var errRecord = errors.New("a record has no good form")

// idOf reads a record's id without the rest.
func idOf(payload []byte) (id string, rest []byte, err error) {
	if len(payload) < 2 {
		return "", nil, errRecord
	}
	n := int(le.Uint16(payload))
	if len(payload) < 2+n {
		return "", nil, errRecord
	}
	return string(payload[2 : 2+n]), payload[2+n:], nil
}

func decodeRecord(payload []byte) (*entry, error) {
	_, js, err := idOf(payload)
	if err != nil {
		return nil, err
	}
	var e entry
	dec := json.NewDecoder(strings.NewReader(string(js)))
	dec.DisallowUnknownFields() // of a newer program: better said than half read
	if err := dec.Decode(&e); err != nil {
		return nil, fmt.Errorf("%w: %w", errRecord, err)
	}
	if (e.Decision == nil) == (e.Gap == nil) {
		return nil, errRecord
	}
	return &e, nil
}

// encodeGroup frames records for a place in a segment and notes where each
// payload comes to lie.
func encodeGroup(seq uint64, off int64, recs []record) []byte {
	size := groupHeaderSize
	for _, r := range recs {
		size += recordHeader + len(r.payload)
	}
	b := append(make([]byte, 0, size), groupMagic...)
	b = le.AppendUint32(b, uint32(size-groupHeaderSize))
	b = le.AppendUint32(b, uint32(len(recs)))
	b = append(b, make([]byte, 8)...)
	for i := range recs {
		at := off + int64(len(b))
		recs[i].off = at + recordHeader
		b = le.AppendUint32(b, uint32(len(recs[i].payload)))
		b = le.AppendUint32(b, sum(seq, at, recs[i].payload))
		b = append(b, recs[i].payload...)
	}
	le.PutUint32(b[12:], sum(seq, off, b[:12]))
	le.PutUint32(b[16:], sum(seq, off, b[groupHeaderSize:]))
	return b
}
