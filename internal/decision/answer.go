package decision

import (
	"time"

	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/explain/suggest"
)

// Answer is a decision as it is answered: about which pod, when and on what, and the
// engine's explanation.
type Answer struct {
	ID       string `json:"id,omitempty"`
	Cluster  string `json:"cluster"`
	Snapshot string `json:"snapshot"`
	Profile  string `json:"profile"`
	// ProfileFallback is the pod's schedulerName where no profile has that name, so that the first
	// profile judged it.
	ProfileFallback string `json:"profileFallback,omitempty"`

	Engine    string    `json:"engine"`
	Semantics string    `json:"semantics"`
	CreatedAt time.Time `json:"createdAt"`
	Verb      string    `json:"verb"`
	Pod       PodRef    `json:"pod"`
	engine.Decision
	// Groups are the rejected nodes by the same verdict, for explain=groups. They
	// are worked out for the answer, and are not recorded.
	Groups []suggest.Group `json:"groups,omitempty"`
	// Narrowed is which nodes the pod wants, and what those have against it, beside groups.
	Narrowed *suggest.Narrowed `json:"narrowed,omitempty"`
	// Suggestions are single changes that would let the pod fit, cheapest first;
	// they are worked out when the question wants them. They are not recorded; that
	// they were wanted is.
	Suggestions []suggest.Suggestion `json:"suggestions,omitempty"`
	// BoundTo is the node that the pod is on in the snapshot, for a dry run about a pod
	// that is bound: it was taken out first.
	BoundTo string `json:"boundTo,omitempty"`
	// Notes say what has to be known to read the answer. They are part of no digest.
	Notes []string `json:"notes,omitempty"`
	// BoundSnapshot is the revision that a bind made.
	BoundSnapshot string `json:"boundSnapshot,omitempty"`
	// BoundEffects are what the bind wrote beside the pod; absent where that is nothing.
	BoundEffects *BoundEffects `json:"boundAlong,omitempty"`
	// NominatedSnapshot is the revision that holds the pod nominated to its node.
	NominatedSnapshot string `json:"nominatedSnapshot,omitempty"`
	// PendingSnapshot is the revision that holds why the pod waits, after an attempt
	// with bind that found no node.
	PendingSnapshot string `json:"pendingSnapshot,omitempty"`
	// ProfileDigest names the configuration, which GET /v1/profiles/{digest} has.
	ProfileDigest  string `json:"profileDigest"`
	SnapshotDigest string `json:"snapshotDigest"`
	PodDigest      string `json:"podDigest"`
	DurationMicros int64  `json:"durationMicros"`
	// Mode is shadow where the answer was recorded only, and everything let pass.
	Mode string `json:"mode,omitempty" enums:"shadow"`
	// StaleMillis is for how long the state may have missed what happened, of a
	// cluster that is followed.
	StaleMillis *int64 `json:"staleMillis,omitempty"`
	// Durability is spool where the database was away and the record is durable
	// on the server's own disk, from where it goes to the database; else absent.
	Durability string `json:"durability,omitempty" enums:"spool"`
	// Warnings name the parts of the request that were ignored, and what the answer does not
	// show of it. They are of the request, and not recorded.
	Warnings []string `json:"warnings,omitempty"`

	encoded *explain.Encoded // the engine's decision; nil where it is not encoded yet
} // @name Decision
