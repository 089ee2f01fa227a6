package revision

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"berth/internal/engine/recall"
	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/memory"
	"berth/internal/steps"
	"berth/internal/store"
)

// page is how many revisions are read at a time.
const page = 200

// errBroken is the error if changes alone do not lead from a view to a revision.
var errBroken = errors.New("the changes between are not all there")

// changeFactor is what a change takes once its objects are in a state, in bytes a byte as stored.
const changeFactor = 8

// load reads a revision: from a view in memory that is not far before it, else
// from the nearest checkpoint, and the changes from there. What it gives has
// the digest that was recorded. Its memory is as urgent as that of the claim, which may be nil.
func (m *Manager) load(ctx context.Context, l *chain, revision int64, of *memory.Claim) (*View, error) {
	m.mu.Lock()
	gone := m.gone
	m.mu.Unlock()
	r, err := m.st.Revision(ctx, l.name, revision)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", FormatID(l.name, revision), err)
	}
	if m.o.Budget != nil {
		claim := m.o.Budget.Like(of)
		defer claim.End()
		ctx = memory.With(ctx, claim)
	}
	v, err := m.loadNear(ctx, l, r)
	if errors.Is(err, errBroken) {
		v, err = m.loadCheckpoint(ctx, l, r)
	}
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.gone == gone {
		m.views.put(v)
	}
	return v, nil
}

// near finds a view in memory from which a few changes lead to a revision.
func (m *Manager) near(l *chain, revision int64) *View {
	first := revision - int64(m.o.CheckpointEvery)
	best := m.views.before(l.name, revision, first)
	have := l.state.Load().views()
	for _, v := range append([]*View{have.durable}, have.recent...) {
		if v != nil && v.Revision < revision && v.Revision >= first && (best == nil || best.Revision < v.Revision) {
			best = v
		}
	}
	return best
}

func (m *Manager) loadNear(ctx context.Context, l *chain, r *store.Revision) (*View, error) {
	base := m.near(l, r.Number)
	if base == nil {
		return nil, errBroken
	}
	inv, woken, err := m.follow(ctx, base.inv, base.woken, l.name, base.predecessor(), r)
	if err != nil {
		return nil, err
	}
	summary, err := ParseSummary(r.Summary)
	if err != nil {
		return nil, corrupt(l.name, r.Number, "summary", err)
	}
	v := viewOf(r, inv, woken, base.checkpoint)
	v.Summary, v.decider = summary, base.decider
	return v, m.compile(ctx, v, base.State, base.inv)
}

func (m *Manager) loadCheckpoint(ctx context.Context, l *chain, r *store.Revision) (*View, error) {
	unlock := func() {}
	defer func() { unlock() }()
	c, err := m.st.CheckpointAt(ctx, l.name, r.Number, func(size int) (err error) {
		if size < largeCheckpoint {
			return memory.Take(ctx, int64(size))
		}
		if unlock, err = m.lockLarge(ctx); err != nil {
			return err
		}
		// The store's copy, the driver's and ours.
		if err := memory.TakeOutside(ctx, int64(size)); err != nil {
			return err
		}
		return memory.Take(ctx, 2*int64(size)+codingBytes)
	})
	if errors.Is(err, store.ErrNotFound) {
		return m.loadCopy(ctx, r)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", FormatID(l.name, r.Number), err)
	}
	var share *inventory
	if v := l.held(0); v != nil {
		share = v.inv
	}
	inv, err := decodeCheckpoint(c.Payload, share, takeFrom(ctx))
	if memory.Refused(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return nil, err
	}
	if err != nil {
		return nil, corrupt(l.name, r.Number, fmt.Sprintf("checkpoint at revision %d", c.Number), err)
	}
	woken, err := decodeWoken(c.Woken)
	if err != nil {
		woken = unknownAt(c.Number) // of an older release, or damaged
	}
	if inv, woken, err = m.follow(ctx, inv, woken, l.name, predecessor{number: c.Number}, r); err != nil {
		if errors.Is(err, errBroken) {
			return nil, corrupt(l.name, r.Number, err.Error(), nil)
		}
		return nil, err
	}
	v := viewOf(r, inv, woken, c.Number)
	return v, m.complete(ctx, v, r, state.NewState(), new(inventory))
}

// loadCopy reads a revision of a copy that is not behind a checkpoint.
func (m *Manager) loadCopy(ctx context.Context, r *store.Revision) (*View, error) {
	base, at, err := m.loadOrigin(ctx, r)
	if err != nil {
		return nil, err
	}
	// Nothing was ever woken where a cluster begins.
	inv, woken, err := m.follow(ctx, base.inv, &woken{}, r.Cluster, at, r)
	if errors.Is(err, errBroken) {
		return nil, corrupt(r.Cluster, r.Number, err.Error(), nil)
	}
	if err != nil {
		return nil, err
	}
	v := viewOf(r, inv, woken, at.number)
	return v, m.complete(ctx, v, r, base.State, base.inv)
}

// complete adds to a view that was read what follows from its content.
func (m *Manager) complete(ctx context.Context, v *View, r *store.Revision, st *state.State, from *inventory) error {
	stored, err := summaryOf(r)
	if err != nil {
		return err
	}
	v.decider = recall.NewPool()
	if err := m.compile(ctx, v, st, from); err != nil {
		return err
	}
	v.Summary, err = recount(steps.Of(ctx), v.inv, v.State, stored)
	return err
}

// lockLarge waits until no other large checkpoint is read or made: several of them would each hold
// a part of the memory, and none would get all it needs.
func (m *Manager) lockLarge(ctx context.Context) (done func(), err error) {
	select {
	case m.large <- struct{}{}:
		return func() { <-m.large }, nil
	case <-ctx.Done():
		return func() {}, ctx.Err()
	}
}

func viewOf(r *store.Revision, inv *inventory, w *woken, checkpoint int64) *View {
	return &View{
		Cluster: r.Cluster, Revision: r.Number, Digest: r.Digest, CreatedAt: r.CreatedAt.UTC(), Cause: r.Cause,
		inv: inv, woken: w, token: r.Token, checkpoint: checkpoint,
	}
}

// compile checks what was read against its digest and makes the state. Only
// then are objects decoded.
func (m *Manager) compile(ctx context.Context, v *View, st *state.State, from *inventory) error {
	if got := v.inv.digest(); got != v.Digest {
		return corrupt(v.Cluster, v.Revision, fmt.Sprintf("content has the digest %s, not %s", got, v.Digest), nil)
	}
	state, err := advance(ctx, st, from, v.inv)
	if err != nil && ctx.Err() != nil {
		return err
	}
	if err != nil {
		return corrupt(v.Cluster, v.Revision, "content", err)
	}
	v.State = state
	return nil
}

// predecessor is a revision that others follow. The token is empty where it is not known.
type predecessor struct {
	number int64
	token  string
}

func (v *View) predecessor() predecessor { return predecessor{v.Revision, v.token} }

// leadsTo reports whether a revision is the next one. One that begins an epoch leaves numbers out,
// which those that were deleted do not show in: its parent has to fit.
func (p predecessor) leadsTo(r *store.Revision) bool {
	fits := r.ParentToken == p.token || p.token == ""
	return fits && (r.Number == p.number+1 || r.Number > p.number && r.BeginsEpoch())
}

// follow applies the changes after a revision up to r.
func (m *Manager) follow(ctx context.Context, inv *inventory, w *woken, cluster string, at predecessor, r *store.Revision) (*inventory, *woken, error) {
	d, limit := inv.draft(), page
	for at.number < r.Number {
		var list []*store.Revision
		var err error
		if at.number+1 == r.Number {
			list = []*store.Revision{r}
		} else if list, err = m.st.RevisionsAfter(ctx, cluster, at.number, int(min(int64(limit), r.Number-at.number))); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", FormatID(cluster, r.Number), err)
		}
		if len(list) == 0 {
			return nil, nil, errBroken
		}
		size := 0
		for _, next := range list {
			size += len(next.Change)
			if err := memory.Take(ctx, changeFactor*int64(len(next.Change))); err != nil {
				return nil, nil, err
			}
			if at.number == r.Number {
				break // numbers that are left out let a page reach beyond
			}
			if !at.leadsTo(next) || next.Change == nil {
				return nil, nil, errBroken
			}
			if err := d.apply(next.Change); err != nil {
				return nil, nil, corrupt(cluster, next.Number, "change", err)
			}
			w = w.follow(next)
			at = predecessor{next.Number, next.Token}
		}
		limit, _ = store.NextPage(limit, len(list), size, page)
	}
	inv, err := d.done(steps.Of(ctx))
	return inv, w, err
}

// apply replays a stored change.
func (d *draft) apply(payload []byte) error {
	c, err := decodeChange(payload)
	if err != nil {
		return err
	}
	for _, k := range c.Delete {
		if d.remove(k) == nil {
			return fmt.Errorf("deletes %v, which is not there", k)
		}
	}
	for i, js := range c.Apply {
		k, err := keyOf(js)
		if err != nil {
			return fmt.Errorf("apply[%d]: %w", i, err)
		}
		d.put(newEntry(k, js))
	}
	if c.Bind == nil {
		return nil
	}
	e := d.inv.get(object.Key{Kind: "Pod", Namespace: c.Bind.Namespace, Name: c.Bind.Name})
	if e == nil {
		return fmt.Errorf("binds pod %s/%s, which is not there", c.Bind.Namespace, c.Bind.Name)
	}
	pod, err := decodePod(e)
	if err != nil {
		return err
	}
	js, err := object.Encode(Bound(pod, c.Bind.Node))
	if err != nil {
		return err
	}
	d.put(newEntry(e.key, js))
	return nil
}

// keyOf reads which object a canonical encoding is of.
func keyOf(js []byte) (object.Key, error) {
	var h struct {
		Kind     string `json:"kind"`
		Metadata struct {
			Namespace string `json:"namespace"`
			Name      string `json:"name"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(js, &h); err != nil {
		return object.Key{}, err
	}
	return object.Key{Kind: h.Kind, Namespace: h.Metadata.Namespace, Name: h.Metadata.Name}, nil
}

// takeFrom reserves memory from the claim of a context, until that ends.
func takeFrom(ctx context.Context) func(bytes int) error {
	return func(bytes int) error {
		if err := ctx.Err(); err != nil {
			return err //nolint:wrapcheck // it is the caller's own
		}
		return memory.Take(ctx, int64(bytes))
	}
}
