package spool

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"berth/internal/store"
)

// Refused is a record in quarantine.
type Refused struct {
	// Kind is decision, gap, or unreadable, of which nothing else is known.
	Kind    string    `json:"kind"`
	ID      string    `json:"id,omitempty"`
	Cluster string    `json:"cluster,omitempty"`
	At      time.Time `json:"at,omitzero"` // of the record
	Reason  string    `json:"reason"`
	File    string    `json:"file"`
}

func (r *refusal) refused(file string) Refused {
	out := Refused{Kind: "unreadable", Reason: r.Reason, File: file}
	switch {
	case r.Decision != nil:
		out.Kind, out.ID, out.Cluster, out.At = "decision", r.Decision.ID, r.Decision.Cluster, r.Decision.CreatedAt
	case r.Gap != nil:
		out.Kind, out.ID, out.Cluster, out.At = "gap", r.Gap.ID, r.Gap.Cluster, r.Gap.Until
	}
	return out
}

// Quarantined lists the records in quarantine of a spool's directory, whose server may run.
func Quarantined(dir string) (list []Refused, err error) {
	files, err := quarantineFiles(dir)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		refusals, err := readQuarantine(file)
		if err != nil {
			return nil, err
		}
		for _, r := range refusals {
			list = append(list, r.refused(filepath.Base(file)))
		}
	}
	return list, nil
}

// Retry hands the records in quarantine in again, the oldest file first, and keeps those that are
// refused again, with their new reasons. Records that are stored already count as handed in. It
// may run beside the directory's server.
func Retry(ctx context.Context, dir string, st store.Writer) (in, left []Refused, err error) {
	files, err := quarantineFiles(dir)
	if err != nil || len(files) == 0 {
		return nil, nil, err
	}
	lock, err := lockFile(filepath.Join(dir, "quarantine.lock"))
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	for _, file := range files {
		refusals, err := readQuarantine(file)
		if err != nil {
			return in, left, err
		}
		var stay []*refusal
		for _, r := range refusals {
			if r.Decision == nil && r.Gap == nil {
				stay = append(stay, r)
				left = append(left, r.refused(filepath.Base(file)))
				continue
			}
			e := &store.Entry{Decision: r.Decision, Profile: r.Profile, Gap: r.Gap}
			err := errors.Join(st.Append(ctx, []*store.Entry{e}), e.Err)
			switch {
			case errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrClosed) || ctx.Err() != nil:
				// The file stays as it is: to hand in again what is in changes nothing.
				return in, left, fmt.Errorf("hand in %s: %w", r.refused("").ID, err)
			case err != nil:
				r.Reason = err.Error()
				stay = append(stay, r)
				left = append(left, r.refused(filepath.Base(file)))
			default:
				in = append(in, r.refused(filepath.Base(file)))
			}
		}
		if err := rewriteQuarantine(file, stay); err != nil {
			return in, left, fmt.Errorf("%s: %w", file, err)
		}
	}
	return in, left, nil
}

func quarantineFiles(dir string) ([]string, error) {
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	files, err := filepath.Glob(filepath.Join(dir, quarantinePrefix+"*.jsonl"))
	slices.Sort(files)
	return files, err
}

func readQuarantine(file string) (list []*refusal, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for n, line := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
		r := &refusal{}
		if err := json.Unmarshal(line, r); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", file, n+1, err)
		}
		list = append(list, r)
	}
	return list, nil
}

// rewriteQuarantine leaves a file with these records, whole or as it was; without any it goes.
func rewriteQuarantine(file string, stay []*refusal) error {
	if len(stay) == 0 {
		return errors.Join(os.Remove(file), syncDir(filepath.Dir(file)))
	}
	b, err := encodeQuarantine(stay)
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(file), "retry-*.tmp") // 0600
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncDir(filepath.Dir(file))
}
