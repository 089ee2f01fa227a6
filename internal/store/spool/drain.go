package spool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"berth/internal/store"
)

// Between two looks at a database: at one that is well, and the bounds of the
// random pause before one that is away is tried again.
const (
	watchEvery = time.Second
	leastPause = 100 * time.Millisecond
	mostPause  = 2 * time.Second
)

// handLimit is how long the database may take for a batch of older records.
const handLimit = 10 * time.Second

// run watches the database, and hands over what waits for it.
func (w *Writer) run() {
	pause := leastPause
	timer := time.NewTimer(watchEvery)
	defer timer.Stop()
	for {
		select {
		case <-w.ctx.Done():
			return
		case <-w.kick:
		case <-timer.C:
		}
		next := watchEvery
		if err := w.look(); err != nil && w.ctx.Err() == nil {
			next = rand.N(pause) + time.Millisecond // full jitter: many replicas must not come back at once
			pause = min(2*pause, mostPause)
		} else {
			pause = leastPause
		}
		timer.Reset(next)
	}
}

// look pings the database, and drains where there is one. An
// error reports that there is more to do and that it does not go now.
func (w *Writer) look() error {
	w.j.mend()
	if err := w.j.recount(); err != nil {
		w.o.Log.LogAttrs(w.ctx, slog.LevelWarn, "the quarantine of the spool cannot be read", slog.Any("error", err))
	}
	if err := w.ping(4 * w.o.Patience); err != nil {
		if w.ctx.Err() == nil {
			w.note(err)
		}
		return err
	}
	w.mu.Lock()
	queued, full := w.queued, errors.Is(w.cause, store.ErrFull)
	w.mu.Unlock()
	// A full database answers a ping. Only a write shows that it has space again.
	if !full {
		w.rise()
	}
	if !queued {
		return nil
	}
	err := w.drain()
	if full && !errors.Is(err, store.ErrUnavailable) {
		w.rise()
	}
	if err != nil && w.ctx.Err() == nil {
		w.o.Log.LogAttrs(w.ctx, slog.LevelWarn, "the spool is not handed over yet", slog.Any("error", err))
		if errors.Is(err, store.ErrUnavailable) {
			w.note(err)
		}
	}
	return err
}

// drain hands over what there is, oldest first, and opens the straight way when
// nothing is left.
func (w *Writer) drain() error {
	for w.ctx.Err() == nil {
		if w.j.records() > int64(w.o.Batch) {
			if err := w.drainFirst(handLimit); err != nil {
				return err
			}
			continue
		}
		// The rest is handed over while no call adds to it.
		if done, err := w.drainRest(); done || err != nil {
			return err
		}
	}
	return w.ctx.Err()
}

func (w *Writer) drainRest() (done bool, err error) {
	select {
	case <-w.turn:
	case <-w.ctx.Done():
		return false, w.ctx.Err()
	}
	defer func() { w.turn <- struct{}{} }()
	for w.j.records() > 0 {
		if w.j.records() > int64(2*w.o.Batch) {
			return false, nil
		}
		if err := w.drainFirst(4 * w.o.Patience); err != nil {
			return false, err
		}
	}
	if err := w.j.sweep(); err != nil {
		w.o.Log.LogAttrs(w.ctx, slog.LevelError, "the spool keeps a file that it has handed over", slog.Any("error", err))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.queued, w.full, w.warned = false, false, false
	w.o.Log.LogAttrs(w.ctx, slog.LevelInfo, "the spool is empty", slog.Int64("handedOver", w.drained))
	return true, nil
}

// drainFirst hands over the oldest segment and removes it.
func (w *Writer) drainFirst(limit time.Duration) error {
	s := w.j.first()
	if s == nil {
		return nil
	}
	sc, err := w.j.read(s)
	if err != nil {
		return err
	}
	for _, h := range sc.holes {
		if err := w.quarantine(s, h.from, []*refusal{{Reason: h.why}}); err != nil {
			return err
		}
	}
	for at := s.handed; at < len(sc.records); at = s.handed {
		recs := sc.records[at:min(at+w.o.Batch, len(sc.records))]
		if err := w.hand(s, recs, limit); err != nil {
			return err
		}
	}
	if err := w.j.finish(s); err != nil {
		// It is only too much: handed over again, it changes nothing.
		w.o.Log.LogAttrs(w.ctx, slog.LevelError, "the spool keeps a file that it has handed over", slog.Any("error", err))
	}
	return nil
}

// hand passes one batch to the database. What is refused for good is set aside
// before the batch counts as handed over.
func (w *Writer) hand(s *segment, recs []record, limit time.Duration) error {
	var refused []*refusal
	entries := make([]*store.Entry, 0, len(recs))
	for _, r := range recs {
		e, err := decodeRecord(r.payload)
		if err != nil {
			refused = append(refused, &refusal{Reason: err.Error(), Bytes: r.payload})
			continue
		}
		entries = append(entries, &store.Entry{Decision: e.Decision, Profile: e.Profile, Gap: e.Gap})
	}
	if err := w.appendAll(entries, limit); err != nil {
		return err
	}
	n := int64(0)
	w.mu.Lock()
	for _, e := range entries {
		switch {
		case e.Err == nil && e.Profile != nil:
			delete(w.orphans, e.Profile.Digest)
		case e.Err != nil && e.Profile != nil:
			w.orphans[e.Profile.Digest] = e.Profile
		}
		if e.Err != nil {
			refused = append(refused, &refusal{Reason: e.Err.Error(), Decision: e.Decision, Profile: e.Profile, Gap: e.Gap})
		} else {
			n++
		}
	}
	w.mu.Unlock()
	if err := w.rehome(entries, limit); err != nil {
		return err
	}
	if len(refused) > 0 {
		if err := w.quarantine(s, recs[0].off, refused); err != nil {
			return err
		}
	}
	w.mu.Lock()
	w.drained += n
	w.mu.Unlock()
	w.j.handed(s, recs)
	return nil
}

// rehome stores the profiles that refused records took along with one of the
// batch that stands on the same: writing that again changes nothing else.
func (w *Writer) rehome(entries []*store.Entry, limit time.Duration) error {
	for _, e := range entries {
		if e.Err != nil || e.Profile != nil || e.Decision == nil {
			continue
		}
		w.mu.Lock()
		p := w.orphans[e.Decision.ProfileDigest]
		w.mu.Unlock()
		if p == nil {
			continue
		}
		e.Profile = p
		if err := w.try([]*store.Entry{e}, limit); err != nil {
			return err
		}
		w.mu.Lock()
		delete(w.orphans, p.Digest)
		w.mu.Unlock()
	}
	return nil
}

// appendAll writes a batch. Each entry's Err is nil, or one of the errors that
// no later attempt could change.
func (w *Writer) appendAll(entries []*store.Entry, limit time.Duration) error {
	err := w.try(entries, limit)
	if err == nil || errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrClosed) || w.ctx.Err() != nil {
		return err
	}
	// One record may spoil the batch: each alone, then. Where none passes, it is
	// not the records.
	passed := 0
	for _, e := range entries {
		switch alone := w.try([]*store.Entry{e}, limit); {
		case alone == nil:
			passed++
		case errors.Is(alone, store.ErrUnavailable) || w.ctx.Err() != nil:
			return alone
		default:
			e.Err = alone
		}
	}
	if passed == 0 {
		return err
	}
	return nil
}

// try writes a batch in limited time.
func (w *Writer) try(entries []*store.Entry, limit time.Duration) error {
	w.adopt(entries)
	copies := make([]*store.Entry, len(entries))
	for i, e := range entries {
		c := *e
		copies[i] = &c
	}
	done, cancel := w.begin(w.ctx, copies)
	ctx, stop := context.WithTimeout(w.ctx, limit)
	defer stop()
	if err := w.watched(ctx, done); err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			w.leave(cancel)
			return errSlow
		}
		cancel()
		return err
	}
	for i, c := range copies {
		switch {
		case c.Err == nil || errors.Is(c.Err, store.ErrNotFound) || errors.Is(c.Err, store.ErrInvalid) || errors.Is(c.Err, store.ErrConflict):
			entries[i].Err = c.Err
		default:
			return fmt.Errorf("hand a record over: %w", c.Err)
		}
	}
	return nil
}

// watched waits for a write's end, for as long as the database gives signs of
// life: one that hangs in the middle of a batch must not be waited for longer
// than one that is away.
func (w *Writer) watched(ctx context.Context, done <-chan error) error {
	timer := time.NewTimer(w.o.Patience)
	defer timer.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-ctx.Done():
			select {
			case err := <-done: // in that very moment
				return err
			default:
				return errSlow
			}
		case <-timer.C:
		}
		if err := w.ping(4 * w.o.Patience); err != nil {
			return err
		}
		timer.Reset(w.o.Patience)
	}
}

// quarantine puts what cannot be handed over into quarantine, loudly.
func (w *Writer) quarantine(s *segment, at int64, list []*refusal) error {
	if err := w.j.quarantine(s, at, list); err != nil {
		return err
	}
	for _, r := range list {
		id := ""
		if r.Decision != nil {
			id = r.Decision.ID
		}
		w.o.Log.LogAttrs(w.ctx, slog.LevelError, "a record of the spool is in quarantine", slog.String("decision", id), slog.String("reason", r.Reason), slog.String("segment", s.name()))
	}
	return nil
}
