package store

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// The states of a hold. All but the first end it for good.
const (
	HoldHeld      = "held"
	HoldCommitted = "committed"
	HoldReleased  = "released"
	HoldExpired   = "expired"
)

// Hold is a placement whose pods are on their nodes until a time, unless it is committed. It is
// written with the revision that makes or ends it, and with no other: the writer of that revision
// has read the hold as it was at its parent.
type Hold struct {
	ID      string // the placement's
	Cluster string
	State   string
	// CreatedAt and ExpiresAt are by the clock of the server that made it; UTC, microseconds.
	CreatedAt, ExpiresAt time.Time
	EndedAt              time.Time // zero: it has not
	// Revision made it, and EndedRevision ended it; 0: none has.
	Revision, EndedRevision int64
	// Namespaces are those of its pods, each once, and PodCount is how many pods they are.
	Namespaces []string
	PodCount   int
	// Pods is a JSON list of HeldPod, and Undo what their removal writes, opaque; empty once it has
	// ended. Lists are without both.
	Pods, Undo []byte
	// AskedBy made it, and EndedBy ended it: kind:name; empty where no caller did.
	AskedBy, EndedBy string
}

// HeldPod is a pod of a hold.
type HeldPod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid,omitempty"`
	Node      string `json:"node"`
	Decision  string `json:"decision"` // the record's id
}

// HoldOver reports whether the time of a hold is over. Here alone it is compared with a clock,
// which is that of the server.
func HoldOver(expires, now time.Time) bool { return !now.Before(expires) }

// HoldFilter selects holds; zero fields do not limit.
type HoldFilter struct {
	Cluster string
	Before  string // the ID of the last one seen
	Limit   int
}

// Holds reads what Append wrote of holds.
type Holds interface {
	// Hold returns a hold whole; ErrNotFound without one.
	Hold(ctx context.Context, id string) (*Hold, error)
	// ListHolds lists newest first, by ID.
	ListHolds(ctx context.Context, f HoldFilter) ([]*Hold, error)
	// Held lists those of a cluster that have not ended, by ExpiresAt and then ID.
	Held(ctx context.Context, cluster string, limit int) ([]*Hold, error)
	// HoldsDue lists the clusters with holds that have not ended and whose time is over, by name.
	HoldsDue(ctx context.Context, now time.Time) ([]string, error)
	// HoldStates counts the stored holds by state.
	HoldStates(ctx context.Context) (map[string]int64, error)
}

// maxHoldBytes bounds the pods and the undoing of a hold each, which are one value of a row.
const maxHoldBytes = 256 << 20

// validateHolds wants the holds of an entry to fit its revision.
func (e *Entry) validateHolds() error {
	for _, h := range e.Holds {
		r := e.Revision
		at := h.EndedRevision
		if h.State == HoldHeld {
			at = h.Revision
		}
		switch {
		case r == nil:
			return invalid("hold", "comes without a revision")
		case h.ID == "":
			return invalid("hold.id", "is empty")
		case h.Cluster != r.Cluster:
			return invalid("hold.cluster", "is not that of its revision")
		case at != r.Number:
			return invalid("hold.revision", "is not that which it comes with")
		case !slices.Contains([]string{HoldHeld, HoldCommitted, HoldReleased, HoldExpired}, h.State):
			return invalid("hold.state", "is none of held, committed, released and expired")
		case (h.State == HoldHeld) != h.EndedAt.IsZero():
			return invalid("hold.endedAt", "does not fit its state")
		case !validJSON(h.Pods):
			return invalid("hold.pods", "is not JSON")
		case len(h.Pods) > maxHoldBytes || len(h.Undo) > maxHoldBytes:
			return invalid("hold.pods", fmt.Sprintf("is more than %d bytes", maxHoldBytes))
		}
		if err := validateKeys("hold", h.ID, h.Cluster); err != nil {
			return err
		}
		if err := validateTimes("hold", h.CreatedAt, h.ExpiresAt); err != nil {
			return err
		}
		if err := validateText("hold", append(slices.Clone(h.Namespaces), h.ID, h.Cluster, h.AskedBy, h.EndedBy)...); err != nil {
			return err
		}
	}
	return nil
}
