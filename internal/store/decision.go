package store

import (
	"time"
)

// Decision is a decision's record: the question, stamps, and a fingerprint of
// the answer. The columns are what people ask for in SQL; a replay reads the
// inputs from it.
type Decision struct {
	ID             string // UUIDv7
	Cluster        string
	Revision       int64
	Verb           string // filter, prioritize, preempt, bind, decide
	CreatedAt      time.Time
	Now            time.Time // the time that the engine was given
	AskedAsOf      time.Time // the time that the question named; zero: none
	Namespace      string
	Pod            string
	PodUID         string
	Profile        string
	ProfileDigest  string
	Engine         string
	Semantics      string
	SnapshotDigest string
	PodDigest      string
	Outcome        string
	Node           string
	NominatedNode  string
	Priority       int32
	NodesTotal     int
	NodesFeasible  int
	Message        string
	AnswerDigest   string
	DurationMicros int64
	BoundRevision  int64 // the revision that a bind or a nomination made; 0 where none
	// Mode is how the answer was used: "" it was given as it is, "shadow" it
	// was recorded only, and everything let pass.
	Mode string
	// StaleMillis is for how long the state may have missed what happened, of a
	// cluster that is followed; nil of one that is not.
	StaleMillis *int64
	// RejectedBy are the plugins that rejected a pod which found no node, sorted, with commas
	// between. It is empty where none did, and in records of before it was kept.
	RejectedBy string
	// Purpose is why the decision was made: live, question or shadow; empty in records of before it
	// was kept. No digest covers it.
	Purpose string
	// Attempt is the id of the record that began the attempt to place the pod which this one is of;
	// empty in records of before it was kept. No digest covers it.
	Attempt string
	// Asked is who asked; no digest covers it.
	Asked Asked
	// Seq is set on reading: the record's place in its cluster's log, which the
	// store gives as it commits. See Decisions.FollowDecisions.
	Seq int64
	// Input is what a replay needs beside the revision: pod, candidates,
	// options, overlaid nodes, configuration. Opaque.
	Input []byte
	// Failures, Scores and Victims are shown as rows of their own to SQL.
	Failures []Failure
	Scores   []Score
	Victims  []Victim
	// Facts are those of PodFacts.Encode, which roll-ups copy to a table by PodDigest; empty where
	// an earlier record has them, in questions, and in records of before they were kept. No digest
	// covers them.
	Facts string `json:",omitempty"`
	// Blockers are the objects in the way of a decision that places nothing, by EncodeBlockers;
	// empty of others, and in records of before they were kept. No digest covers them.
	Blockers string `json:",omitempty"`
	// Placement is the id of the placement that the decision is of; empty: of none.
	Placement string `json:",omitempty"`
}

// Failure counts the nodes that a plugin rejected with a reason.
type Failure struct {
	Plugin string
	Code   string
	Reason string
	Nodes  int
	// Names names the rejected nodes as far as the caller keeps them, which may
	// be few or none: Nodes is the truth. It lets SQL answer "who was rejected
	// on node x" where it is kept.
	Names []string
	// Pools counts the rejected nodes by pool, most nodes first; nil where that is not kept, as in
	// records of v0.3.0. Neither the answer nor its digest has them.
	Pools []PoolCount
}

// PoolCount is how many nodes of a pool were rejected: of those whose label for pools has the value
// Pool, which is empty for nodes without the label.
type PoolCount struct {
	Pool  string
	Nodes int
}

// Score is one of the best nodes: Rank 1 is the best.
type Score struct {
	Rank  int
	Node  string
	Total int64
	// Plugins are nil where they are not kept.
	Plugins PluginScores
}

// Victim is a pod that preemption would evict.
type Victim struct {
	Namespace string
	Pod       string
	UID       string
	Priority  int32
	Node      string
	// Budget names the budgets that forbid the eviction; empty for none, and nil where that is not
	// kept, as for the candidates of /preempt and in records of v0.3.0.
	Budget *string
	// OwnerKind and OwnerName are the victim's top owner, where Budget is kept; empty without one.
	OwnerKind, OwnerName string
}

// Kind is how a column holds its field.
type Kind int

// The kinds of columns.
const (
	Text   Kind = iota // UTF-8 without NUL
	Key                // Text that an index holds, and so a short one
	Int                // 32 bits
	BigInt             // 64 bits
	Time               // in microseconds
	UID                // text; a UUID as its 16 bytes
	Digest             // text; a sha256:… as its 32 bytes
	List               // a list as JSON; NULL where there is none
	Blob               // bytes or NULL
	Stamp              // what many decisions have in common, by its number
	Place              // Decision.Seq, which the store sets
)

// Column is a column of the table decisions, or one that a decision's stamp adds to it.
type Column struct {
	Name string
	Kind Kind
	// Null reports whether the column may be NULL.
	Null bool
	// Stamped reports whether it is a column of the table stamps.
	Stamped bool
	// Since is the schema version that brought the column; 0: the oldest one has it.
	Since int
	// Field returns a pointer to what the column holds; nil for Stamp.
	Field func(*Decision) any
}

// DecisionColumns are all columns that hold a decision. What backends write and read is made of
// this list, and their tests compare it with the migrated schema. A new column needs, beside its
// migration:
//   - its field in Decision, its part of Decision.Footprint, a bound where it is set, and a value
//     in full() of test/storetest/decisions.go;
//   - its line here, with Since. An index over a text needs a Key;
//   - SealFormat at its schema, since seals cover it. Hashes of rows as older schemas had them
//     stay: add rows of the new format to TestHashesStay, and change none;
//   - a way down that keeps the seals. Rows that have a value differ from them afterwards;
//   - its way out, in package record: Recorded and rowOf.
var DecisionColumns = []Column{
	{Name: "cluster", Kind: Key, Field: func(d *Decision) any { return &d.Cluster }},
	{Name: "id", Kind: Key, Field: func(d *Decision) any { return &d.ID }},
	{Name: "created_at", Kind: Time, Field: func(d *Decision) any { return &d.CreatedAt }},
	{Name: "decided_as_of", Kind: Time, Field: func(d *Decision) any { return &d.Now }},
	{Name: "revision", Kind: BigInt, Field: func(d *Decision) any { return &d.Revision }},
	{Name: "bound_revision", Kind: BigInt, Field: func(d *Decision) any { return &d.BoundRevision }},
	{Name: "verb", Kind: Key, Field: func(d *Decision) any { return &d.Verb }},
	{Name: "outcome", Kind: Key, Field: func(d *Decision) any { return &d.Outcome }},
	{Name: "namespace", Kind: Key, Field: func(d *Decision) any { return &d.Namespace }},
	{Name: "pod", Kind: Key, Field: func(d *Decision) any { return &d.Pod }},
	{Name: "pod_uid", Kind: UID, Field: func(d *Decision) any { return &d.PodUID }},
	{Name: "node", Kind: Key, Field: func(d *Decision) any { return &d.Node }},
	{Name: "nominated_node", Kind: Text, Field: func(d *Decision) any { return &d.NominatedNode }},
	{Name: "priority", Kind: Int, Field: func(d *Decision) any { return &d.Priority }},
	{Name: "nodes_total", Kind: BigInt, Field: func(d *Decision) any { return &d.NodesTotal }},
	{Name: "nodes_feasible", Kind: BigInt, Field: func(d *Decision) any { return &d.NodesFeasible }},
	{Name: "message", Kind: Text, Field: func(d *Decision) any { return &d.Message }},
	{Name: "stamp", Kind: Stamp},
	{Name: "profile", Kind: Text, Stamped: true, Field: func(d *Decision) any { return &d.Profile }},
	{Name: "profile_digest", Kind: Key, Stamped: true, Field: func(d *Decision) any { return &d.ProfileDigest }},
	{Name: "engine", Kind: Key, Stamped: true, Field: func(d *Decision) any { return &d.Engine }},
	{Name: "semantics", Kind: Key, Stamped: true, Field: func(d *Decision) any { return &d.Semantics }},
	{Name: "snapshot_digest", Kind: Digest, Field: func(d *Decision) any { return &d.SnapshotDigest }},
	{Name: "pod_digest", Kind: Digest, Field: func(d *Decision) any { return &d.PodDigest }},
	{Name: "answer_digest", Kind: Digest, Field: func(d *Decision) any { return &d.AnswerDigest }},
	{Name: "duration_micros", Kind: BigInt, Field: func(d *Decision) any { return &d.DurationMicros }},
	{Name: "failures", Kind: List, Null: true, Field: func(d *Decision) any { return &d.Failures }},
	{Name: "scores", Kind: List, Null: true, Field: func(d *Decision) any { return &d.Scores }},
	{Name: "victims", Kind: List, Null: true, Field: func(d *Decision) any { return &d.Victims }},
	{Name: "input", Kind: Blob, Null: true, Field: func(d *Decision) any { return &d.Input }},
	{Name: "seq", Kind: Place, Field: func(d *Decision) any { return &d.Seq }},
	{Name: "mode", Kind: Text, Field: func(d *Decision) any { return &d.Mode }},
	{Name: "stale_ms", Kind: BigInt, Null: true, Field: func(d *Decision) any { return &d.StaleMillis }},
	{Name: "asked_by", Kind: Text, Null: true, Field: func(d *Decision) any { return &d.Asked.By }},
	{Name: "peer", Kind: Text, Null: true, Field: func(d *Decision) any { return &d.Asked.Peer }},
	{Name: "request_id", Kind: Text, Null: true, Field: func(d *Decision) any { return &d.Asked.RequestID }},
	{Name: "asked_as_of", Kind: Time, Null: true, Since: 16, Field: func(d *Decision) any { return &d.AskedAsOf }},
	{Name: "rejected_by", Kind: Text, Null: true, Since: 16, Field: func(d *Decision) any { return &d.RejectedBy }},
	{Name: "purpose", Kind: Text, Null: true, Since: 23, Field: func(d *Decision) any { return &d.Purpose }},
	{Name: "attempt", Kind: Text, Null: true, Since: 23, Field: func(d *Decision) any { return &d.Attempt }},
	{Name: "facts", Kind: List, Null: true, Since: 28, Field: func(d *Decision) any { return &d.Facts }},
	{Name: "blockers", Kind: List, Null: true, Since: 30, Field: func(d *Decision) any { return &d.Blockers }},
	{Name: "placement", Kind: Text, Null: true, Since: 31, Field: func(d *Decision) any { return &d.Placement }},
}

// ReplayColumns name the columns that a replay needs beside the cluster.
var ReplayColumns = []string{
	"revision", "created_at", "id", "decided_as_of", "verb", "namespace", "pod", "pod_uid",
	"outcome", "node", "nominated_node", "profile_digest", "engine", "semantics", "snapshot_digest", "answer_digest", "input",
}

// RollupColumns name the columns that roll-ups are made of beside the cluster and the stamp.
var RollupColumns = []string{
	"id", "created_at", "verb", "outcome", "namespace", "pod", "pod_uid", "node", "revision", "bound_revision",
	"duration_micros", "failures", "seq", "mode", "purpose", "attempt", "priority", "pod_digest", "facts",
}

// KnownPurpose returns the Purpose, or what it has to be by the record's other columns, as views
// show it; empty where they do not say.
func (d *Decision) KnownPurpose() string {
	const shadow = "shadow"
	switch {
	case d.Purpose != "":
		return d.Purpose
	case d.Mode == shadow:
		return shadow
	case d.BoundRevision > 0 || d.Verb != "decide":
		return "live"
	}
	return ""
}
