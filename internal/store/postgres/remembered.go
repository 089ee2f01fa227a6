package postgres

import (
	"bytes"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"berth/internal/store"
	"berth/internal/store/batch"
)

// Bounds of what is remembered of acknowledged records, 40 bytes each: 10 MiB.
const (
	rememberFor   = 10 * time.Minute
	maxRemembered = 1 << 18
)

// remembered is what this process knows to have been stored, whatever becomes of the database.
type remembered struct {
	mu         sync.Mutex
	generation int64 // of the connections whose commits count
	of         map[string]*clusterMemory
	seen       map[string]store.Head // as the last poll found them; not written
	records    []acknowledged        // ascending by at
}

// clusterMemory is the end of a cluster's chain behind the last commit.
type clusterMemory struct {
	cluster string
	seal    int64
	hash    []byte
	seq     int64
	newest  int64 // revision
	token   string
	at      time.Time
	// dropped is the newest seal with a record that is not remembered any more.
	dropped int64
}

// acknowledged is a decision that was answered.
type acknowledged struct {
	id   uuid.UUID
	at   int64 // microseconds since 1970
	seal int64 // of the commit; one of before it where the record was stored already
	of   *clusterMemory
}

// add remembers a committed batch. It reports false where the connection's generation is over: what
// was committed is in a database that others have left.
func (m *remembered) add(generation int64, a *appending, entries []*store.Entry, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if generation != m.generation {
		return false
	}
	for cluster, h := range a.Heads {
		m.head(cluster, h, now)
	}
	for _, e := range entries {
		if e.Err != nil {
			continue
		}
		for d := range e.Decisions() {
			of := m.of[d.Cluster]
			id, err := uuid.Parse(d.ID) // no server writes others
			if err == nil && of != nil {
				m.records = append(m.records, acknowledged{id, now.UnixMicro(), of.seal, of})
			}
		}
	}
	m.trim(now)
	return true
}

func (m *remembered) head(cluster string, h *batch.Head, now time.Time) {
	if h.Seal == 0 {
		return
	}
	have := m.of[cluster]
	if have == nil {
		have = &clusterMemory{cluster: cluster}
		m.of[cluster] = have
	}
	if h.Seal >= have.seal {
		have.seal, have.hash, have.seq = h.Seal, bytes.Clone(h.SealHash), h.Seq+h.Decisions
		have.newest, have.token, have.at = h.Newest, h.Token, now
	}
}

// trim forgets records that are too old, or too many.
func (m *remembered) trim(now time.Time) {
	n := max(0, len(m.records)-maxRemembered)
	for oldest := now.Add(-rememberFor).UnixMicro(); n < len(m.records) && m.records[n].at < oldest; {
		n++
	}
	if n < len(m.records)/4 && n < maxRemembered/64 {
		return // not for each record anew
	}
	for _, r := range m.records[:n] {
		r.of.dropped = max(r.of.dropped, r.seal)
	}
	m.records = slices.Delete(m.records, 0, n)
}

// saw remembers what a poll found.
func (m *remembered) saw(generation int64, heads map[string]store.Head) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if generation == m.generation {
		m.seen = heads
	}
}

// forget forgets a cluster that was deleted.
func (m *remembered) forget(cluster string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.of, cluster)
	m.records = slices.DeleteFunc(m.records, func(r acknowledged) bool { return r.of.cluster == cluster })
	m.seen = maps.Clone(m.seen)
	delete(m.seen, cluster)
}

// snapshot is a copy of what is remembered.
type snapshot struct {
	of      map[string]clusterMemory
	seen    map[string]store.Head
	records map[string][]acknowledged // by cluster
}

// copy returns what is remembered. next ends the generation: what old connections commit from now
// on is not acknowledged.
func (m *remembered) copy(next bool) *snapshot {
	m.mu.Lock()
	defer m.mu.Unlock()
	if next {
		m.generation++
	}
	s := &snapshot{of: map[string]clusterMemory{}, seen: m.seen, records: map[string][]acknowledged{}}
	for cluster, c := range m.of {
		s.of[cluster] = *c
	}
	for _, r := range m.records {
		s.records[r.of.cluster] = append(s.records[r.of.cluster], r)
	}
	return s
}

// rebase replaces the ends of chains by those with which they begin an epoch, and forgets records
// that are missing.
func (m *remembered) rebase(heads map[string]store.SealHead, missing map[uuid.UUID]bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen = nil
	for cluster, c := range m.of {
		h, ok := heads[cluster]
		if !ok {
			delete(m.of, cluster)
			continue
		}
		c.seal, c.hash, c.seq, c.newest, c.token = h.Number, h.Hash, h.Seq, h.Newest, ""
	}
	m.records = slices.DeleteFunc(m.records, func(r acknowledged) bool { return missing[r.id] || m.of[r.of.cluster] == nil })
}

// empty reports whether nothing is known of what the database held.
func (s *snapshot) empty() bool { return len(s.of) == 0 && s.seen == nil }

// clusters returns the names of those that anything is remembered of.
func (s *snapshot) clusters() []string {
	names := map[string]bool{}
	for c := range s.of {
		names[c] = true
	}
	for c := range s.seen {
		names[c] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// last returns the greatest place in the log and revision that were given out in a cluster.
func (s *snapshot) last(cluster string) (seq, revision int64) {
	c := s.of[cluster]
	return c.seq, max(c.newest, s.seen[cluster].Number)
}

// token returns the token of the revision of last; "" where it is not known.
func (s *snapshot) token(cluster string) string {
	c, h := s.of[cluster], s.seen[cluster]
	if c.newest >= h.Number && c.token != "" {
		return c.token
	}
	if h.Number >= c.newest {
		return h.Token
	}
	return ""
}
