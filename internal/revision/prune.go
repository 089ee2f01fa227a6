package revision

import (
	"context"
	"errors"
	"fmt"

	"berth/internal/store"
)

// List lists a cluster's stored revisions, newest first, those before a number
// (0: all).
func (m *Manager) List(ctx context.Context, cluster string, before int64, limit int) ([]*store.Revision, error) {
	return m.st.ListRevisions(ctx, cluster, before, limit)
}

// Clusters lists the clusters by name.
func (m *Manager) Clusters(ctx context.Context, f store.ClusterFilter) ([]store.ClusterInfo, error) {
	return m.st.Clusters(ctx, f)
}

// Count returns how many clusters there are.
func (m *Manager) Count(ctx context.Context) (int, error) {
	heads, err := m.st.Heads(ctx)
	return len(heads), err
}

// Delete removes a revision: store.ErrInUse while decisions or jobs refer to it,
// store.ErrConflict for the newest. The one after gets a checkpoint first, so
// that it does without the change that goes.
func (m *Manager) Delete(ctx context.Context, cluster string, revision int64) error {
	newest, err := m.st.Newest(ctx, cluster)
	if err != nil {
		return fmt.Errorf("%s: %w", FormatID(cluster, revision), err)
	}
	if revision == newest.Number {
		return fmt.Errorf("%s is the newest: %w", FormatID(cluster, revision), store.ErrConflict)
	}
	if _, err := m.st.Revision(ctx, cluster, revision); err != nil {
		return fmt.Errorf("%s: %w", FormatID(cluster, revision), err)
	}
	next, err := m.st.Revision(ctx, cluster, revision+1)
	switch {
	case errors.Is(err, store.ErrNotFound): // deleted before
	case err != nil:
		return fmt.Errorf("%s: %w", FormatID(cluster, revision+1), err)
	case next.Change != nil && !next.Checkpointed:
		v, err := m.View(ctx, cluster, revision+1)
		if err != nil {
			return err
		}
		if err := m.putCheckpoint(v); err != nil {
			return err
		}
	}
	if err := m.release(ctx, cluster, revision); err != nil {
		return err
	}
	if err := m.st.DeleteRevision(ctx, cluster, revision); err != nil {
		return fmt.Errorf("delete %s: %w", FormatID(cluster, revision), err)
	}
	m.views.drop(cluster, revision)
	if l := m.chainInMemory(cluster); l != nil {
		m.apply(l, deleted{revision})
	}
	return nil
}

// DeleteCluster removes a cluster with its revisions and decisions. Writes on
// their way end first. Copies of it are written whole before.
func (m *Manager) DeleteCluster(ctx context.Context, cluster string) error {
	for n := 1; ; n++ {
		if err := m.release(ctx, cluster, 0); err != nil {
			return err
		}
		// A copy may have been made meanwhile.
		if err := m.deleteCluster(ctx, cluster); n == tries || !errors.Is(err, store.ErrInUse) {
			return err
		}
	}
}

func (m *Manager) deleteCluster(ctx context.Context, cluster string) error {
	l, err := m.chain(ctx, cluster, false)
	if err != nil {
		return err
	}
	defer m.leave(l)
	if err := l.lock(ctx); err != nil {
		return err
	}
	defer l.unlock()
	if err := m.quiet(ctx, l); err != nil {
		return err
	}
	if err := m.st.DeleteCluster(ctx, cluster); err != nil {
		return fmt.Errorf("delete cluster %s: %w", cluster, err)
	}
	m.epochs.deleted(cluster)
	m.forget(l, l.state.Load().epoch)
	return nil
}

// forget drops everything in memory of a cluster that is there no more, or is
// another one by now, unless that was done since epoch.
func (m *Manager) forget(l *chain, epoch uint64) {
	m.mu.Lock()
	m.gone++
	m.views.drop(l.name, 0)
	m.mu.Unlock()
	m.following.judge(l.name, nil)
	m.apply(l, forgotten{epoch})
}
