// Package store defines what berth keeps: revisions of clusters' states with
// their checkpoints, decisions, and the profiles that decisions refer to.
// Backends live in sub-packages and pass storetest.Run; nothing here knows
// SQL, and payloads are opaque bytes.
package store

import (
	"context"
	"errors"
	"iter"
	"time"
)

// Sentinel errors. Backends translate their drivers' errors into these at
// their edge; everything else that they return is an internal fault.
var (
	// ErrNotFound reports that no such record exists.
	ErrNotFound = errors.New("not found")
	// ErrConflict reports that what is stored is not what the write was made for, such as a
	// revision whose parent is no longer the newest.
	ErrConflict = errors.New("conflict")
	// ErrInUse reports that decisions or jobs refer to the revision that was to be deleted,
	// or that a later revision still needs its change.
	ErrInUse = errors.New("in use: decisions or jobs refer to it")
	// ErrInvalid reports that an entry cannot be stored as it is; the error that
	// wraps it names the field.
	ErrInvalid = errors.New("invalid record")
	// ErrClosed reports that the store was closed.
	ErrClosed = errors.New("store is closed")
	// ErrUnavailable reports that the store cannot be reached or cannot take the
	// call now, so that the same call may succeed later. Of a write it says
	// nothing: it may or may not have taken place, and writing the same entries
	// again is safe.
	ErrUnavailable = errors.New("store is unavailable")
	// ErrTakenOver reports that another process has claimed the keyed call that a write is of:
	// nothing was written.
	ErrTakenOver = errors.New("the call was taken over")
	// ErrFull reports that there is no room on the disk: nothing was written, and
	// the same call may succeed when there is room again.
	ErrFull = errors.New("the store's disk is full")
)

// Revision is one immutable state of a cluster. Number starts at 1, or where an
// epoch starts, and grows by one within an epoch of a cluster. Token is unique to
// the write; ParentToken is the Token of the one before (empty for the first), and
// a revision is accepted only if the stored parent bears it and is the newest,
// which makes chains of pipelined writes safe. Writing a revision again with the Number and Token
// that are stored is a no-op, so that a retry after a lost answer is safe.
type Revision struct {
	Cluster     string
	Number      int64
	Token       string
	ParentToken string
	CreatedAt   time.Time // UTC, microseconds
	Digest      string    // sha256:… over the state's content
	Cause       string    // upload, change, bind, fork, epoch, and of the end of holds: commit, release, expired
	// Change is the change against the parent; nil where the revision replaces
	// the whole state and so needs its own Checkpoint in the same Entry, or an Origin.
	Change []byte
	// Woken is what the revision did for pods that wait; nil where that is not known. It is worked
	// out from the revisions, and no seal covers it.
	Woken []byte
	// Summary is JSON: objects per kind, ignored per kind, hygiene. Shown, not
	// interpreted, by the store.
	Summary []byte
	// Asked is who asked for the change.
	Asked Asked
	// Objects are what the revision changed, as far as they are kept, and Changes is how many there
	// were. Classes are the priority classes among them. They are written, and not read again.
	Objects []RevisionObject
	Changes int
	Classes []ClassChange
	// Checkpointed is set on reading: a checkpoint of this very revision exists.
	Checkpointed bool
}

// Checkpoint is a whole state at a revision.
type Checkpoint struct {
	Cluster string
	Number  int64
	Payload []byte
	// Woken is what the revisions up to this one did for pods that wait; nil where that is not
	// known. No seal covers it.
	Woken []byte
}

// Profile is a configuration that decisions refer to by digest.
type Profile struct {
	Digest  string // sha256:… over Payload
	Name    string
	Payload []byte
}

// UnknownLoss is a Gap's Lost where the count is not known.
const UnknownLoss int64 = -1

// Gap says in the log itself that decisions of a cluster were answered and are
// not on record.
type Gap struct {
	ID           string // UUIDv7
	Cluster      string
	Since, Until time.Time // when they were answered
	Lost         int64     // decisions; UnknownLoss
	Cause        string    // CauseFailover; until v0.3.0 also queue-full, store, killed
	Instance     string    // the process that lost them
}

// Entry is written whole or not at all: a revision (with its checkpoint), a
// decision, a decision together with the revision that its bind made, the
// decisions of a placement with their revision or alone, or a gap
// alone. The caller leaves it alone from handing it over until the write has
// ended.
type Entry struct {
	Revision   *Revision
	Checkpoint *Checkpoint
	// Origin is where the content of a copy's first revision is, in place of a checkpoint.
	Origin   *Origin
	Profile  *Profile
	Decision *Decision
	// Placed are the decisions of a placement, in their order, and Profiles what they refer to.
	// Decision and Profile are nil then.
	Placed   []*Decision
	Profiles []*Profile
	// Holds are those that the revision makes or ends, as they are from then on.
	Holds []*Hold
	// Gap comes without any of the others. Writing one again with the same
	// Cluster and ID is a no-op.
	Gap *Gap
	// Call is the claim of the keyed call that the entry is of: both are written, or none is.
	Call *KeyedCall
	// Fresh is set where the decision's ID was drawn for it together with its CreatedAt: what is
	// stored under the ID, if anything, is this decision, with this time.
	Fresh bool
	// Spooled is set by Append where the entry is durable on the local disk, and
	// not in the store yet.
	Spooled bool
	// Err is set by Append where this entry was refused, while the other
	// entries of the batch are written all the same. ErrConflict: its revision
	// does not follow the newest, or its decision is stored already without
	// it or in another cluster. ErrNotFound: its decision refers to a revision (not 0) that is not
	// stored, and so could never be replayed. ErrInvalid: see Entry.Validate.
	// ErrUnavailable: the entry alone could not be written, and may be again. ErrTakenOver: another
	// process has claimed its call.
	Err error
}

// Decisions visits the decisions of the entry.
func (e *Entry) Decisions() iter.Seq[*Decision] {
	return func(yield func(*Decision) bool) {
		if e.Decision != nil && !yield(e.Decision) {
			return
		}
		for _, d := range e.Placed {
			if !yield(d) {
				return
			}
		}
	}
}

// Writer appends durably.
type Writer interface {
	// Append writes entries in order in one transaction and returns when they are durable. A
	// returned error means that nothing of the batch was written, but for ErrUnavailable, which
	// leaves it open. A refused revision sets its Entry's Err, and so do later entries of the batch
	// whose ParentToken it bears. Writing a decision again with the same ID is a no-op, so that a
	// retry after a lost answer is safe. A ctx that ends before the commit begins undoes the whole
	// batch.
	Append(ctx context.Context, entries []*Entry) error
}

// PageBytes is how much of changes or inputs a list holds before it ends early, so
// that the size of what callers sent does not decide what a page takes of memory.
const PageBytes = 4 << 20

// NextPage returns how many records to ask for behind a page of n with size bytes of
// changes or inputs: no more than came, where the page ended early, since a database may
// send the rest for nothing. more is false behind the last page.
func NextPage(limit, n, size, most int) (next int, more bool) {
	if size > PageBytes {
		return max(n, 1), true
	}
	return min(2*limit, most), n >= limit
}

// Revisions reads and prunes revisions.
type Revisions interface {
	// Newest returns a cluster's newest revision without its change; ErrNotFound without one.
	Newest(ctx context.Context, cluster string) (*Revision, error)
	// Revision returns one revision.
	Revision(ctx context.Context, cluster string, number int64) (*Revision, error)
	// RevisionsAfter lists up to limit (0: all) revisions with Number > after,
	// ascending; an unknown cluster has none. The list ends early once changes of
	// more than PageBytes are in it, with two at least.
	RevisionsAfter(ctx context.Context, cluster string, after int64, limit int) ([]*Revision, error)
	// ListRevisions lists newest first, those with Number < before (0: all), up
	// to limit (0: all), without their changes.
	ListRevisions(ctx context.Context, cluster string, before int64, limit int) ([]*Revision, error)
	// CheckpointAt returns the newest checkpoint with Number <= number. admit, which may be nil, is
	// called with the size of its payload before that is read; its error ends the call.
	CheckpointAt(ctx context.Context, cluster string, number int64, admit func(size int) error) (*Checkpoint, error)
	// PutCheckpoint adds a checkpoint to a revision that exists (ErrNotFound);
	// one that is there already stays.
	PutCheckpoint(ctx context.Context, c *Checkpoint) error
	// DeleteRevision removes a revision with its checkpoint if no decision
	// refers to it as the state decided on or the one that its bind made
	// (ErrInUse), it is not the newest (ErrConflict), and no later revision
	// depends on its change (ErrInUse): the caller checkpoints the following
	// one before.
	DeleteRevision(ctx context.Context, cluster string, number int64) error
	// Clusters lists the clusters that have revisions, by name.
	Clusters(ctx context.Context, f ClusterFilter) ([]ClusterInfo, error)
	// DeleteCluster removes a cluster with everything in it; ErrNotFound where
	// nothing of it is stored. Profiles belong to no cluster and stay.
	DeleteCluster(ctx context.Context, cluster string) error
}

// ClusterFilter picks clusters. Zero fields pick all.
type ClusterFilter struct {
	Name  string // this one
	After string // those behind this name
	// CreatedBy are those whose oldest revision that is kept this caller asked for (Asked.By).
	CreatedBy string
	Limit     int
}

// ClusterInfo sums a cluster up.
type ClusterInfo struct {
	Name      string
	Newest    int64
	Revisions int64
	Decisions int64
	CreatedAt time.Time // of the newest revision
}

// DecisionFilter selects decisions; zero fields do not limit. Strings match
// whole and byte for byte.
type DecisionFilter struct {
	Cluster, Namespace, Pod, Node, Outcome, Verb string
	AskedBy                                      string    // kind:name
	Placement                                    string    // it comes with Since and Until: no index has it
	Since, Until                                 time.Time // since inclusive, until exclusive
	// AsOf is the latest time that a decision is of, inclusive: the one that its question named,
	// else CreatedAt.
	AsOf time.Time
	// Before is the keyset cursor: the (CreatedAt, ID) of the last one seen.
	BeforeTime time.Time
	BeforeID   string
	Limit      int
}

// Decisions reads the decision log.
type Decisions interface {
	// Decision returns one record whole; ErrNotFound without one.
	Decision(ctx context.Context, id string) (*Decision, error)
	// ListDecisions lists newest first, by CreatedAt and among equals by ID in
	// byte order, without Input, Failures, Scores and Victims.
	ListDecisions(ctx context.Context, f DecisionFilter) ([]*Decision, error)
	// FollowDecisions lists those of a cluster with Seq > after, ascending, up to
	// limit (0: all), as ListDecisions shows them; an unknown cluster has none.
	// What is not yet to be seen gets a greater Seq than all that is, so that who
	// goes on after the last Seq seen misses nothing and sees nothing twice.
	// Numbers begin at 1, may be left out, and go on where a cluster was deleted
	// and comes again. What Retain or DeleteCluster takes away is not waited for.
	FollowDecisions(ctx context.Context, cluster string, after int64, limit int) ([]*Decision, error)
}

// AttemptFilter selects failed attempts to place pods.
type AttemptFilter struct {
	Cluster string
	// Pods are the names of the pods, of any namespace; none select nothing.
	Pods []string
	// Until is the latest time that an attempt is of, inclusive: the one that its question named,
	// else CreatedAt. Named takes in those whose question named one.
	Until time.Time
	Named bool
	// Revision is the newest revision that an attempt may have been decided on or have made.
	Revision int64
}

// FailedAttempts sums up the attempts at one pod that found no node.
type FailedAttempts struct {
	Namespace, Pod, UID string
	Count               int
	// Last is the time that the newest is of, Revision what it was decided on, or made, and
	// RejectedBy the plugins that rejected the pod then.
	Last       time.Time
	Revision   int64
	RejectedBy string
}

// Attempts reads the log as a scheduling queue has to. An attempt is a record of
// verb decide or filter; it failed where its outcome is Unschedulable or
// Preempting.
type Attempts interface {
	// FailedAttempts returns a sum for each pod and UID that has any, in no order.
	FailedAttempts(ctx context.Context, f AttemptFilter) ([]FailedAttempts, error)
}

// Gaps reads what the log says of its own gaps.
type Gaps interface {
	// ListGaps lists a cluster's gaps ("": all), by Until and among equals by ID,
	// the newest first.
	ListGaps(ctx context.Context, cluster string) ([]*Gap, error)
}

// Profiles reads stored profiles.
type Profiles interface {
	// Profile returns a profile by digest; ErrNotFound without one.
	Profile(ctx context.Context, digest string) (*Profile, error)
}

// Keeper looks after a store that grows.
type Keeper interface {
	// Retain deletes the decisions whose CreatedAt is before the given time and
	// returns how many they were; a zero time deletes none. Gaps that ended before
	// it go too. Revisions that they
	// referred to stay. It may be called by several replicas at once: one does
	// the work, the others return 0.
	Retain(ctx context.Context, before time.Time) (deleted int64, err error)
	// Sizes returns the bytes on disk of each table, its indexes included.
	Sizes(ctx context.Context) (map[string]int64, error)
	// Usage returns what a metric shows of the store; it reads little, but is for
	// now and then.
	Usage(ctx context.Context) (Usage, error)
	Pruner
}

// Store is everything a backend does. It is safe for concurrent use.
type Store interface {
	Writer
	Revisions
	Decisions
	Attempts
	Gaps
	Holds
	Origins
	Profiles
	PriorityClasses
	Jobs
	Capacities
	Rollups
	Backfill
	Queries
	Access
	Denials
	Keeper
	Sharing
	Leads
	Confirmations
	Seals
	Keys
	KeyedCalls
	// Ping reports whether the store answers.
	Ping(ctx context.Context) error
	// Close waits for the write under way and releases the store; calls after
	// it give ErrClosed, but Close itself may be called again.
	Close() error
}
