package revision

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
)

// chain returns a cluster's chain; where there is none yet, one is made only if the store knows the
// cluster or create is set, so that unknown names cost nothing. The caller has to leave the chain
// once.
func (m *Manager) chain(ctx context.Context, cluster string, create bool) (*chain, error) {
	if m.chainInMemory(cluster) == nil && !create {
		if _, err := m.st.Newest(ctx, cluster); err != nil {
			return nil, fmt.Errorf("%s: %w", FormatID(cluster, 0), err)
		}
	}
	m.mu.Lock()
	l := m.chainInMemory(cluster)
	if l == nil {
		l = newChain(cluster)
		m.chains.Store(cluster, l)
	}
	l.users++
	m.mu.Unlock()
	l.used.Store(m.ticks.Add(1))
	return l, nil
}

// chainInMemory returns a cluster's chain, or nil. It may be dropped, and then holds no state, if
// the caller does not hold m.mu.
func (m *Manager) chainInMemory(cluster string) *chain {
	if l, ok := m.chains.Load(cluster); ok {
		return l.(*chain)
	}
	return nil
}

// allChains returns the chains in memory.
func (m *Manager) allChains() iter.Seq[*chain] {
	return func(yield func(*chain) bool) {
		m.chains.Range(func(_, l any) bool { return yield(l.(*chain)) })
	}
}

// leave ends a call's use of a chain. Chains of deleted clusters, and those whose states were
// evicted, are dropped with their last user.
func (m *Manager) leave(l *chain) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l.users--
	m.dropUnused(l)
}

// dropUnused drops a chain that holds no state. The caller holds m.mu.
func (m *Manager) dropUnused(l *chain) {
	if l.users == 0 && l.state.Load().unused() {
		m.chains.CompareAndDelete(l.name, l)
	}
}

// Held lists the newest durable views that are in memory, by cluster: those that were needed
// lately. It reads nothing.
func (m *Manager) Held() []*View {
	var out []*View
	for l := range m.allChains() {
		if v := l.held(0); v != nil {
			out = append(out, v)
		}
	}
	slices.SortFunc(out, func(a, b *View) int { return cmp.Compare(a.Cluster, b.Cluster) })
	return out
}

// trim drops the least recently used clusters' states beyond KeepViews or KeepObjects, except those
// with writes in flight.
func (m *Manager) trim(but *chain) { m.trimTo(but, m.o.KeepObjects) }

// Relieve drops what can be read or worked out again: older revisions, memos, and half of the
// newest states. It is called when memory is short.
func (m *Manager) Relieve() {
	m.views.clear()
	m.trimTo(nil, m.o.KeepObjects/2)
	for _, v := range m.Held() {
		v.State.DropMemos()
		if v.decider != nil {
			v.decider.Drop()
		}
	}
}

func (m *Manager) trimTo(but *chain, keepObjects int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for {
		var oldest *chain
		n, objects := 0, 0
		for l := range m.allChains() {
			s := l.state.Load()
			if v := s.views().durable; v != nil {
				objects += v.weight()
			}
			m.dropUnused(l)
			if s.position == (empty{}) {
				continue
			}
			n++
			if l != but && !s.busy() && (oldest == nil || l.used.Load() < oldest.used.Load()) {
				oldest = l
			}
		}
		if n <= m.o.KeepViews && objects <= keepObjects || oldest == nil || !m.evict(oldest) {
			return
		}
	}
}

// evict drops the states of a chain without a writer. It reports whether it did.
func (m *Manager) evict(l *chain) bool {
	select {
	case l.writer <- struct{}{}:
	default:
		return false
	}
	defer l.unlock()
	_, e := m.apply(l, evicted{})
	return !e.stale
}
