package spool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"berth/internal/store"
)

// Status is where a spool stands.
type Status struct {
	// Away reports that the database did not answer the last time, since Since.
	Away  bool
	Since time.Time
	Cause string
	Full  bool // the database answers that its disk is full
	// Queued reports that new records go to the spool: the database is away, or
	// what waits for it is older.
	Queued  bool
	Records int64 // that wait for the database
	Bytes   int64 // on disk
	Limit   int64
	Oldest  time.Time // of the records that wait; zero without any
	Drained int64     // records that were handed over since the start
	// Quarantined is how many records are in quarantine: see the files quarantine-*.jsonl in the
	// spool's directory, Quarantined and Retry.
	Quarantined     int64
	EverQuarantined int64 // that were put there, ever
	// Refusing reports that the spool takes nothing: it is full, or its disk fails.
	Refusing string
}

// Status tells where the spool stands.
func (w *Writer) Status() Status {
	j := w.j
	j.mu.Lock()
	s := Status{Records: j.left, Bytes: j.bytes, Limit: j.lim.Total, EverQuarantined: j.parked}
	for _, c := range j.counted {
		s.Quarantined += c.records
	}
	for _, seg := range j.segs {
		if seg.left > 0 {
			s.Oldest = seg.oldest
			break
		}
	}
	broken := j.broken
	j.mu.Unlock()
	w.mu.Lock()
	defer w.mu.Unlock()
	s.Away, s.Queued, s.Drained = w.down, w.queued, w.drained
	if w.down {
		s.Since, s.Cause, s.Full = w.since, w.cause.Error(), errors.Is(w.cause, store.ErrFull)
	}
	switch {
	case !w.queued:
	case w.full:
		s.Refusing = ErrFull.Error()
	case broken != nil:
		s.Refusing = broken.Error()
	}
	return s
}

// Ready reports whether decisions can be recorded: the database or the spool takes
// them. note names a state that people should know of, all the same.
func (w *Writer) Ready() (note string, err error) {
	s := w.Status()
	percent := 100 * s.Bytes / s.Limit
	switch {
	case s.Away:
		why := "away"
		if s.Full {
			why = "out of disk"
		}
		note = fmt.Sprintf("database %s since %s, %d records in the spool (%d%% of its limit)", why, s.Since.UTC().Format(time.RFC3339), s.Records, percent)
	case s.Queued:
		note = fmt.Sprintf("database is back, %d records in the spool are handed over", s.Records)
	}
	if s.Quarantined > 0 {
		if note != "" {
			note += "; "
		}
		note += fmt.Sprintf("%d records in quarantine, see server quarantine show", s.Quarantined)
	}
	if s.Refusing != "" {
		return note, errors.New(note + ": " + s.Refusing)
	}
	return note, nil
}

// Away returns the error of calls that need the database while it is away, else nil.
func (w *Writer) Away() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.away()
}

// away is Away; mu is held.
func (w *Writer) away() error {
	if !w.down {
		return nil
	}
	return fmt.Errorf("%w since %s: %w", store.ErrUnavailable, w.since.UTC().Format(time.RFC3339), w.cause)
}

// fall notes that the database does not answer: records go to the spool from
// now on, and callers that wait for the database need not. Of one slow write it
// notes only the first: whether the database is away is then asked.
func (w *Writer) fall(cause error) {
	w.note(cause)
	select {
	case w.kick <- struct{}{}:
	default:
	}
}

// note is fall without waking the drainer, whose pauses are its own.
func (w *Writer) note(cause error) {
	w.mu.Lock()
	w.queued = true
	fresh := !w.down && !errors.Is(cause, errSlow)
	if fresh {
		w.since, w.down = time.Now(), true
	}
	if w.down {
		w.cause = cause
		w.Gate().Shut(w.away())
	}
	w.mu.Unlock()
	if fresh {
		w.o.Log.LogAttrs(w.ctx, slog.LevelError, "the database is away: decisions go to the spool", slog.Any("error", cause))
	}
}

// rise notes that the database answers.
func (w *Writer) rise() {
	w.mu.Lock()
	was, since := w.down, w.since
	w.down, w.cause = false, nil
	w.Gate().Open()
	w.mu.Unlock()
	if was {
		w.o.Log.LogAttrs(w.ctx, slog.LevelWarn, "the database is back", slog.Time("awaySince", since), slog.Int64("records", w.Status().Records))
	}
}

// warn says once that the spool is half full.
func (w *Writer) warn() {
	s := w.Status()
	half := s.Bytes >= s.Limit/2
	w.mu.Lock()
	say := half && !w.warned
	w.warned = half
	w.mu.Unlock()
	if say {
		w.o.Log.LogAttrs(w.ctx, slog.LevelWarn, "the spool is half full", slog.Int64("bytes", s.Bytes), slog.Int64("limit", s.Limit))
	}
}

// ping pings the database with a limit.
func (w *Writer) ping(limit time.Duration) error {
	ctx, cancel := context.WithTimeout(w.ctx, limit)
	defer cancel()
	err := w.Database.Ping(ctx)
	if err != nil && ctx.Err() != nil && w.ctx.Err() == nil {
		return errSilent
	}
	return err
}
