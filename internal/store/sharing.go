package store

import (
	"context"
	"time"
)

// Head is the end of a cluster's chain of revisions.
type Head struct {
	Number int64
	Token  string // of revision Number; another one at the same number is another cluster's of that name
	// Checkpoint is the newest checkpoint's number, 0 without one.
	Checkpoint int64
}

// Sharing is what the processes that share a store need to work beside each
// other. A store of one process has it too, for that process alone.
type Sharing interface {
	// Heads returns the end of every chain, by cluster, in one cheap query: what a
	// follower asks again and again.
	Heads(ctx context.Context) (map[string]Head, error)
	// TryLock takes a lock of that name for work that one process at a time does.
	// ok is false where another one has it. unlock may be called again. The lock
	// ends with the connection that holds it at the latest, by no clock.
	TryLock(ctx context.Context, name string) (unlock func(), ok bool, err error)
	// LockChain waits until this process alone may append to the cluster's chain:
	// until end is called, revisions of processes that have not locked it are refused with
	// ErrConflict. Decisions are not. It keeps processes that write to one chain from
	// refusing each other again and again, and nothing else depends on it: if the lock is
	// lost with its connection, or the store grants it to all at once, no update is lost.
	// The caller must have no revision of that cluster in flight.
	LockChain(ctx context.Context, cluster string) (end func(), err error)
}

// Pruner takes away old revisions.
type Pruner interface {
	// Prune deletes the revisions that were no longer the newest at the given
	// time already (the creation of the next one counts), to which no decision
	// refers as the state decided on or the one that its bind made, and that no
	// revision that stays needs to be loaded: a state is made of the checkpoint
	// at or before it and all changes since. It returns how many they were. The
	// work is done in small transactions; what it has done before an error stays
	// done. Several processes may call it at once: one does the work, the others
	// return 0. A zero time deletes nothing.
	Prune(ctx context.Context, before time.Time) (deleted int64, err error)
}

// Usage is what a store holds, in figures for an operator.
type Usage struct {
	// Bytes on disk of each table, its indexes included.
	Bytes map[string]int64
	// Partitions of the decision log; 0 where it has none.
	Partitions int
	// Oldest is when the oldest decision was made; zero without decisions.
	Oldest time.Time
}
