package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"time"

	"berth/internal/store"
)

// pollTimeout bounds one round of following, so that a store that hangs is
// noticed like one that is away.
const pollTimeout = 10 * time.Second

// Following says how far a manager knows what other processes wrote.
type Following struct {
	// Behind is by how many revisions the cluster that is furthest behind its
	// stored end was, when the store was last asked.
	Behind int64
	// Asked is when the store last answered.
	Asked time.Time
	// Err is why it did not answer since; nil where it did.
	Err error
	// Damaged are the clusters whose newest revision cannot be loaded, and why.
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

// judge notes whether a cluster's newest revision could be loaded. Only what is
// wrong with what is stored counts.
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

// Following tells how the manager follows the store. Views are given from
// memory as long as the store is away, so whoever wants to know how old they
// may be asks here.
func (m *Manager) Following() Following {
	f := &m.following
	f.mu.Lock()
	defer f.mu.Unlock()
	return Following{Behind: f.behind, Asked: f.asked, Err: f.err, Damaged: maps.Clone(f.damaged)}
}

// Warm reads the newest states of as many clusters as are held, so that the
// first question about one need not wait, and damage is known before it is asked
// for.
func (m *Manager) Warm(ctx context.Context) error {
	list, err := m.st.Clusters(ctx)
	if err != nil {
		return fmt.Errorf("warm up: %w", err)
	}
	for _, c := range list[:min(len(list), m.o.KeepViews)] {
		if _, err := m.View(ctx, c.Name, 0); err != nil && ctx.Err() == nil {
			m.o.Log.Error("a cluster's newest revision cannot be loaded", "cluster", c.Name, "error", err)
		}
	}
	return ctx.Err()
}

// keepUp asks again and again until the manager ends.
func (m *Manager) keepUp() {
	for {
		// Replicas that began together drift apart.
		pause := time.NewTimer(m.o.Poll*9/10 + rand.N(m.o.Poll/5+1))
		select {
		case <-pause.C:
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

// noteAsked keeps what a round came to, and logs where that changes.
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
		m.o.Log.Warn("the store does not tell what others wrote: questions are answered from what is known", "error", err)
	case err == nil && before != nil:
		m.o.Log.Info("the store tells again what others wrote")
	}
}

// held is a line with what it knew before the store was asked.
type held struct {
	l     *line
	v     *View
	epoch uint64
}

// poll asks for the ends of all chains and reads on where something is new.
func (m *Manager) poll(ctx context.Context) error {
	var all []held
	m.mu.Lock()
	for _, l := range m.lines {
		l.mu.Lock()
		// Whoever writes learns from the answer where the chain ends.
		if l.durable != nil && l.flying == 0 {
			all = append(all, held{l, l.durable, l.epoch})
		}
		l.mu.Unlock()
	}
	m.mu.Unlock()
	heads, err := m.st.Heads(ctx)
	if err != nil {
		return err
	}
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

// advanceTo brings a line to where its chain ends now, and says by how many
// revisions it still is behind.
func (m *Manager) advanceTo(ctx context.Context, h held, end store.Head) (behind int64, err error) {
	// Numbers only grow and tokens are given once: any other end is of a cluster
	// that was made again, or of none.
	if end.Number < h.v.Revision || end.Number == h.v.Revision && end.Token != h.v.token {
		m.forget(h.l, h.epoch)
		return 0, nil
	}
	h.l.mu.Lock()
	if h.l.epoch == h.epoch {
		h.l.checkpoint = max(h.l.checkpoint, end.Checkpoint)
	}
	h.l.mu.Unlock()
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
		m.forget(h.l, h.epoch) // the next question loads it whole
		return 0, nil
	case errors.Is(err, ErrCorrupt):
		f.judge(h.l.name, err)
		f.mu.Lock()
		f.stuck[h.l.name] = end
		f.mu.Unlock()
		m.o.Log.Error("a cluster's newest revision cannot be loaded", "cluster", h.l.name, "error", err)
		return end.Number - h.v.Revision, nil
	case err != nil:
		return end.Number - h.v.Revision, err
	}
	f.judge(h.l.name, nil)
	m.arrive(h.l, h.epoch, v)
	return 0, nil
}

// current gives the newest stored revision of a line: what is in memory and the
// changes since.
func (m *Manager) current(ctx context.Context, l *line) (*View, error) {
	l.mu.Lock()
	base, epoch := l.durable, l.epoch
	l.mu.Unlock()
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
	return m.arrive(l, epoch, v), nil
}

// arrive makes a stored revision the one that readers see, unless they see a
// newer one, and gives what they see.
func (m *Manager) arrive(l *line, epoch uint64, v *View) *View {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.epoch != epoch { // the cluster may be another one by now
		return v
	}
	if l.durable == nil || l.durable.Revision < v.Revision {
		l.remember(v, m.o.KeepViews)
		l.durable = v
		l.announce()
		if l.head != nil && l.flying == 0 && l.head.Revision < v.Revision {
			l.head = v
		}
	}
	l.checkpoint = max(l.checkpoint, v.checkpoint)
	return l.durable
}

// catchUp reads on from a view to its cluster's stored end. errBroken says that
// the view is not of that chain, or that changes between are gone.
func (m *Manager) catchUp(ctx context.Context, l *line, v *View) (*View, error) {
	for {
		// The view's own row comes along: its token tells whether it is the same chain.
		list, err := m.st.RevisionsAfter(ctx, l.name, v.Revision-1, page)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", FormatID(l.name, 0), err)
		}
		if len(list) == 0 || list[0].Number != v.Revision || list[0].Token != v.token {
			return nil, errBroken
		}
		if v, err = m.extend(ctx, l, v, list[1:]); err != nil || len(list) < page {
			return v, err
		}
	}
}

// extend applies the revisions that follow a view.
func (m *Manager) extend(ctx context.Context, l *line, v *View, list []*store.Revision) (*View, error) {
	number, token, whole := v.Revision, v.token, -1
	for i, r := range list {
		if r.Number != number+1 || r.ParentToken != token {
			return nil, errBroken
		}
		if number, token = r.Number, r.Token; r.Change == nil {
			whole = i
		}
	}
	if whole >= 0 { // an upload: what was before it does not matter
		var err error
		if v, err = m.loadCheckpoint(ctx, l, list[whole]); err != nil {
			return nil, err
		}
		list = list[whole+1:]
	}
	if len(list) == 0 {
		return v, nil
	}
	d, checkpoint := v.inv.draft(), v.checkpoint
	for _, r := range list {
		if err := d.apply(r.Change); err != nil {
			return nil, corrupt(l.name, r.Number, "change", err)
		}
		if r.Checkpointed {
			checkpoint = r.Number
		}
	}
	last := list[len(list)-1]
	summary, err := ParseSummary(last.Summary)
	if err != nil {
		return nil, corrupt(l.name, last.Number, "summary", err)
	}
	next := viewOf(last, d.done(), checkpoint)
	next.Summary = summary
	return next, m.compile(next, v.State, v.inv)
}
