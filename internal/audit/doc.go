// Package audit checks the hash chains of the log: that each row that a seal is of is stored as it
// was written, that each seal follows the one before, and that nothing is stored beside them but
// what is older than the chain.
package audit

import (
	"slices"

	"berth/internal/store"
)

// What a finding is about.
const (
	Changed  = "changed"  // the row or the seal is not what was sealed
	Missing  = "missing"  // it is gone, and no seal has its removal
	Moved    = "moved"    // the row stands at another place than it was sealed at
	Inserted = "inserted" // no seal has it
	Anchored = "anchor"   // the chain is not the one that the anchor is of
	// Unchecked is what could not be looked at.
	Unchecked = "unchecked"
)

const tableSeals = "seals"

// Finding names what does not fit.
type Finding struct {
	Cluster string `json:"cluster"`
	// Table is decisions, revisions, checkpoints, decision_gaps, revision_changes,
	// priority_class_changes, seals, clusters or schema.
	Table string `json:"table"`
	What  string `json:"what" enums:"changed,missing,moved,inserted,anchor,unchecked"`
	// From and To are the first and the last place: seq of decisions and of changes of priority
	// classes, number of revisions, what they changed, checkpoints and seals.
	From int64 `json:"from,omitempty"`
	To   int64 `json:"to,omitempty"`
	// ID is of a decision or of a gap, where it is known, or the name of what is wrong in a schema.
	ID     string `json:"id,omitempty"`
	Seal   int64  `json:"seal,omitempty"` // the seal that the row is of
	Detail string `json:"detail"`
} // @name AuditFinding

// Head is the end of a cluster's chain. Kept where the store's keeper cannot write, it shows later
// that the chain up to it was not written anew.
type Head struct {
	Cluster string `json:"cluster"`
	Seal    int64  `json:"seal"`
	Hash    string `json:"hash"` // of that seal, in hexadecimal
	Seq     int64  `json:"seq"`  // of the last decision
} // @name AuditHead

// Report is what a check found.
type Report struct {
	Cluster string `json:"cluster"`
	// FromSeal and ToSeal are the seals that were checked. A check that goes on continues after
	// ToSeal.
	FromSeal int64 `json:"fromSeal"`
	ToSeal   int64 `json:"toSeal"`
	// More is set where seals behind ToSeal are left.
	More bool `json:"more,omitempty"`
	// Rows that were compared with their seal.
	Rows map[store.SealTable]int64 `json:"rows"`
	// BeforeSeq and BeforeRevision are the last decision and revision from before the chain. They
	// are compared with what its seal of beginning has, which a migration wrote.
	BeforeSeq      int64 `json:"beforeSeq,omitempty"`
	BeforeRevision int64 `json:"beforeRevision,omitempty"`
	// Beginning is the number of that seal, or of the deletion that the chain goes on behind.
	Beginning int64     `json:"beginning,omitempty"`
	Findings  []Finding `json:"findings"`
	// Accepted are findings that were accepted (Accept).
	Accepted []Finding `json:"accepted,omitempty"`
	// Omitted counts the findings that are not listed.
	Omitted int  `json:"omitted,omitempty"`
	Head    Head `json:"head"`
} // @name AuditReport

// Good reports whether nothing was found.
func (r *Report) Good() bool { return len(r.Findings) == 0 }

// Accept takes what could not be checked out of the findings: the caller knows of it.
func (r *Report) Accept() {
	r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool {
		if f.unchecked() {
			r.Accepted = append(r.Accepted, f)
		}
		return f.unchecked()
	})
}

// unchecked reports whether a finding is that something could not be checked: it could not be
// looked at, or the beginning of a chain is missing.
func (f *Finding) unchecked() bool {
	return f.What == Unchecked || f.What == Missing && f.Table == tableSeals && f.From == 0
}

// Join adds the report of the part behind this one.
func (r *Report) Join(next *Report) {
	if r.Cluster == "" {
		r.Cluster, r.FromSeal, r.BeforeSeq, r.BeforeRevision = next.Cluster, next.FromSeal, next.BeforeSeq, next.BeforeRevision
	}
	if r.Rows == nil {
		r.Rows = map[store.SealTable]int64{}
	}
	for table, n := range next.Rows {
		r.Rows[table] += n
	}
	for _, f := range next.Findings {
		r.add(f)
	}
	r.ToSeal, r.More, r.Head, r.Beginning, r.Omitted = next.ToSeal, next.More, next.Head, next.Beginning, r.Omitted+next.Omitted
}

// maxFindings is how many findings a report lists.
const maxFindings = 1000

func (r *Report) add(f Finding) {
	f.Cluster = r.Cluster
	if len(r.Findings) >= maxFindings {
		r.Omitted++
		return
	}
	r.Findings = append(r.Findings, f)
}
