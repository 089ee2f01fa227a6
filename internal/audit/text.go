package audit

import (
	"fmt"
	"slices"
	"strings"

	"berth/internal/store"
)

// Anchor are the heads of chains at one time, to be kept where who keeps the store cannot write.
type Anchor struct {
	Heads []Head `json:"heads"`
} // @name AuditAnchor

// AnchorOf returns the anchor of the chains that have a seal.
func AnchorOf(heads []store.SealHead) Anchor {
	a := Anchor{Heads: []Head{}}
	for _, h := range heads {
		if h.Number > 0 {
			a.Heads = append(a.Heads, headOf(h))
		}
	}
	return a
}

// Of returns the anchor's head of a cluster, nil without one.
func (a Anchor) Of(cluster string) *Head {
	for i := range a.Heads {
		if a.Heads[i].Cluster == cluster {
			return &a.Heads[i]
		}
	}
	return nil
}

// Names returns the clusters to check: those of the store and those of the anchor, which may be
// gone; only the one that is named, if any.
func (a Anchor) Names(heads []store.SealHead, only string) []string {
	if only != "" {
		return []string{only}
	}
	var names []string
	for _, h := range heads {
		names = append(names, h.Cluster)
	}
	for _, h := range a.Heads {
		names = append(names, h.Cluster)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Text returns the report as lines for people.
func (r *Report) Text() string {
	var b strings.Builder
	verdict := "GOOD"
	if !r.Good() {
		verdict = fmt.Sprintf("%d FOUND", len(r.Findings)+r.Omitted)
	}
	if r.Cluster == "" { // the schema alone
		fmt.Fprintf(&b, "schema: %s\n", verdict)
	} else {
		fmt.Fprintf(&b, "%s: %s. Seals %d to %d: %d decisions, %d revisions, %d checkpoints, %d gaps, changes of %d revisions, %d of priority classes\n",
			r.Cluster, verdict, r.FromSeal, r.ToSeal, r.Rows[store.SealDecisions], r.Rows[store.SealRevisions],
			r.Rows[store.SealCheckpoints], r.Rows[store.SealGaps], r.Rows[store.SealObjects], r.Rows[store.SealClasses])
	}
	if r.BeforeSeq > 0 || r.BeforeRevision > 0 {
		checked := "not checked"
		if r.Beginning > 0 {
			checked = fmt.Sprintf("checked against seal %d, which was written later", r.Beginning)
		}
		fmt.Fprintf(&b, "  older than the chain: decisions to %d, revisions to %d, %s\n", r.BeforeSeq, r.BeforeRevision, checked)
	}
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "  %s: %s\n", f.What, f.Detail)
	}
	for _, f := range r.Accepted {
		fmt.Fprintf(&b, "  accepted: %s\n", f.Detail)
	}
	if r.Omitted > 0 {
		fmt.Fprintf(&b, "  and %d more\n", r.Omitted)
	}
	return b.String()
}
