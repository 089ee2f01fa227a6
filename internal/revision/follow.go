package revision

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"berth/internal/steps"
	"berth/internal/store"
)

// pollTimeout bounds one poll, so that a store that hangs counts as unavailable.
const pollTimeout = 10 * time.Second

// Following describes how far a manager has read what other processes wrote.
type Following struct {
	// Behind is the number of revisions that the cluster that is furthest behind lacked at the last
	// poll.
	Behind int64
	// Asked is when the store last answered.
	Asked time.Time
	// Err is why it has not answered since, or nil.
	Err error
	// Damaged has the clusters whose newest revision cannot be loaded, with the reason.
	Damaged map[string]error
}

// following is the state behind Following.
type following struct {
	mu      sync.Mutex
	behind  int64
	asked   time.Time
	err     error
	damaged map[string]error
	stuck   map[string]store.Head // ends that could not be loaded
}

func (f *following) begin(now time.Time) {
	f.asked, f.damaged, f.stuck = now, map[string]error{}, map[string]store.Head{}
}

// judge records whether a cluster's newest revision could be loaded. Only damage of stored bytes
// counts.
func (f *following) judge(cluster string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case err == nil || errors.Is(err, store.ErrNotFound):
		delete(f.damaged, cluster)
		delete(f.stuck, cluster)
	case errors.Is(err, ErrCorrupt):
		f.damaged[cluster] = err
	}
}

// Following returns how far the manager has read the store. Views come from memory while the store
// is unavailable, and this is how old they may be.
func (m *Manager) Following() Following {
	f := &m.following
	f.mu.Lock()
	defer f.mu.Unlock()
	return Following{Behind: f.behind, Asked: f.asked, Err: f.err, Damaged: maps.Clone(f.damaged)}
}

// Warm reads the newest states of as many clusters as are kept, so that the first request for one
// does not wait and damage is known early.
func (m *Manager) Warm(ctx context.Context) error {
	list, err := m.st.Clusters(ctx, store.ClusterFilter{Limit: m.o.KeepViews})
	if err != nil {
		return fmt.Errorf("warm up: %w", err)
	}
	for _, c := range list {
		if _, err := m.View(ctx, c.Name, 0); err != nil && ctx.Err() == nil {
			m.o.Log.Error("a cluster's newest revision cannot be loaded", slog.String("cluster", c.Name), slog.Any("error", err))
		}
	}
	return ctx.Err()
}

// keepUp polls the store until the manager is closed.
func (m *Manager) keepUp() {
	for {
		// Replicas that began together drift apart.
		pause := time.NewTimer(m.o.Poll*9/10 + rand.N(m.o.Poll/5+1))
		select {
		case <-pause.C:
		case <-m.epochs.kick:
			pause.Stop()
		case <-m.ctx.Done():
			pause.Stop()
			return
		}
		ctx, cancel := context.WithTimeout(m.ctx, pollTimeout)
		err := m.poll(ctx)
		cancel()
		if m.ctx.Err() == nil {
			m.noteAsked(err)
		}
	}
}

// noteAsked records the result of a poll, and logs when it changes.
func (m *Manager) noteAsked(err error) {
	f := &m.following
	f.mu.Lock()
	before := f.err
	f.err = err
	if err == nil {
		f.asked = m.now()
	}
	f.mu.Unlock()
	switch {
	case err != nil && before == nil:
		m.o.Log.Warn("the store cannot be polled: requests are answered from the states in memory", slog.Any("error", err))
	case err == nil && before != nil:
		m.o.Log.Info("the store can be polled again")
	}
}

// held is a chain with its newest view before the poll.
type held struct {
	l     *chain
	v     *View
	epoch uint64
}

// poll reads the heads of all chains, and the revisions that are new.
func (m *Manager) poll(ctx context.Context) error {
	var all []held
	for l := range m.allChains() {
		// A chain with writes in flight learns its head from their answers.
		s := l.state.Load()
		if v := s.views().durable; v != nil && s.inFlight == 0 {
			all = append(all, held{l, v, s.epoch})
		}
	}
	heads, err := m.st.Heads(ctx)
	if err != nil {
		return err
	}
	m.epochs.found(heads)
	var behind int64
	var errs []error
	for _, h := range all {
		n, err := m.advanceTo(ctx, h, heads[h.l.name])
		behind = max(behind, n)
		errs = append(errs, err)
	}
	m.following.mu.Lock()
	m.following.behind = behind
	m.following.mu.Unlock()
	return errors.Join(errs...)
}

// advanceTo reads a chain up to its stored head. It returns the number of revisions that it still
// lacks.
func (m *Manager) advanceTo(ctx context.Context, h held, end store.Head) (behind int64, err error) {
	// Numbers only grow and tokens are unique: any other head is of a cluster that was created
	// again, or of none.
	if end.Number < h.v.Revision || end.Number == h.v.Revision && end.Token != h.v.token {
		m.forget(h.l, h.epoch)
		return 0, nil
	}
	m.apply(h.l, checkpointed{h.epoch, end.Checkpoint})
	f := &m.following
	f.mu.Lock()
	stuck := f.stuck[h.l.name] == end
	f.mu.Unlock()
	if missing := end.Number - h.v.Revision; missing == 0 || stuck {
		return missing, nil
	}
	v, err := m.catchUp(ctx, h.l, h.v)
	switch {
	case errors.Is(err, errBroken):
		m.forget(h.l, h.epoch) // the next request loads it whole
		return 0, nil
	case errors.Is(err, ErrCorrupt):
		f.judge(h.l.name, err)
		f.mu.Lock()
		f.stuck[h.l.name] = end
		f.mu.Unlock()
		m.o.Log.Error("a cluster's newest revision cannot be loaded", slog.String("cluster", h.l.name), slog.Any("error", err))
		return end.Number - h.v.Revision, nil
	case err != nil:
		return end.Number - h.v.Revision, err
	}
	f.judge(h.l.name, nil)
	m.publish(h.l, h.epoch, v)
	return 0, nil
}

// current returns the newest stored revision of a chain: the view in memory with the changes since.
func (m *Manager) current(ctx context.Context, l *chain) (*View, error) {
	s := l.state.Load()
	base, epoch := s.views().durable, s.epoch
	if base == nil {
		return m.newest(ctx, l)
	}
	v, err := m.catchUp(ctx, l, base)
	if errors.Is(err, errBroken) {
		m.forget(l, epoch)
		return m.newest(ctx, l)
	}
	m.following.judge(l.name, err)
	if err != nil {
		return nil, err
	}
	return m.publish(l, epoch, v), nil
}

// catchUp reads the revisions after a view up to the stored head. The error is errBroken if the
// view is not of that chain, or if changes between were deleted.
func (m *Manager) catchUp(ctx context.Context, l *chain, v *View) (*View, error) {
	for limit := page; ; {
		// The view's own row is read too: its token shows whether it is the same chain.
		list, err := m.st.RevisionsAfter(ctx, l.name, v.Revision-1, limit)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", FormatID(l.name, 0), err)
		}
		if len(list) == 0 || list[0].Number != v.Revision || list[0].Token != v.token {
			return nil, errBroken
		}
		size := 0
		for _, r := range list {
			size += len(r.Change)
		}
		var more bool
		limit, more = store.NextPage(max(limit, 2), len(list), size, page)
		if v, err = m.extend(ctx, l, v, list[1:]); err != nil || !more {
			return v, err
		}
	}
}

// extend applies the revisions that follow a view.
func (m *Manager) extend(ctx context.Context, l *chain, v *View, list []*store.Revision) (*View, error) {
	at, whole := v.predecessor(), -1
	for i, r := range list {
		if !at.leadsTo(r) {
			return nil, errBroken
		}
		if at = (predecessor{r.Number, r.Token}); r.Change == nil {
			whole = i
		}
	}
	if whole >= 0 { // an upload: it replaces what was before
		var err error
		if v, err = m.loadCheckpoint(ctx, l, list[whole]); err != nil {
			return nil, err
		}
		list = list[whole+1:]
	}
	if len(list) == 0 {
		return v, nil
	}
	d, w, checkpoint := v.inv.draft(), v.woken, v.checkpoint
	for _, r := range list {
		if err := d.apply(r.Change); err != nil {
			return nil, corrupt(l.name, r.Number, "change", err)
		}
		w = w.follow(r)
		if r.Checkpointed {
			checkpoint = r.Number
		}
	}
	last := list[len(list)-1]
	summary, err := ParseSummary(last.Summary)
	if err != nil {
		return nil, corrupt(l.name, last.Number, "summary", err)
	}
	inv, err := d.done(steps.Of(ctx))
	if err != nil {
		return nil, err
	}
	next := viewOf(last, inv, w, checkpoint)
	next.Summary = summary
	return next, m.compile(ctx, next, v.State, v.inv)
}
