package commit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"

	"berth/internal/store"
)

// Causes of a Gap and of what LostFunc is told.
const (
	CauseQueueFull = "queue-full"
	CauseStore     = "store"
	CauseKilled    = "killed"
)

// Submitter is what Relaxed hands entries to; *Group is one.
type Submitter interface {
	Submit(ctx context.Context, e *store.Entry) (wait func(context.Context) error, err error)
}

// RelaxedOptions tune a Relaxed; zero fields take the defaults.
type RelaxedOptions struct {
	// Queue is the most decisions that wait to be written; what comes on top is
	// dropped and counted. 0: 4096.
	Queue int
	// Every is how often losses become gaps in the log. 0: 1 s.
	Every time.Duration
	// Instance names the process in its gaps.
	Instance string
	// LostFunc, if set, is told of each decision that was lost, and why. It must
	// not wait.
	LostFunc func(cause string)
	// CleanFunc, if set, is told of a time up to which nothing is on its way.
	CleanFunc func(at time.Time)
	Clock     func() time.Time
}

func (o RelaxedOptions) withDefaults() RelaxedOptions {
	if o.Queue <= 0 {
		o.Queue = 4096
	}
	if o.Every <= 0 {
		o.Every = time.Second
	}
	if o.LostFunc == nil {
		o.LostFunc = func(string) {}
	}
	if o.CleanFunc == nil {
		o.CleanFunc = func(time.Time) {}
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return o
}

// Relaxed stands before a group and lets no decision wait for its record: an
// answer may so be given that is not on record. Whatever is lost is counted, and
// a gap in the log itself says when and how many. Entries with a revision wait
// as ever. It is safe for concurrent use.
type Relaxed struct {
	g     Submitter
	o     RelaxedOptions
	queue chan *store.Entry
	sent  chan sent
	done  chan struct{}
	once  sync.Once

	mu      sync.RWMutex // held shared while sending to queue, alone while closing it
	closed  bool
	gapMu   sync.Mutex
	gaps    map[gapKey]*store.Gap // that the log does not have yet
	orphans map[string]*store.Profile
	pending int // decisions on their way
}

type gapKey struct{ cluster, cause string }

// sent is an entry on its way to the store.
type sent struct {
	entry *store.Entry
	wait  func(context.Context) error
}

// NewRelaxed starts the mode; Close ends it, before the group.
func NewRelaxed(g Submitter, o RelaxedOptions) *Relaxed {
	o = o.withDefaults()
	r := &Relaxed{
		g: g, o: o, queue: make(chan *store.Entry, o.Queue), sent: make(chan sent, o.Queue),
		done: make(chan struct{}), gaps: map[gapKey]*store.Gap{}, orphans: map[string]*store.Profile{},
	}
	go r.send()
	go r.follow()
	return r
}

// Submit accepts an entry. A decision that makes no revision is done with: it
// gets written if all goes well. Others wait as with the group itself.
func (r *Relaxed) Submit(ctx context.Context, e *store.Entry) (wait func(context.Context) error, err error) {
	if e.Decision == nil || e.Revision != nil || e.Checkpoint != nil {
		return r.g.Submit(ctx, e)
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.closed {
		return nil, store.ErrClosed
	}
	// The caller keeps its entry, and reads from it as soon as it is answered.
	c := *e
	r.adopt(&c)
	r.count(1)
	select {
	case r.queue <- &c:
	default:
		r.count(-1)
		r.lost(&c, CauseQueueFull)
	}
	return func(context.Context) error { return nil }, nil
}

// Lost is how many decisions the log has no gap for yet.
func (r *Relaxed) Lost() (n int64) {
	r.gapMu.Lock()
	defer r.gapMu.Unlock()
	for _, g := range r.gaps {
		n += g.Lost
	}
	return n
}

func (r *Relaxed) count(n int) {
	r.gapMu.Lock()
	defer r.gapMu.Unlock()
	r.pending += n
}

// lost notes a decision that is not going to be on record.
func (r *Relaxed) lost(e *store.Entry, cause string) {
	d := e.Decision
	r.o.LostFunc(cause)
	r.gapMu.Lock()
	defer r.gapMu.Unlock()
	if e.Profile != nil {
		r.orphans[e.Profile.Digest] = e.Profile
	}
	r.widen(&store.Gap{Cluster: d.Cluster, Since: d.CreatedAt, Until: d.CreatedAt, Lost: 1, Cause: cause, Instance: r.o.Instance})
}

// adopt adds to an entry the profile that was lost with another entry: the writer of that one
// takes the profile for stored.
func (r *Relaxed) adopt(e *store.Entry) {
	r.gapMu.Lock()
	defer r.gapMu.Unlock()
	if p := r.orphans[e.Decision.ProfileDigest]; p != nil && e.Profile == nil {
		e.Profile = p
		delete(r.orphans, p.Digest)
	}
}

// widen adds a gap to those that the log does not have yet; gapMu is held.
func (r *Relaxed) widen(g *store.Gap) {
	have := r.gaps[gapKey{g.Cluster, g.Cause}]
	if have == nil {
		r.gaps[gapKey{g.Cluster, g.Cause}] = g
		return
	}
	have.Lost += g.Lost
	if g.Since.Before(have.Since) {
		have.Since = g.Since
	}
	if g.Until.After(have.Until) {
		have.Until = g.Until
	}
}

// send hands the queue to the group, which may take its time.
func (r *Relaxed) send() {
	defer close(r.sent)
	for e := range r.queue {
		wait, err := r.g.Submit(context.Background(), e)
		if err != nil {
			wait = func(context.Context) error { return err }
		}
		r.sent <- sent{e, wait}
	}
}

// follow sees what became of each entry, and writes the gaps.
func (r *Relaxed) follow() {
	defer close(r.done)
	tick := time.NewTicker(r.o.Every)
	defer tick.Stop()
	for {
		select {
		case s, ok := <-r.sent:
			if !ok {
				_ = r.flush() // Close looks at what is left
				r.clean()
				return
			}
			err := s.wait(context.Background())
			if err == nil {
				err = s.entry.Err
			}
			r.count(-1)
			if err != nil {
				r.lost(s.entry, CauseStore)
			}
		case <-tick.C:
			if r.flush() == nil {
				r.clean()
			}
		}
	}
}

// flush writes the gaps; those that cannot be written stay, and grow.
func (r *Relaxed) flush() error {
	r.gapMu.Lock()
	gaps := r.gaps
	r.gaps = map[gapKey]*store.Gap{}
	r.gapMu.Unlock()
	var errs []error
	for _, g := range gaps {
		if err := r.write(g); err != nil {
			errs = append(errs, err)
			r.gapMu.Lock()
			r.widen(g)
			r.gapMu.Unlock()
		}
	}
	return errors.Join(errs...)
}

func (r *Relaxed) write(g *store.Gap) error {
	id, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("make an id: %w", err)
	}
	row := *g
	row.ID = id.String()
	return WriteGap(context.Background(), r.g, &row)
}

// WriteGap writes one gap and waits until it is durable.
func WriteGap(ctx context.Context, g Submitter, gap *store.Gap) error {
	e := &store.Entry{Gap: gap}
	wait, err := g.Submit(ctx, e)
	if err == nil {
		err = wait(ctx)
	}
	if err == nil {
		err = e.Err
	}
	if err != nil {
		return fmt.Errorf("write a gap of %s: %w", gap.Cluster, err)
	}
	return nil
}

// clean tells that nothing is on its way, where that is so.
func (r *Relaxed) clean() {
	at := r.o.Clock()
	r.gapMu.Lock()
	idle := r.pending == 0 && len(r.gaps) == 0
	r.gapMu.Unlock()
	if idle {
		r.o.CleanFunc(at)
	}
}

// Close refuses new entries and returns when those accepted are written or
// counted; an error reports that the log lacks gaps. It does not close the group.
func (r *Relaxed) Close(ctx context.Context) error {
	r.once.Do(func() {
		r.mu.Lock()
		r.closed = true
		close(r.queue)
		r.mu.Unlock()
	})
	select {
	case <-r.done:
	case <-ctx.Done():
		return fmt.Errorf("end the relaxed queue: %w", ctx.Err())
	}
	if n := r.Lost(); n > 0 {
		return fmt.Errorf("%d decisions were lost and the log does not say so", n)
	}
	return nil
}
