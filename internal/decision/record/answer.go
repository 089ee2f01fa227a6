package record

import (
	"context"
	"fmt"
	"time"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/revision"
	"berth/internal/store"
)

// Recorded is a stored decision: the answer worked out again from its record, and
// whether it is the one that was given then.
type Recorded struct {
	decision.Answer
	// Now is the time that the engine was given, then and now.
	Now time.Time `json:"now"`
	// AskedAsOf is the time that the question named; absent where it named none, and in records of
	// older servers.
	AskedAsOf      *time.Time `json:"askedAsOf,omitempty"`
	DigestAgrees   bool       `json:"digestAgrees"`
	RecordedDigest string     `json:"recordedDigest"`
	Attribution
	// AskedBy is the kind and name of who asked, Peer the address that the call came from,
	// RequestID its X-Request-Id; absent in records of older servers.
	AskedBy   string `json:"askedBy,omitempty" example:"token:ci"`
	Peer      string `json:"peer,omitempty" example:"10.0.0.7"`
	RequestID string `json:"requestId,omitempty"`
	// Note is why the answer could not be worked out again, or why it may differ.
	Note string `json:"note,omitempty"`
} // @name RecordedDecision

// Attribution is why a decision was made, and for which attempt to place its pod.
type Attribution struct {
	// Purpose is live for what was asked to place a pod, question for a decision that was to bind
	// nothing, shadow for one that was recorded only; absent in records of older servers.
	Purpose string `json:"purpose,omitempty" enums:"live,question,shadow"`
	// Attempt is the id of the record that began the attempt: that of the filter call for the calls
	// of kube-scheduler that follow it, else the record's own; absent in records of older servers.
	Attempt string `json:"attempt,omitempty"`
	// Placement is the id of the placement that the decision is of, Committed whether that held.
	Placement string `json:"placement,omitempty"`
	Committed *bool  `json:"committed,omitempty"`
}

func attributionOf(d *store.Decision) Attribution {
	return Attribution{d.Purpose, d.Attempt, d.Placement, committed(d)}
}

// Row is a decision in a list.
type Row struct {
	ID        string    `json:"id"`
	Cluster   string    `json:"cluster"`
	Snapshot  string    `json:"snapshot"`
	Verb      string    `json:"verb"`
	CreatedAt time.Time `json:"createdAt"`
	// AskedAsOf is the time that the question named; absent where it named none, and in records of
	// older servers.
	AskedAsOf      *time.Time      `json:"askedAsOf,omitempty"`
	Pod            decision.PodRef `json:"pod"`
	Profile        string          `json:"profile"`
	Engine         string          `json:"engine"`
	Semantics      string          `json:"semantics"`
	Priority       int32           `json:"priority"`
	Outcome        string          `json:"outcome"`
	Node           string          `json:"node,omitempty"`
	NominatedNode  string          `json:"nominatedNode,omitempty"`
	Message        string          `json:"message"`
	Counts         engine.Counts   `json:"counts"`
	BoundSnapshot  string          `json:"boundSnapshot,omitempty"`
	NominatedSnap  string          `json:"nominatedSnapshot,omitempty"`
	PendingSnap    string          `json:"pendingSnapshot,omitempty"`
	Digest         string          `json:"digest"`
	DurationMicros int64           `json:"durationMicros"`
	Mode           string          `json:"mode,omitempty" enums:"shadow"`
	StaleMillis    *int64          `json:"staleMillis,omitempty"`
	Attribution
	// AskedBy is the kind and name of who asked.
	AskedBy string `json:"askedBy,omitempty" example:"token:ci"`
	// Seq is the record's place in its cluster's log, in the order of commits.
	Seq int64 `json:"seq"`
} // @name DecisionRow

// At is the time that a decision is of: the one that its question named, else when it was recorded.
func (r *Row) At() time.Time {
	if r.AskedAsOf != nil {
		return *r.AskedAsOf
	}
	return r.CreatedAt
}

// asked returns the time that a record's question named; nil where it named none.
func asked(d *store.Decision) *time.Time {
	if d.AskedAsOf.IsZero() {
		return nil
	}
	at := d.AskedAsOf.UTC()
	return &at
}

// Stamp adds to an answer what its record has; spooled, that the record is on the local disk.
func Stamp(ans *decision.Answer, d *store.Decision, spooled bool) {
	ans.ID, ans.Cluster, ans.Snapshot = d.ID, d.Cluster, revision.FormatID(d.Cluster, d.Revision)
	ans.Profile, ans.Engine, ans.Semantics = d.Profile, d.Engine, d.Semantics
	ans.CreatedAt, ans.Verb, ans.Pod = d.CreatedAt.UTC(), d.Verb, podOf(d)
	ans.BoundSnapshot, ans.NominatedSnapshot, ans.PendingSnapshot = madeBy(d)
	ans.ProfileDigest, ans.SnapshotDigest, ans.PodDigest = d.ProfileDigest, d.SnapshotDigest, d.PodDigest
	ans.DurationMicros, ans.Mode, ans.StaleMillis = d.DurationMicros, d.Mode, d.StaleMillis
	if spooled {
		ans.Durability = "spool"
	}
}

// Prepare has the answer kept with its record where the call has a key.
func Prepare(ctx context.Context, ans *decision.Answer, d *store.Decision) error {
	k := store.KeyedOf(ctx)
	if !k.Renders() {
		return nil
	}
	Stamp(ans, d, false) // such a record is never spooled
	if err := k.Prepare(ans); err != nil {
		return fmt.Errorf("prepare the answer of decision %s: %w", d.ID, err)
	}
	return nil
}

// fromColumns returns what the record's columns have of its answer, nothing worked out again.
func fromColumns(d *store.Decision) *decision.Answer {
	ans := &decision.Answer{Decision: engine.Decision{
		Outcome: engine.Outcome(d.Outcome), Node: d.Node, NominatedNode: d.NominatedNode, Message: d.Message,
		Priority: d.Priority, Counts: engine.Counts{Nodes: d.NodesTotal, Feasible: d.NodesFeasible}, Digest: d.AnswerDigest,
	}}
	for _, f := range d.Failures {
		ans.Failures = append(ans.Failures, engine.FailureCount{Plugin: f.Plugin, Code: f.Code, Reason: f.Reason, Nodes: f.Nodes})
	}
	Stamp(ans, d, false)
	return ans
}

func rowsOf(list []*store.Decision) []*Row {
	out := make([]*Row, 0, len(list))
	for _, d := range list {
		out = append(out, rowOf(d))
	}
	return out
}

func rowOf(d *store.Decision) *Row {
	r := &Row{
		ID: d.ID, Cluster: d.Cluster, Snapshot: revision.FormatID(d.Cluster, d.Revision), Verb: d.Verb, CreatedAt: d.CreatedAt.UTC(), AskedAsOf: asked(d),
		Pod: podOf(d), Profile: d.Profile, Engine: d.Engine, Semantics: d.Semantics,
		Priority: d.Priority, Outcome: d.Outcome, Node: d.Node, NominatedNode: d.NominatedNode, Message: d.Message,
		Counts: engine.Counts{Nodes: d.NodesTotal, Feasible: d.NodesFeasible}, Digest: d.AnswerDigest, DurationMicros: d.DurationMicros, Mode: d.Mode, StaleMillis: d.StaleMillis, AskedBy: d.Asked.By, Seq: d.Seq,
		Attribution: attributionOf(d),
	}
	r.BoundSnapshot, r.NominatedSnap, r.PendingSnap = madeBy(d)
	return r
}

// madeBy names the revision that a decision made: by a bind, by a nomination, or by
// an attempt that found no node.
func madeBy(d *store.Decision) (bound, nominated, pending string) {
	if d.BoundRevision == 0 {
		return "", "", ""
	}
	id := revision.FormatID(d.Cluster, d.BoundRevision)
	switch engine.Outcome(d.Outcome) {
	case engine.Preempting:
		return "", id, ""
	case engine.UnschedulableOK, engine.Gated:
		return "", "", id
	default:
		return id, "", ""
	}
}
