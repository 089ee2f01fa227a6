package spool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"berth/internal/store"
)

// Options tune a Writer. Zero fields take the defaults.
type Options struct {
	Limits Limits
	// Patience is how long the database may take for a batch before the spool
	// takes it. 0: 250 ms.
	Patience time.Duration
	// Batch is how many records are handed over in one transaction. 0: 512.
	Batch int
	Log   *slog.Logger
}

func (o Options) withDefaults() Options {
	o.Limits = o.Limits.withDefaults()
	if o.Patience <= 0 {
		o.Patience = 250 * time.Millisecond
	}
	if o.Batch <= 0 {
		o.Batch = 512
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Database is the store behind a spool. Its gate, while it is shut, ends all calls
// but Append, Ping and Close.
type Database interface {
	store.Store
	Gate() *store.Gate
}

// Writer is a store.Store over another one, the database, that keeps decisions
// on the local disk while the database does not answer. What needs the database
// is store.ErrUnavailable meanwhile, at once: the Writer shuts the gate. It is
// safe for concurrent use.
type Writer struct {
	Database

	j    *journal
	o    Options
	turn chan struct{} // holds a token while no call appends
	kick chan struct{}

	ctx  context.Context // of the work in the background
	stop context.CancelFunc
	work sync.WaitGroup // the drainer, and writes that no caller waits for any more
	once sync.Once
	end  error // of Close

	mu      sync.Mutex
	queued  bool // new records go to the spool
	down    bool // the database did not answer the last time
	since   time.Time
	cause   error
	closed  bool
	full    bool
	warned  bool
	drained int64
	orphans map[string]*store.Profile // that came with records that were refused
}

var _ store.Store = (*Writer)(nil)

// Open puts a spool in a directory before a database. What a process before
// left is handed over in the background. The Writer closes both.
func Open(db Database, fs FS, o Options) (*Writer, error) {
	o = o.withDefaults()
	j, found, err := openJournal(fs, o.Limits)
	if err != nil {
		return nil, errors.Join(err, fs.Close())
	}
	w := &Writer{
		Database: db, j: j, o: o, turn: make(chan struct{}, 1), kick: make(chan struct{}, 1),
		orphans: map[string]*store.Profile{},
	}
	w.ctx, w.stop = context.WithCancel(context.Background())
	for _, f := range found {
		level := slog.LevelWarn
		if f.Loss {
			level = slog.LevelError
		}
		o.Log.LogAttrs(w.ctx, level, "the spool was found with a damage", slog.String("segment", f.Segment),
			slog.String("what", f.What), slog.Int64("bytes", f.Bytes), slog.Bool("acknowledged", f.Loss))
	}
	if j.left > 0 {
		w.queued = true
		o.Log.LogAttrs(w.ctx, slog.LevelWarn, "the spool holds records of a process before; they are handed over now", slog.Int64("records", j.left))
	}
	w.turn <- struct{}{}
	w.kick <- struct{}{}
	w.work.Go(w.run)
	return w, nil
}

var (
	// errSilent reports that the database gives no sign of life.
	errSilent = fmt.Errorf("%w: it does not answer", store.ErrUnavailable)
	// errSlow reports that one write took too long, and nothing of all others.
	errSlow = fmt.Errorf("%w: it did not write in time", store.ErrUnavailable)
)

// Append implements store.Writer. While the database is away or older records
// wait for it, decisions and gaps become durable in the spool and are marked
// Spooled; entries with a revision need the database, and their Err is
// store.ErrUnavailable while it is away.
func (w *Writer) Append(ctx context.Context, entries []*store.Entry) error {
	select {
	case <-w.turn:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { w.turn <- struct{}{} }()
	w.mu.Lock()
	closed, queued := w.closed, w.queued
	w.mu.Unlock()
	if closed {
		return store.ErrClosed
	}
	var err error
	if !queued {
		err = w.straight(ctx, entries)
		if !errors.Is(err, store.ErrUnavailable) {
			return err
		}
		w.fall(err)
	}
	w.around(ctx, entries, err)
	return nil
}

// straight hands a batch to the database itself.
func (w *Writer) straight(ctx context.Context, entries []*store.Entry) error {
	w.adopt(entries)
	copies := make([]*store.Entry, len(entries))
	patient, most := false, leaveFor*w.o.Patience
	for i, e := range entries {
		e.Err, e.Spooled = nil, false
		c := *e // the database may still work on it when no caller waits any more
		copies[i] = &c
		patient = patient || e.Revision != nil || e.Call != nil
		if e.Checkpoint != nil {
			most = 0 // a large one takes its time: the database's own limit holds
		}
	}
	done, cancel := w.begin(ctx, copies)
	timer := time.NewTimer(w.o.Patience)
	defer timer.Stop()
	for waited := w.o.Patience; ; waited += w.o.Patience {
		select {
		case err := <-done:
			if err == nil {
				for i, c := range copies {
					entries[i].Err = c.Err
				}
			}
			return err
		case <-timer.C:
		}
		// A revision cannot go elsewhere, so it waits as long as there is hope.
		if !patient || most > 0 && waited >= most {
			if patient {
				cancel()
			} else {
				w.leave(cancel)
			}
			return errSlow
		}
		if err := w.ping(w.o.Patience); err != nil {
			cancel()
			return err
		}
		timer.Reset(w.o.Patience)
	}
}

// begin hands a batch to the database in the background.
func (w *Writer) begin(ctx context.Context, copies []*store.Entry) (_ <-chan error, cancel func()) {
	ctx, cancel = context.WithCancel(ctx)
	done := make(chan error, 1)
	w.work.Go(func() {
		defer cancel()
		done <- appendSafely(ctx, w.Database, copies)
	})
	return done, cancel
}

// leave lets the database go on with a batch that the spool takes now, with no caller to wait for
// it. Most often it waits for the lock of another server: to cancel it at once would be an ERROR in
// the database's log, and to write it twice changes nothing.
func (w *Writer) leave(cancel func()) {
	stop := context.AfterFunc(w.ctx, cancel)
	time.AfterFunc(leaveFor*w.o.Patience, func() {
		stop()
		cancel()
	})
}

// leaveFor is how many times the patience a write is left alone, and a revision waited for.
const leaveFor = 8

func appendSafely(ctx context.Context, st store.Writer, entries []*store.Entry) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("append %d entries: panic: %v", len(entries), r)
		}
	}()
	return st.Append(ctx, entries)
}

// around writes to the spool what may go there. Each entry's Err is what
// became of it; cause is why the database did not take the batch, nil where it
// was not asked.
func (w *Writer) around(ctx context.Context, entries []*store.Entry, cause error) {
	var need []*store.Entry
	var group []*store.Entry
	var recs []record
	size := 0
	flush := func() {
		if len(recs) > 0 {
			w.spool(group, recs)
		}
		group, recs, size = nil, nil, 0
	}
	for _, e := range entries {
		e.Spooled = false
		if e.Err = e.Validate(); e.Err != nil {
			continue
		}
		if !spoolable(e) {
			need = append(need, e)
			continue
		}
		r, err := encodeRecord(&entry{Decision: e.Decision, Profile: e.Profile, Gap: e.Gap})
		if err == nil && len(r.payload) > w.o.Limits.Record {
			err = fmt.Errorf("a record of %d bytes is above the spool's %d", len(r.payload), w.o.Limits.Record)
		}
		if err != nil {
			e.Err = fmt.Errorf("%w: %w", store.ErrUnavailable, err)
			continue
		}
		if size += len(r.payload); size > maxGroup {
			flush()
			size = len(r.payload)
		}
		group, recs = append(group, e), append(recs, r)
	}
	flush()
	if len(need) > 0 {
		w.revisions(ctx, need, cause)
	}
}

// maxGroup bounds a group, and so what a scan has in memory beside a segment.
const maxGroup = 16 << 20

// spool writes one group.
func (w *Writer) spool(group []*store.Entry, recs []record) {
	oldest := (&entry{Decision: group[0].Decision, Gap: group[0].Gap}).at()
	err := w.j.append(recs, oldest)
	w.mu.Lock()
	w.full = errors.Is(err, ErrFull)
	w.mu.Unlock()
	for _, e := range group {
		if err != nil {
			e.Err = fmt.Errorf("%w: %w", store.ErrUnavailable, err)
		} else {
			e.Spooled = true
		}
	}
	w.warn()
}

// revisions hands entries that need the shared chain to the database, where it
// answers. They may overtake what waits in the spool, since that stands on
// revisions that are stored already.
func (w *Writer) revisions(ctx context.Context, need []*store.Entry, err error) {
	if err == nil {
		w.mu.Lock()
		err = w.away()
		w.mu.Unlock()
		if err == nil {
			if err = w.straight(ctx, need); errors.Is(err, store.ErrUnavailable) {
				w.fall(err)
			}
		}
	}
	if err != nil {
		for _, e := range need {
			e.Err = err
		}
	}
}

// adopt adds the profile of a refused record to records that lack it, so that it is stored all the
// same.
func (w *Writer) adopt(entries []*store.Entry) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.orphans) == 0 {
		return
	}
	for _, e := range entries {
		if e.Decision != nil && e.Profile == nil {
			e.Profile = w.orphans[e.Decision.ProfileDigest]
		}
	}
}
