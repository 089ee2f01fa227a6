package spool

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// finding is something in a log that an operator must know of.
type finding struct {
	Segment string
	What    string
	Bytes   int64
	// Loss reports that it was acknowledged; else it is what a crash leaves behind.
	Loss bool
}

// openJournal reads what a process before left, and sets aside what of it
// cannot be read. The log goes on in a new segment.
func openJournal(fs FS, lim Limits) (*journal, []finding, error) {
	j := &journal{fs: fs, lim: lim.withDefaults(), next: 1, index: map[key]place{}, names: map[string]bool{}, counted: map[string]count{}}
	names, err := fs.Names()
	if err != nil {
		return nil, nil, fmt.Errorf("open the spool: %w", err)
	}
	var seqs []uint64
	for _, name := range names {
		if seq, ok := segmentNumber(name); ok {
			seqs = append(seqs, seq)
			j.next = max(j.next, seq+1)
		}
		if err := j.known(name); err != nil {
			return nil, nil, fmt.Errorf("open the spool: %w", err)
		}
	}
	slices.Sort(seqs)
	ends, err := j.ends(seqs)
	if err != nil {
		return nil, nil, fmt.Errorf("open the spool: %w", err)
	}
	var found []finding
	for _, seq := range seqs {
		more, err := j.recover(seq, ends)
		if err != nil {
			return nil, nil, fmt.Errorf("open the spool: %s: %w", segmentName(seq), err)
		}
		found = append(found, more...)
	}
	return j, found, nil
}

// ends reads from the headers how much of the segments before was acknowledged.
func (j *journal) ends(seqs []uint64) (map[uint64]int64, error) {
	ends := map[uint64]int64{}
	for _, seq := range seqs {
		b, err := readHeader(j.fs, segmentName(seq))
		if err != nil {
			return nil, err
		}
		h, err := decodeHeader(b, seq)
		if errors.Is(err, errVersion) {
			return nil, fmt.Errorf("%s: %w: start the newer program once more, with the database up", segmentName(seq), err)
		}
		if err == nil && h.prevGood != unknownEnd {
			ends[h.prev] = int64(h.prevGood)
		}
	}
	return ends, nil
}

func readHeader(fs FS, name string) ([]byte, error) {
	f, err := fs.Open(name)
	if err != nil {
		return nil, err
	}
	size, err := f.Size()
	b := make([]byte, min(size, headerSize))
	if err == nil && len(b) > 0 {
		_, err = f.ReadAt(b, 0)
	}
	return b, errors.Join(err, f.Close())
}

func (j *journal) recover(seq uint64, ends map[uint64]int64) ([]finding, error) {
	// Where no segment follows, it is not known where the acknowledged part ends: a
	// killed process may have left what no sync will ever put on disk.
	s := &segment{seq: seq, end: -1}
	if end, ok := ends[seq]; ok {
		s.end = end
	}
	data, err := readAll(j.fs, s.name())
	if err != nil {
		return nil, err
	}
	s.size = int64(len(data))
	sc := scan(data, seq, s.end)
	var found []finding
	if sc.torn > 0 {
		found = append(found, finding{s.name(), "the end was being written when the process ended", sc.torn, false})
	}
	for _, h := range sc.holes {
		found = append(found, finding{s.name(), h.why, h.to - h.from, true})
		if err := j.quarantine(s, h.from, []*refusal{{Reason: h.why, Bytes: data[min(h.from, s.size):min(h.to, s.size)]}}); err != nil {
			return nil, err
		}
	}
	for _, r := range sc.records {
		if s.oldest.IsZero() {
			if e, err := decodeRecord(r.payload); err == nil {
				s.oldest = e.at()
			}
		}
		if r.id != "" {
			j.index[keyOf(r.id)] = place{s, r.off, uint32(len(r.payload))}
		}
	}
	s.left = int64(len(sc.records))
	j.left += s.left
	j.bytes += s.size
	j.last = s
	if s.left > 0 {
		j.segs = append(j.segs, s)
	} else {
		j.rest = append(j.rest, s)
	}
	return found, nil
}

// known counts what was set aside before.
func (j *journal) known(name string) error {
	if !strings.HasPrefix(name, quarantinePrefix) || !strings.HasSuffix(name, ".jsonl") {
		return nil
	}
	j.names[name] = true
	b, err := readAll(j.fs, name)
	if err != nil {
		return err
	}
	c := count{int64(len(b)), int64(bytes.Count(b, []byte("\n")))}
	j.parked += c.records
	j.counted[name] = c
	return nil
}
