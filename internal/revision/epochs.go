package revision

import (
	"errors"
	"fmt"
	"maps"
	"sync"

	"berth/internal/store"
)

// epochs is what a manager remembers of clusters beyond their chains in memory, for a database that
// may be replaced by one that lacks some.
type epochs struct {
	kick chan struct{} // has the next poll begin now

	mu    sync.Mutex
	heads map[string]store.Head // of the last poll
	gone  map[string]*GoneError
}

// found remembers what a poll found. A cluster that is there again is not gone.
func (e *epochs) found(heads map[string]store.Head) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heads = heads
	for name := range heads {
		delete(e.gone, name)
	}
}

// Replaced has the clusters read from a database that took the place of another one.
func (m *Manager) Replaced(c *store.EpochChange) {
	e := &m.epochs
	e.mu.Lock()
	for i := range c.Losses {
		if l := &c.Losses[i]; l.FirstRevision == 1 {
			if e.gone == nil {
				e.gone = map[string]*GoneError{}
			}
			e.gone[l.Cluster] = &GoneError{Cluster: l.Cluster, At: c.At, Last: l.LastRevision}
		}
	}
	e.mu.Unlock()
	m.pollNow()
}

func (m *Manager) pollNow() {
	select {
	case m.epochs.kick <- struct{}{}:
	default:
	}
}

// absent replaces the error of a cluster that the store does not have where more is known of it:
// that it was lost with a database, or that it was there at the last poll.
func (m *Manager) absent(cluster string, err error) error {
	if err == nil || !errors.Is(err, store.ErrNotFound) {
		return err
	}
	e := &m.epochs
	e.mu.Lock()
	defer e.mu.Unlock()
	if gone := e.gone[cluster]; gone != nil {
		return gone
	}
	if _, known := e.heads[cluster]; known {
		m.pollNow()
		return fmt.Errorf("%w: cluster %s was there a moment ago and is not found", store.ErrUnavailable, cluster)
	}
	return err
}

// first returns the number of a cluster's first revision: one that was not given out, where the
// cluster was lost with a database.
func (m *Manager) first(cluster string) (int64, error) {
	m.epochs.mu.Lock()
	defer m.epochs.mu.Unlock()
	if gone := m.epochs.gone[cluster]; gone != nil {
		return store.EpochStart(gone.Last)
	}
	return 1, nil
}

// deleted forgets a cluster.
func (e *epochs) deleted(cluster string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.heads = maps.Clone(e.heads)
	delete(e.heads, cluster)
	delete(e.gone, cluster)
}

// reread replaces the error of a decision whose revision the store lacks, though it was read from
// there: the database has gone back, and the same question succeeds once the cluster is read again.
func (m *Manager) reread(d *store.Decision, err error) error {
	if m.o.Poll == 0 || d.Revision == 0 || !errors.Is(err, store.ErrNotFound) {
		return err
	}
	m.pollNow()
	return fmt.Errorf("%w: %s is not stored any more, and the cluster is read again (%s)", store.ErrUnavailable, FormatID(d.Cluster, d.Revision), err.Error())
}
