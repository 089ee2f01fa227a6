package cluster

import (
	"cmp"
	"slices"
)

// Held lists the newest durable views that are in memory, by cluster: those
// that were used lately. It reads nothing.
func (m *Manager) Held() []*View {
	m.mu.Lock()
	lines := make([]*chain, 0, len(m.chains))
	for _, l := range m.chains {
		lines = append(lines, l)
	}
	m.mu.Unlock()
	var out []*View
	for _, l := range lines {
		if v := l.held(0); v != nil {
			out = append(out, v)
		}
	}
	slices.SortFunc(out, func(a, b *View) int { return cmp.Compare(a.Cluster, b.Cluster) })
	return out
}
