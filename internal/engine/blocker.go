package engine

import (
	"cmp"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"berth/internal/engine/state"
)

// MaxBlockers is how many objects a detail names.
const MaxBlockers = 10

// Blocker is an object that causes a rejection: a pod that holds what is short, a claim, a volume,
// a node that is missing.
type Blocker struct {
	Kind      string `json:"kind" example:"Pod"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Owner is the kind and name of a pod's controller, of a Deployment instead of its ReplicaSet.
	Owner string `json:"owner,omitempty" example:"Deployment/web"`
	// Node is where a pod runs, or is nominated to.
	Node string `json:"node,omitempty"`
	// Amount is how much it holds of the detail's resource, in the unit of the detail.
	Amount *int64 `json:"amount,omitempty"`
	// Resizing is how much of it counts for a resize that its node defers.
	Resizing *int64 `json:"resizing,omitempty"`
	// State is ending, overdue, nominated, resizeDeferred, evictable, waiting or missing; empty for
	// a pod that stays.
	State BlockerState `json:"state,omitempty" enums:"ending,overdue,nominated,resizeDeferred,evictable,waiting,missing" swaggertype:"string"`
	// Since is when an ending pod was deleted, Until when it has to be gone: RFC 3339.
	Since string `json:"since,omitempty" example:"2026-11-21T10:00:00Z"`
	Until string `json:"until,omitempty" example:"2026-11-21T10:00:30Z"`
	// Why is what the object has to do with the rejection, where that is not plain.
	Why string `json:"why,omitempty"`
}

// BlockerState is what is to become of a blocker.
type BlockerState string

// The states of blockers.
const (
	// BlockerEnding is a pod that was deleted and is to be gone at a time to come.
	BlockerEnding BlockerState = "ending"
	// BlockerOverdue is one that had to be gone before.
	BlockerOverdue BlockerState = "overdue"
	// BlockerNominated is a pod that waits for the room on a node.
	BlockerNominated BlockerState = "nominated"
	// BlockerResizing is a pod that counts for a resize that its node defers.
	BlockerResizing BlockerState = "resizeDeferred"
	// BlockerEvictable is a pod of lower priority.
	BlockerEvictable BlockerState = "evictable"
	// BlockerWaiting is a pod that has no node itself.
	BlockerWaiting BlockerState = "waiting"
	// BlockerMissing is an object that the cluster does not have.
	BlockerMissing BlockerState = "missing"
)

// Blockers collects the objects of one detail: the largest first, those of one amount by kind,
// namespace and name. Of many it holds MaxBlockers.
type Blockers struct {
	list []Blocker
	left int
}

// Add adds an object, or counts it.
func (l *Blockers) Add(b Blocker) {
	i, _ := slices.BinarySearchFunc(l.list, b, compareBlockers)
	if i == MaxBlockers {
		l.left++
		return
	}
	l.list = slices.Insert(l.list, i, b)
	if len(l.list) > MaxBlockers {
		l.list, l.left = l.list[:MaxBlockers], l.left+1
	}
}

// wants reports whether an object that sorts as this one would be held.
func (l *Blockers) wants(amount int64, kind, namespace, name string) bool {
	if len(l.list) < MaxBlockers {
		return true
	}
	last := &l.list[MaxBlockers-1]
	return cmp.Or(cmp.Compare(amountOf(last), amount), cmp.Compare(kind, last.Kind), cmp.Compare(namespace, last.Namespace), cmp.Compare(name, last.Name)) < 0
}

func amountOf(b *Blocker) int64 {
	if b.Amount == nil {
		return math.MinInt64
	}
	return *b.Amount
}

func compareBlockers(a, b Blocker) int {
	return cmp.Or(cmp.Compare(amountOf(&b), amountOf(&a)), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// AddPod adds a pod of the query's state with the amount that it holds, nil for none, and what it
// has to do with the rejection.
func (l *Blockers) AddPod(q *Query, p *state.Pod, amount *int64, why string) {
	n := int64(math.MinInt64)
	if amount != nil {
		n = *amount
	}
	if !l.wants(n, "Pod", p.Namespace, p.Name) {
		l.left++
		return
	}
	b := q.PodBlocker(p)
	if amount != nil {
		own := *amount
		b.Amount = &own
	}
	if b.Why == "" {
		b.Why = why
	}
	l.Add(b)
}

// Named returns what name names of a thing that details of many nodes are about, worked out once
// per decision.
func (q *Query) Named(of any, name func() Blockers) Blockers {
	l, known := q.named[of]
	if !known {
		if q.named == nil {
			q.named = map[any]Blockers{}
		}
		l = name()
		q.named[of] = l
	}
	return l
}

// Done writes the objects into a detail.
func (l *Blockers) Done(d *Detail) { d.Blockers, d.BlockersOmitted = l.list, l.left }

// PodBlocker describes a pod of the query's state.
func (q *Query) PodBlocker(p *state.Pod) Blocker {
	b := Blocker{Kind: "Pod", Namespace: p.Namespace, Name: p.Name, Node: p.NodeName}
	if o, ok := q.State.TopOwner(p); ok {
		b.Owner = o.String()
	}
	switch {
	case p.Terminating:
		b.State, q.timeRead = BlockerEnding, true
		if b.Since, b.Until = instant(p.Deleted), instant(p.Ends); !q.Options.Now.IsZero() && q.Options.Now.Unix() > p.Ends {
			b.State = BlockerOverdue
		}
	case slices.ContainsFunc(q.added, func(a *state.Pod) bool { return a.Namespace == p.Namespace && a.Name == p.Name }):
		b.State = BlockerNominated
	case p.NodeName == "":
		b.State = BlockerWaiting
	case p.Resizing != nil:
		b.State = BlockerResizing
	case q.State.PriorityOf(p) < q.Priority() && ptr.Deref(q.Pod.Spec.PreemptionPolicy, "") != corev1.PreemptNever:
		b.State = BlockerEvictable
	}
	return b
}

func instant(seconds int64) string { return time.Unix(seconds, 0).UTC().Format(time.RFC3339) }

// named holds the objects of details to their bounds.
func named(details []Detail) {
	for i := range details {
		for k := range details[i].Blockers {
			b := &details[i].Blockers[k]
			b.Why = ClipTerm(b.Why)
		}
	}
}
