package spool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"berth/internal/store"
)

// quarantinePrefix begins the names of files with what cannot be handed over,
// one JSON object a line. Retry removes what the database takes later.
const (
	quarantinePrefix = "quarantine-"
	halfWritten      = "quarantine.tmp"
)

// refusal is one line of such a file.
type refusal struct {
	Reason   string          `json:"reason"`
	Decision *store.Decision `json:"decision,omitempty"`
	Profile  *store.Profile  `json:"profile,omitempty"` // that came with the decision
	Gap      *store.Gap      `json:"gap,omitempty"`
	Bytes    []byte          `json:"bytes,omitempty"` // what has no form
}

// quarantine writes refusals to a file of their own, whole or not at all; at makes
// the name, so that the same ones are written once.
func (j *journal) quarantine(s *segment, at int64, list []*refusal) error {
	name := fmt.Sprintf("%s%016x-%x.jsonl", quarantinePrefix, s.seq, at)
	j.mu.Lock()
	done := j.names[name]
	j.mu.Unlock()
	if done {
		return nil
	}
	b, err := encodeQuarantine(list)
	if err == nil {
		err = j.writeWhole(name, b)
	}
	if err != nil {
		return fmt.Errorf("set a record aside: %w", err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.names[name] = true
	j.parked += int64(len(list))
	j.counted[name] = count{int64(len(b)), int64(len(list))}
	return nil
}

func encodeQuarantine(list []*refusal) (b []byte, err error) {
	for _, r := range list {
		js, err := json.Marshal(r)
		if err != nil {
			return nil, err
		}
		b = append(append(b, js...), '\n')
	}
	return b, nil
}

// count is how many records a file of quarantine has, while it has this size.
type count struct{ size, records int64 }

// recount looks which records are in quarantine now: other processes retry them.
func (j *journal) recount() error {
	names, err := j.fs.Names()
	if err != nil {
		return err
	}
	after := map[string]count{}
	for _, name := range names {
		if !strings.HasPrefix(name, quarantinePrefix) || !strings.HasSuffix(name, ".jsonl") {
			continue
		}
		f, err := j.fs.Open(name)
		if err != nil {
			continue // it has just gone
		}
		size, err := f.Size()
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		j.mu.Lock()
		c, known := j.counted[name]
		j.mu.Unlock()
		if !known || c.size != size {
			b, err := readAll(j.fs, name)
			if err != nil {
				return err
			}
			c = count{size, int64(bytes.Count(b, []byte("\n")))}
		}
		after[name] = c
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.counted = after
	return nil
}

func (j *journal) writeWhole(name string, b []byte) error {
	_ = j.fs.Remove(halfWritten) // of a time before; mostly there is none
	f, err := j.fs.Create(halfWritten)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := j.fs.Rename(halfWritten, name); err != nil {
		return err
	}
	return j.fs.SyncDir()
}

// find returns a record that the store may not have yet.
func (j *journal) find(id string) (*entry, bool) {
	j.mu.Lock()
	p, ok := j.index[keyOf(id)]
	j.mu.Unlock()
	if !ok {
		return nil, false
	}
	f, err := j.fs.Open(p.seg.name())
	if err != nil {
		return nil, false // handed over and removed meanwhile
	}
	defer func() { _ = f.Close() }() // only read
	b := make([]byte, int(p.n)+recordHeader)
	if _, err := f.ReadAt(b, p.off-recordHeader); err != nil || le.Uint32(b[4:]) != sum(p.seg.seq, p.off-recordHeader, b[recordHeader:]) {
		return nil, false
	}
	e, err := decodeRecord(b[recordHeader:])
	return e, err == nil && e.Decision != nil && e.Decision.ID == id
}
