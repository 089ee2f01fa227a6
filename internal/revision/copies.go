package revision

import (
	"context"
	"errors"
	"fmt"

	"berth/internal/memory"
	"berth/internal/store"
)

// mostOrigins is how many copies of copies are read one after the other to load the last of them.
// Each reads the one before it.
const mostOrigins = 8

// ExistsError is the error of a copy under the name of a cluster that exists. It wraps
// store.ErrConflict.
type ExistsError struct{ ID string }

func (e *ExistsError) Error() string {
	return fmt.Sprintf("cluster %s exists", e.ID)
}

// Unwrap returns store.ErrConflict.
func (e *ExistsError) Unwrap() error { return store.ErrConflict }

// Copy begins a cluster with the content of a stored revision of another one, 0 for the newest. No
// object is read or written, however many there are: the first revision of the copy refers to the
// source's, which stays readable for it. The pods of holds stay on their nodes, as pods that are
// bound; the holds are the source's alone. The view has no state.
func (m *Manager) Copy(ctx context.Context, cluster, source string, revision int64) (*View, error) {
	if err := CheckName(cluster); err != nil {
		return nil, err
	}
	of, sum, err := m.origin(ctx, source, revision)
	if err != nil {
		return nil, err
	}
	l, err := m.chain(ctx, cluster, true)
	if err != nil {
		return nil, err
	}
	defer m.leave(l)
	if err := l.lock(ctx); err != nil {
		return nil, err
	}
	defer l.unlock()
	if err := m.quiet(ctx, l); err != nil {
		return nil, err
	}
	switch there, err := m.st.Newest(ctx, cluster); {
	case err == nil:
		return nil, &ExistsError{FormatID(cluster, there.Number)}
	case !errors.Is(err, store.ErrNotFound):
		return nil, fmt.Errorf("%s: %w", FormatID(cluster, 0), err)
	}
	sum.Holds = nil
	v := &View{Cluster: cluster, Digest: of.Digest, CreatedAt: m.now(), Cause: store.CauseFork, Summary: sum}
	if v.Revision, err = m.first(cluster); err != nil {
		return nil, err
	}
	v.token = store.NewToken(v.Revision)
	r, err := revisionOf(v, "")
	if err != nil {
		return nil, err
	}
	r.Asked = store.AskedOf(ctx)
	if err := store.KeyedOf(ctx).Prepare(v); err != nil {
		return nil, err
	}
	e := &store.Entry{Revision: r, Origin: &store.Origin{
		Cluster: cluster, Number: v.Revision, Source: source, SourceNumber: of.Number, Token: of.Token,
	}}
	e.Call = store.KeyedOf(ctx).Claim(pathOf(e))
	wait, err := m.g.Submit(ctx, e)
	if err == nil {
		err = wait(ctx)
	}
	if err == nil {
		err = e.Err
	}
	if errors.Is(err, store.ErrConflict) { // another process was first
		return nil, &ExistsError{FormatID(cluster, v.Revision)}
	}
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", v.ID(), err)
	}
	return v, nil
}

// origin returns the row of a revision that is to be copied, and its summary.
func (m *Manager) origin(ctx context.Context, source string, revision int64) (r *store.Revision, sum Summary, err error) {
	r, err = m.row(ctx, source, revision)
	if err == nil {
		sum, err = summaryOf(r)
	}
	if err == nil && revision == 0 && sum.Holds != nil && store.HoldOver(sum.Holds.Until, m.now()) {
		// What is over ends first, as for any call that reads the newest.
		if _, err = m.View(ctx, source, 0); err == nil {
			r, err = m.row(ctx, source, 0)
		}
		if err == nil {
			sum, err = summaryOf(r)
		}
	}
	if err != nil {
		return nil, sum, err
	}
	return r, sum, m.bounded(ctx, r)
}

func (m *Manager) row(ctx context.Context, cluster string, revision int64) (r *store.Revision, err error) {
	if revision == 0 {
		r, err = m.st.Newest(ctx, cluster)
		err = m.absent(cluster, err)
	} else {
		r, err = m.st.Revision(ctx, cluster, revision)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", FormatID(cluster, revision), err)
	}
	return r, nil
}

func summaryOf(r *store.Revision) (Summary, error) {
	sum, err := ParseSummary(r.Summary)
	if err != nil {
		err = corrupt(r.Cluster, r.Number, "summary", err)
	}
	return sum, err
}

// bounded writes a revision whole that is the last of too many copies of copies.
func (m *Manager) bounded(ctx context.Context, r *store.Revision) error {
	at := r
	for n := 1; !at.Checkpointed; n++ {
		o, err := m.st.Origin(ctx, at.Cluster)
		switch {
		case errors.Is(err, store.ErrNotFound):
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", FormatID(at.Cluster, at.Number), err)
		case n == mostOrigins:
			return m.makeWhole(ctx, r.Cluster, r.Number)
		}
		if at, err = m.row(ctx, o.Source, o.SourceNumber); err != nil {
			return err
		}
	}
	return nil
}

// loadOrigin reads a revision of a copy from what the copy is of.
func (m *Manager) loadOrigin(ctx context.Context, r *store.Revision) (base *View, at predecessor, err error) {
	o, err := m.st.Origin(ctx, r.Cluster)
	if err != nil || o.Number > r.Number {
		if err == nil || errors.Is(err, store.ErrNotFound) {
			err = corrupt(r.Cluster, r.Number, "there is no checkpoint before it", nil)
		}
		return nil, at, err
	}
	base, err = m.view(ctx, o.Source, o.SourceNumber)
	if err != nil {
		return nil, at, fmt.Errorf("%s is a copy: %w", FormatID(o.Cluster, o.Number), err)
	}
	return base, predecessor{number: o.Number}, nil
}

// release writes the first revisions of copies whole that need a cluster, or one revision of it, so
// that they do without. It costs what the content of each does, while nothing waits for it but the
// deletion.
func (m *Manager) release(ctx context.Context, source string, revision int64) error {
	list, err := m.st.Copies(ctx, source, revision)
	if err != nil {
		return fmt.Errorf("copies of %s: %w", FormatID(source, revision), err)
	}
	for _, o := range list {
		// A copy that was deleted meanwhile needs nothing.
		if err := m.makeWhole(ctx, o.Cluster, o.Number); err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
	}
	return nil
}

// makeWhole adds a checkpoint to a revision.
func (m *Manager) makeWhole(ctx context.Context, cluster string, revision int64) error {
	if m.o.Budget != nil {
		claim := m.o.Budget.PatientClaim()
		defer claim.End()
		ctx = memory.With(ctx, claim)
	}
	v, err := m.view(ctx, cluster, revision)
	if err != nil {
		return err
	}
	return m.putCheckpoint(v)
}
