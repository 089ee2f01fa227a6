package revision

import "time"

// position is what is known of a chain's newest revision: empty, stored, live or uncertain. The
// package's comment has the diagram.
type position interface {
	// views returns the revisions in memory that are known to be stored.
	views() stored
	// with returns the position when these are the stored revisions in memory.
	with(v stored) position
}

// empty is the position without a revision in memory.
type empty struct{}

// stored is the position in which a revision was the newest when it was read.
type stored struct {
	durable *View
	recent  []*View // durable ones before, newest first
}

// live is the position in which the next write extends head without a read. durable is nil while
// the first revision of a cluster is in flight.
type live struct {
	stored
	head *View // the newest, perhaps not durable yet
}

// uncertain is the position after a write of unknown outcome. It is not left before the newest
// revision has been read.
type uncertain struct {
	stored
	since uint64 // the epoch that began with it
}

func (empty) views() stored    { return stored{} }
func (v stored) views() stored { return v }

func (empty) with(v stored) position        { return known(v) }
func (stored) with(v stored) position       { return known(v) }
func (at live) with(v stored) position      { return live{v, at.head} }
func (at uncertain) with(v stored) position { return uncertain{v, at.since} }

// known is the position in which these revisions are in memory, and no more is known.
func known(v stored) position {
	if v.durable == nil {
		return empty{}
	}
	return v
}

// chainState is what is known of a chain of revisions. It is never written: transition makes the
// next one.
type chainState struct {
	position
	// epoch grows when a head is given up. What began in an earlier one says nothing of this one's
	// head.
	epoch uint64
	// began is the epoch since which the cluster is the same. What was stored in an earlier one may
	// be of a cluster that was deleted.
	began      uint64
	inFlight   int // writes without an outcome
	contention contention
	checkpoint int64         // number of the newest one that is known
	saving     bool          // one is being written
	newer      chan struct{} // closed when durable gets newer; nil: no goroutine waits
	quiet      chan struct{} // closed when no write is in flight; nil: no goroutine waits
}

// contention is what is known of other processes that write to the same chain.
type contention struct {
	until time.Time  // writes take the store's lock until then
	lock  *storeLock // that this chain holds; nil: none
}

// storeLock is the store's lock of a cluster.
type storeLock struct {
	release func()
	ends    time.Time // no write is begun under the lock after that
}

// ready reports whether a write may begin at a time: without a lock when no other process writes,
// else under one that has not ended.
func (c *contention) ready(now time.Time) bool {
	if c.lock == nil {
		return now.After(c.until)
	}
	return !now.After(c.lock.ends)
}

// unused reports whether nothing is lost when the state is dropped.
func (s *chainState) unused() bool {
	return s.position == empty{} && s.inFlight == 0 && !s.saving && s.contention.lock == nil
}

// busy reports whether the views are needed for what is under way.
func (s *chainState) busy() bool { return s.inFlight > 0 || s.saving }

// recentBytes bounds the JSON of the changes between the recent views and the newest: what they do
// not share with it.
const recentBytes = 8 << 20

// add returns the revisions in memory once a stored one is known. It reports whether that is newer.
// Recent ones cost little as long as they share their state: an upload shares nothing, and a large
// change little.
func (v stored) add(next *View, keep int) (_ stored, newer bool) {
	switch {
	case v.durable == nil || next.Cause == causeUpload && v.durable.Revision < next.Revision:
		return stored{durable: next}, true
	case v.durable.Revision >= next.Revision:
		return v, false
	}
	fresh := append(make([]*View, 0, keep), v.durable)
	fresh = append(fresh, v.recent[:min(len(v.recent), keep-1)]...)
	for i, apart := 0, next.changed; i < len(fresh); i++ {
		if apart > recentBytes {
			fresh = fresh[:i:i]
			break
		}
		apart += fresh[i].changed
	}
	return stored{next, fresh}, true
}
