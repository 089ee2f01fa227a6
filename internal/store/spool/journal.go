package spool

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// journal is the log on disk. One goroutine at a time appends, another may read
// and remove meanwhile.
type journal struct {
	fs  FS
	lim Limits

	// io is held while the disk is written, which may take long; mu never is.
	io   sync.Mutex
	file File   // of active
	next uint64 // number of the next segment

	mu      sync.Mutex
	segs    []*segment // with records that the store may not have, oldest first
	active  *segment   // the last of segs, or one without records yet; nil: none
	rest    []*segment // handed over, but not removed yet
	last    *segment   // the newest there ever was
	bytes   int64
	left    int64 // records to hand over
	broken  error // of the last write
	index   map[key]place
	parked  int64            // records that were put into quarantine, ever
	counted map[string]count // what is in it now, by file
	names   map[string]bool  // of quarantine files
}

// segment is a file of the log.
type segment struct {
	seq    uint64
	end    int64 // what was acknowledged of it; below 0: not known
	size   int64
	oldest time.Time // of its records; zero where it has none
	left   int64     // records to hand over
	handed int       // records that were
}

func (s *segment) name() string { return segmentName(s.seq) }

// key stands for an id.
type key [16]byte

func keyOf(id string) key {
	h := sha256.Sum256([]byte(id))
	return key(h[:16])
}

// place is where a record's payload lies.
type place struct {
	seg *segment
	off int64
	n   uint32
}

// append writes records as one group. They are on disk when it returns; after
// an error none of them counts, whatever the disk holds: the segment is never
// written again, since a second fsync that succeeds proves nothing.
func (j *journal) append(recs []record, oldest time.Time) error {
	j.io.Lock()
	defer j.io.Unlock()
	size := int64(groupHeaderSize)
	for _, r := range recs {
		size += recordHeader + int64(len(r.payload))
	}
	j.mu.Lock()
	active, have, more := j.active, j.bytes, size
	if active == nil || active.size+size > j.lim.Segment {
		more += headerSize // of the segment that is begun
	}
	full := have+more > j.lim.Total
	j.mu.Unlock()
	if full {
		return fmt.Errorf("%w: %d of %d bytes", ErrFull, have, j.lim.Total)
	}
	if active != nil && active.size+size > j.lim.Segment {
		j.sealLocked()
		active = nil
	}
	if active == nil {
		var err error
		if active, err = j.create(); err != nil {
			j.fails(err)
			return err
		}
	}
	err := j.write(encodeGroup(active.seq, active.end, recs))
	if err != nil {
		j.fails(err)
		j.giveUp(active, size)
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.broken = nil
	if active.left == 0 {
		active.oldest = oldest
	}
	if len(j.segs) == 0 || j.segs[len(j.segs)-1] != active {
		j.segs = append(j.segs, active)
	}
	for _, r := range recs {
		if r.id != "" {
			j.index[keyOf(r.id)] = place{active, r.off, uint32(len(r.payload))}
		}
	}
	active.end += size
	active.size += size
	active.left += int64(len(recs))
	j.bytes += size
	j.left += int64(len(recs))
	return nil
}

func (j *journal) write(b []byte) error {
	if n, err := j.file.Write(b); err != nil || n != len(b) {
		if err == nil {
			err = io.ErrShortWrite
		}
		return fmt.Errorf("write the spool: %w", err)
	}
	if err := j.file.Sync(); err != nil {
		return fmt.Errorf("sync the spool: %w", err)
	}
	return nil
}

func (j *journal) fails(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.broken = err
}

// mend tries a disk that failed, so that the spool works again when the disk
// does, even without calls.
func (j *journal) mend() {
	j.mu.Lock()
	broken := j.broken != nil && j.active == nil
	j.mu.Unlock()
	if !broken {
		return
	}
	j.io.Lock()
	defer j.io.Unlock()
	if j.file != nil {
		return
	}
	_, err := j.create()
	j.fails(err)
}

// records is how many wait for the store.
func (j *journal) records() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.left
}

// create begins a segment; io is held.
func (j *journal) create() (*segment, error) {
	s := &segment{seq: j.next, end: headerSize, size: headerSize}
	j.next++
	h := header{seq: s.seq, prevGood: unknownEnd}
	j.mu.Lock()
	if j.last != nil && j.last.end >= 0 {
		h.prev, h.prevGood = j.last.seq, uint64(j.last.end)
	}
	j.mu.Unlock()
	f, err := j.fs.Create(s.name())
	if err != nil {
		return nil, fmt.Errorf("begin a segment: %w", err)
	}
	j.file = f
	if err := errors.Join(j.write(h.encode()), j.fs.SyncDir()); err != nil {
		j.file = nil
		// Nothing is in it; where it stays, the next start drops it.
		return nil, errors.Join(fmt.Errorf("begin a segment: %w", err), f.Close(), j.fs.Remove(s.name()))
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.active, j.last = s, s
	j.bytes += s.size
	return s, nil
}

// giveUp leaves a segment to which a write failed; io is held. What is behind
// its end never counts.
func (j *journal) giveUp(s *segment, size int64) {
	_ = j.file.Close() // what there was to say was said
	j.file = nil
	j.mu.Lock()
	defer j.mu.Unlock()
	j.active = nil
	s.size += size // as far as is known
	j.bytes += size
	if s.left == 0 {
		j.segs = slices.DeleteFunc(j.segs, func(have *segment) bool { return have == s })
		j.rest = append(j.rest, s)
	}
}

// seal ends the active segment, so that it can be handed over and removed.
func (j *journal) seal() {
	j.io.Lock()
	defer j.io.Unlock()
	j.sealLocked()
}

func (j *journal) sealLocked() {
	if j.file != nil {
		_ = j.file.Close() // all of it is on disk
		j.file = nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if s := j.active; s != nil {
		j.active = nil
		if s.left == 0 && !slices.Contains(j.segs, s) {
			j.rest = append(j.rest, s)
		}
	}
}

// first returns the oldest segment that is to be handed over, sealed; nil where
// there is none.
func (j *journal) first() *segment {
	j.mu.Lock()
	if len(j.segs) == 0 {
		j.mu.Unlock()
		return nil
	}
	s, active := j.segs[0], j.active
	j.mu.Unlock()
	if s == active {
		j.seal()
	}
	return s
}

// read reads a sealed segment.
func (j *journal) read(s *segment) (scanned, error) {
	data, err := readAll(j.fs, s.name())
	if err != nil {
		return scanned{}, fmt.Errorf("read the spool: %w", err)
	}
	return scan(data, s.seq, s.end), nil
}

func readAll(fs FS, name string) ([]byte, error) {
	f, err := fs.Open(name)
	if err != nil {
		return nil, err
	}
	size, err := f.Size()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	data := make([]byte, size)
	if n, err := f.ReadAt(data, 0); err != nil && (!errors.Is(err, io.EOF) || int64(n) != size) {
		return nil, errors.Join(err, f.Close())
	}
	return data, f.Close()
}

// handed notes that the store has records of a segment.
func (j *journal) handed(s *segment, recs []record) {
	j.mu.Lock()
	defer j.mu.Unlock()
	s.handed += len(recs)
	s.left -= int64(len(recs))
	j.left -= int64(len(recs))
	for _, r := range recs {
		if k := keyOf(r.id); j.index[k].seg == s {
			delete(j.index, k)
		}
	}
}

// finish takes a segment that was handed over out of the log, and removes it.
func (j *journal) finish(s *segment) error {
	j.mu.Lock()
	j.left -= s.left // what could not be read again was counted and is in quarantine
	s.left = 0
	j.segs = slices.DeleteFunc(j.segs, func(have *segment) bool { return have == s })
	j.rest = append(j.rest, s)
	j.mu.Unlock()
	return j.sweep()
}

// sweep removes what was handed over.
func (j *journal) sweep() error {
	j.mu.Lock()
	rest := slices.Clone(j.rest)
	j.mu.Unlock()
	var errs []error
	removed := false
	for _, s := range rest {
		if err := j.fs.Remove(s.name()); err != nil {
			errs = append(errs, fmt.Errorf("remove a segment: %w", err))
			continue
		}
		removed = true
		j.mu.Lock()
		j.rest = slices.DeleteFunc(j.rest, func(have *segment) bool { return have == s })
		j.bytes -= s.size
		j.mu.Unlock()
	}
	if removed {
		// One that comes back is handed over again, which changes nothing.
		if err := j.fs.SyncDir(); err != nil {
			errs = append(errs, fmt.Errorf("remove a segment: %w", err))
		}
	}
	return errors.Join(errs...)
}

// close lets go of the directory; what was not handed over stays in it.
func (j *journal) close() error {
	j.seal()
	return errors.Join(j.sweep(), j.fs.Close())
}
