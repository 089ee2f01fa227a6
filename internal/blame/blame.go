// Package blame finds the revisions at which the verdict about a pod turned, and the objects whose
// change turned it.
package blame

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/revision"
	"berth/internal/store"
)

// History is what a walk needs of the clusters' revisions.
type History interface {
	View(ctx context.Context, cluster string, rev int64) (*revision.View, error)
	List(ctx context.Context, cluster string, before int64, limit int) ([]*store.Revision, error)
	WalkApart(ctx context.Context, cluster, namespace, name string) (*revision.Walk, error)
}

// Bound is an end of a history: a revision, else a time; zero for neither.
type Bound struct {
	Revision int64
	Time     time.Time
}

// MaxCount is how many copies of a pod a walk counts at most, each decided at each revision.
const MaxCount = 1000

// Ask is a question: whose verdict, and on what.
type Ask struct {
	Cluster, Namespace, Name string
	// Since is the state that the walk begins with, Until the one that it ends with: the revision,
	// or the newest one at the time. Zero: the oldest that is kept, and the newest.
	Since, Until Bound
	// Node makes it about one node; Count, where positive, about how many copies of the pod fit, up
	// to so many. One of the two at most.
	Node  string
	Count int
	// Profiles are the cluster's, and Class looks up a priority class that a revision lacks.
	Profiles []*engine.Profile
	Class    decision.ClassSource
	// Followed reports that changes without a caller come from the cluster's API server.
	Followed bool
	// Sees reports whether objects of a namespace are named; nil: all are.
	Sees func(namespace string) bool
	// Progress, where not nil, hears how many revisions were judged.
	Progress func(done, total int)
}

// Blame is when the verdict about a pod turned, and what turned it.
type Blame struct {
	Pod decision.PodRef `json:"pod"`
	// Revisions is how many were judged, each by an exact decision.
	Revisions int `json:"revisions" example:"9120"`
	// Outcome is that of the last revision: of a decision, of the node in question (fits, absent or
	// the plugin that rejects the pod), or how many copies fit.
	Outcome string `json:"outcome" example:"Unschedulable"`
	// Turns are the revisions at which the outcome became another one, the newest first.
	Turns []Turn `json:"turns"`
	// Notes say what the history does not tell.
	Notes []string `json:"notes,omitempty"`
} // @name Blame

// Turn is a revision with another outcome than the one before it.
type Turn struct {
	Snapshot string    `json:"snapshot" example:"prod@1042"`
	At       time.Time `json:"at"`
	From     string    `json:"from" example:"Scheduled"`
	To       string    `json:"to" example:"Unschedulable"`
	// Change is what turned it; without a name where the caller may not see it, and without a kind
	// where it cannot be told.
	Change Change `json:"change"`
	// Also are the other objects of the same revision that turned it.
	Also []Change `json:"also,omitempty"`
	// By is who asked for the change.
	By      string `json:"by" example:"token:kube-scheduler"`
	Message string `json:"message"`
} // @name BlameTurn

// Change is what a revision did to an object.
type Change struct {
	// Verb is how it came: by a bind, by a change that applied or deleted it, with an upload, or
	// from the API server that is followed.
	Verb      string `json:"verb" enums:"bind,apply,delete,upload,watch"`
	Kind      string `json:"kind,omitempty" example:"Pod"`
	Namespace string `json:"namespace,omitempty" example:"batch"`
	Name      string `json:"name,omitempty" example:"j-17"`
	// Node is that of a pod which got it, or was deleted from it.
	Node string `json:"node,omitempty" example:"n3"`
} // @name BlameChange

// maxTurns is how many turns are told.
const maxTurns = 1000

// verifyEvery is after how many revisions the walk's objects are held against their digest.
const verifyEvery = 1000

// Of walks a cluster's history.
func Of(ctx context.Context, h History, ask Ask) (*Blame, error) {
	heads, notes, err := headsOf(ctx, h, &ask)
	if err != nil {
		return nil, err
	}
	pod, err := podIn(ctx, h, &ask, heads)
	if err != nil {
		return nil, err
	}
	j, err := newJudge(&ask, pod)
	if err != nil {
		return nil, err
	}
	if j.ungated {
		notes = append(notes, "its scheduling gates count as removed")
	}
	if j.walk, err = h.WalkApart(ctx, ask.Cluster, ask.Namespace, ask.Name); err != nil {
		return nil, err
	}
	out := &Blame{
		Pod:       decision.PodRef{Namespace: pod.Namespace, Name: pod.Name, UID: string(pod.UID)},
		Revisions: len(heads), Turns: []Turn{}, Notes: notes,
	}
	w := &walk{ask: &ask, judge: j, out: out, newest: heads[len(heads)-1].CreatedAt}
	if err := w.all(ctx, heads); err != nil {
		return nil, err
	}
	slices.Reverse(out.Turns)
	return out, nil
}

// walk is one walk through a history.
type walk struct {
	ask    *Ask
	judge  *judge
	out    *Blame
	newest time.Time // of the last revision
	trials int       // that were made to find what turned it
	there  bool      // some revision has the node in question
}

func (w *walk) all(ctx context.Context, heads []*store.Revision) error {
	var was verdict
	for i, head := range heads {
		v, err := w.judge.to(ctx, head)
		if err != nil {
			return late(err, head, i, len(heads))
		}
		is, err := w.judge.verdict(ctx, false)
		if err != nil {
			return late(err, head, i, len(heads))
		}
		w.there = w.there || is.outcome != absent
		turned := i > 0 && is.outcome != was.outcome
		if turned || i > 0 && is.outcome == string(engine.Preempting) && w.budgets() {
			if err := w.turn(ctx, v, head, was, turned); err != nil {
				return late(err, head, i, len(heads))
			}
		}
		was = is
		if i%verifyEvery == verifyEvery-1 || i == len(heads)-1 {
			if err := w.judge.walk.Verify(); err != nil {
				return err
			}
		}
		if w.ask.Progress != nil {
			w.ask.Progress(i+1, len(heads))
		}
	}
	if w.out.Outcome = was.outcome; !w.there {
		return decision.Errorf(decision.NotFound, "node", "no revision from %s to %s has a node %.253q", id(heads[0]), id(heads[len(heads)-1]), w.ask.Node)
	}
	if more := len(w.out.Turns) - maxTurns; more > 0 {
		w.out.Turns = w.out.Turns[more:]
		w.out.Notes = append(w.out.Notes, fmt.Sprintf("%d older turns are left out", more))
	}
	return nil
}

// budgets reports whether the last step changed a disruption budget: another budget may have a
// preemption evict others.
func (w *walk) budgets() bool {
	return slices.ContainsFunc(w.judge.walk.Changed(), func(c revision.Changed) bool { return c.Key.Kind == "PodDisruptionBudget" })
}

// turn tells a turn. Without another outcome it is one if other pods are evicted.
func (w *walk) turn(ctx context.Context, v *revision.View, head *store.Revision, was verdict, turned bool) error {
	is, err := w.judge.verdict(ctx, true)
	if err != nil {
		return err
	}
	if !turned {
		if was, err = w.without(ctx, all(w.judge.walk.Changed())); err != nil || was.victims() == is.victims() {
			return err
		}
	}
	f, err := w.find(ctx, &was, &is)
	if err != nil {
		return err
	}
	t := Turn{Snapshot: v.ID(), At: head.CreatedAt.UTC(), From: was.outcome, To: is.outcome, By: head.Asked.By}
	w.tell(&t, head, f, &was, &is)
	w.out.Turns = append(w.out.Turns, t)
	return nil
}

// LateError is the error of a walk that ended before its time.
type LateError struct {
	At          string // the revision that it had come to
	Done, Total int
	err         error
}

// Error implements error.
func (e *LateError) Error() string {
	return fmt.Sprintf("the walk had come to %s, %d of %d revisions, when its time was over: ask for a shorter history with since and until", e.At, e.Done, e.Total)
}

// Unwrap returns the context's error.
func (e *LateError) Unwrap() error { return e.err }

func late(err error, head *store.Revision, done, total int) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return &LateError{id(head), done, total, err}
	}
	return err
}

func id(r *store.Revision) string { return revision.FormatID(r.Cluster, r.Number) }
