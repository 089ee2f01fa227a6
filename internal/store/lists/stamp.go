package lists

import (
	"sync"

	"berth/internal/store"
)

// Stamp is what many decisions have in common, and so is stored once: the
// profile, who decided by which rules, and the plugins that scored.
type Stamp struct {
	Profile, ProfileDigest, Engine, Semantics string
	// Plugins is the JSON list [[name, weight]…] that packed scores refer to by
	// place; empty where they are not packed.
	Plugins string
}

// Columns returns the stamp's columns, in the order in which stamps are unique.
func (s Stamp) Columns() [5]string {
	return [5]string{s.Profile, s.ProfileDigest, s.Engine, s.Semantics, s.Plugins}
}

// encoded is a decision's failures and scores as their columns hold them, with the plugins of its
// stamp.
type encoded struct {
	failures, scores any
	plugins          string
}

func encodedOf(d *store.Decision) *encoded {
	scores, plugins := encodeScores(d.Scores)
	return &encoded{OrNull(encodeFailures(d.Failures)), OrNull(scores), plugins}
}

// maxStamps bounds what StampIDs remembers: callers may bring a profile each.
const maxStamps = 1024

// StampIDs remembers which number a store gave a stamp. Only committed ones may
// be put in. It is safe for concurrent use; the zero value is ready.
type StampIDs struct {
	mu  sync.Mutex
	ids map[Stamp]int64
}

// Get returns a stamp's number, if it is remembered.
func (s *StampIDs) Get(stamp Stamp) (id int64, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, ok = s.ids[stamp]
	return id, ok
}

// Forget is for a store whose stamps may be others now.
func (s *StampIDs) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ids = nil
}

// Put remembers stamps.
func (s *StampIDs) Put(ids map[Stamp]int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ids == nil || len(s.ids)+len(ids) > maxStamps {
		s.ids = map[Stamp]int64{} // to ask again does no harm
	}
	for stamp, id := range ids {
		s.ids[stamp] = id
	}
}
