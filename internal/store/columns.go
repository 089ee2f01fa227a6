package store

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
	List               // rows of JSON; NULL where there are none
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
	// Field returns a pointer to what the column holds; nil for Stamp.
	Field func(*Decision) any
}

// DecisionColumns are all columns that hold a decision. What backends write and read is made of
// this list, and their tests compare it with the migrated schema.
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
}
