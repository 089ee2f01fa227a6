package decisionlog

import (
	"time"

	"berth/internal/engine"
	"berth/internal/engine/advice"
	"berth/internal/store"
)

// Answer is a decision as it is handed out: whose, when and on what, and the
// engine's explanation.
type Answer struct {
	ID        string    `json:"id,omitempty"`
	Cluster   string    `json:"cluster"`
	Snapshot  string    `json:"snapshot"`
	Profile   string    `json:"profile"`
	Engine    string    `json:"engine"`
	Semantics string    `json:"semantics"`
	CreatedAt time.Time `json:"createdAt"`
	Verb      string    `json:"verb"`
	Pod       PodRef    `json:"pod"`
	engine.Decision
	// Groups are the rejected nodes by the same verdict, for explain=groups. They
	// are worked out for the answer, and are not recorded.
	Groups []advice.Group `json:"groups,omitempty"`
	// Suggestions are single changes that would let the pod fit, cheapest first;
	// they are worked out when asked for. The record says that they were, and not
	// what they were.
	Suggestions []advice.Suggestion `json:"suggestions,omitempty"`
	// BoundTo is the node that the pod is on in the snapshot, for a dry run about a pod
	// that is bound: it was taken out first.
	BoundTo string `json:"boundTo,omitempty"`
	// Notes say what has to be known to read the answer. They are part of no digest.
	Notes []string `json:"notes,omitempty"`
	// BoundSnapshot is the revision that a bind made.
	BoundSnapshot string `json:"boundSnapshot,omitempty"`
	// BoundAlong is what the bind wrote beside the pod; absent where that is nothing.
	BoundAlong *BoundAlong `json:"boundAlong,omitempty"`
	// NominatedSnapshot is the revision that holds the pod nominated to its node.
	NominatedSnapshot string `json:"nominatedSnapshot,omitempty"`
	// PendingSnapshot is the revision that holds why the pod waits, after an attempt
	// with bind that found no node.
	PendingSnapshot string `json:"pendingSnapshot,omitempty"`
	ProfileDigest   string `json:"profileDigest"`
	SnapshotDigest  string `json:"snapshotDigest"`
	PodDigest       string `json:"podDigest"`
	DurationMicros  int64  `json:"durationMicros"`
	// Mode is shadow where the answer was recorded only, and everything let pass.
	Mode string `json:"mode,omitempty" enums:"shadow"`
	// StaleMillis is for how long the state may have missed what happened, of a
	// cluster that is followed.
	StaleMillis *int64 `json:"staleMillis,omitempty"`
	// Durability is spool where the database was away and the record is durable
	// on the server's own disk, from where it goes to the database; else absent.
	Durability string `json:"durability,omitempty" enums:"spool"`
	// Warnings name what of the request was passed over, and what the answer does not
	// show of it. They are of the request, and not recorded.
	Warnings []string `json:"warnings,omitempty"`
} // @name Decision

// note says where the record is.
func (a *Answer) note(spooled bool) {
	if spooled {
		a.Durability = "spool"
	}
}

// PodRef names a pod.
type PodRef struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
} // @name PodRef

// Recorded is a stored decision: the answer given again from its record, and
// whether it is the one that was given then.
type Recorded struct {
	Answer
	// Now is the time that the engine was given, then and now.
	Now            time.Time `json:"now"`
	DigestAgrees   bool      `json:"digestAgrees"`
	RecordedDigest string    `json:"recordedDigest"`
	// Note says why the answer could not be worked out again, or why it may
	// differ.
	Note string `json:"note,omitempty"`
} // @name RecordedDecision

// Row is a decision in a list.
type Row struct {
	ID             string        `json:"id"`
	Cluster        string        `json:"cluster"`
	Snapshot       string        `json:"snapshot"`
	Verb           string        `json:"verb"`
	CreatedAt      time.Time     `json:"createdAt"`
	Pod            PodRef        `json:"pod"`
	Profile        string        `json:"profile"`
	Engine         string        `json:"engine"`
	Semantics      string        `json:"semantics"`
	Priority       int32         `json:"priority"`
	Outcome        string        `json:"outcome"`
	Node           string        `json:"node,omitempty"`
	NominatedNode  string        `json:"nominatedNode,omitempty"`
	Message        string        `json:"message"`
	Counts         engine.Counts `json:"counts"`
	BoundSnapshot  string        `json:"boundSnapshot,omitempty"`
	NominatedSnap  string        `json:"nominatedSnapshot,omitempty"`
	PendingSnap    string        `json:"pendingSnapshot,omitempty"`
	Digest         string        `json:"digest"`
	DurationMicros int64         `json:"durationMicros"`
	Mode           string        `json:"mode,omitempty" enums:"shadow"`
	StaleMillis    *int64        `json:"staleMillis,omitempty"`
	// Seq is the record's place in its cluster's log, in the order of commits.
	Seq int64 `json:"seq"`
} // @name DecisionRow

// describe stamps an answer from its record.
func describe(d *store.Decision, ans *Answer) {
	ans.ID, ans.Cluster, ans.Snapshot = d.ID, d.Cluster, formatID(d.Cluster, d.Revision)
	ans.Profile, ans.Engine, ans.Semantics = d.Profile, d.Engine, d.Semantics
	ans.CreatedAt, ans.Verb = d.CreatedAt.UTC(), d.Verb
	ans.Pod = PodRef{d.Namespace, d.Pod, d.PodUID}
	ans.BoundSnapshot, ans.NominatedSnapshot, ans.PendingSnapshot = madeBy(d)
	ans.ProfileDigest, ans.SnapshotDigest, ans.PodDigest = d.ProfileDigest, d.SnapshotDigest, d.PodDigest
	ans.DurationMicros, ans.Mode, ans.StaleMillis = d.DurationMicros, d.Mode, d.StaleMillis
}

// fromColumns gives what a record says of itself, without working anything out.
func fromColumns(d *store.Decision) Answer {
	ans := Answer{Decision: engine.Decision{
		Outcome: engine.Outcome(d.Outcome), Node: d.Node, NominatedNode: d.NominatedNode, Message: d.Message,
		Priority: d.Priority, Counts: engine.Counts{Nodes: d.NodesTotal, Feasible: d.NodesFeasible}, Digest: d.AnswerDigest,
	}}
	for _, f := range d.Failures {
		ans.Failures = append(ans.Failures, engine.FailureCount{Plugin: f.Plugin, Code: f.Code, Reason: f.Reason, Nodes: f.Nodes})
	}
	describe(d, &ans)
	return ans
}

func rowOf(d *store.Decision) *Row {
	r := &Row{
		ID: d.ID, Cluster: d.Cluster, Snapshot: formatID(d.Cluster, d.Revision), Verb: d.Verb, CreatedAt: d.CreatedAt.UTC(),
		Pod: PodRef{d.Namespace, d.Pod, d.PodUID}, Profile: d.Profile, Engine: d.Engine, Semantics: d.Semantics,
		Priority: d.Priority, Outcome: d.Outcome, Node: d.Node, NominatedNode: d.NominatedNode, Message: d.Message,
		Counts: engine.Counts{Nodes: d.NodesTotal, Feasible: d.NodesFeasible}, Digest: d.AnswerDigest, DurationMicros: d.DurationMicros, Mode: d.Mode, StaleMillis: d.StaleMillis, Seq: d.Seq,
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
	id := formatID(d.Cluster, d.BoundRevision)
	switch engine.Outcome(d.Outcome) {
	case engine.Preempting:
		return "", id, ""
	case engine.UnschedulableOK, engine.Gated:
		return "", "", id
	default:
		return id, "", ""
	}
}
