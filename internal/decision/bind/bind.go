package bind

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/revision"
	"berth/internal/store"
)

// APIServer binds pods of a cluster that it keeps. A refusal is the reason why the pod is not bound
// and will not be; after an error the outcome of the bind is unknown. A pod that is on the node
// already is bound.
type APIServer interface {
	Bind(ctx context.Context, namespace, name, uid, node string) (refusal string, err error)
}

// Options tune a Binder.
type Options struct {
	// APIServer returns the apiserver of a cluster; nil for a ledger.
	APIServer func(cluster string) APIServer
	// Guarded reports whether binds in a cluster need a decision on record that let the node pass,
	// for a pod of a scheduler that this server serves; nil: none do.
	Guarded func(cluster string) bool
	// Checked has the profiles that evaluate a pod once more, on the newest revision and for the
	// one node, before it is bound through an apiserver; nil: it is not evaluated.
	Checked *decision.Configuration
	// Hold keeps refusals to bind back until the state is as new as what the caller
	// acted on: it calls try again until it does not refuse, or final is set. nil:
	// none is kept back.
	Hold func(ctx context.Context, cluster string, pod func() *corev1.Pod, try func(final bool) (refuses bool, err error)) error
}

// Binder binds pods. It is safe for concurrent use.
type Binder struct {
	m   *revision.Manager
	log *record.Log
	o   Options
}

// New makes a binder over a manager and the log of its decisions.
func New(m *revision.Manager, log *record.Log, o Options) *Binder {
	return &Binder{m: m, log: log, o: o}
}

// RefusedError is the reason why a pod was not bound. Nothing was written.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

// Bound is the result of a bind.
type Bound struct {
	// AlreadyBound is set where the pod was on that node before.
	AlreadyBound bool
	// Snapshot is the revision that holds the pod on its node.
	Snapshot string
	// Decision is the id of the record of the bind; empty where none is found.
	Decision string
}

// apiserver is nil for a ledger.
func (b *Binder) apiserver(cluster string) APIServer {
	if b.o.APIServer == nil {
		return nil
	}
	return b.o.APIServer(cluster)
}

// Bind puts a pod of the newest revision on a node: the bind becomes the next revision. In a
// cluster of an apiserver that is then called. The same pod to the same node again is a success. An
// empty UID is not compared, as an apiserver takes a Binding without one. What forbids it is a
// *RefusedError.
func (b *Binder) Bind(ctx context.Context, cluster string, pod decision.PodRef, node string) (Bound, error) {
	if s := b.apiserver(cluster); s != nil {
		return b.bindThrough(ctx, s, &attempt{cluster: cluster, pod: pod, node: node})
	}
	return b.bindLedger(ctx, cluster, pod, node)
}

func (b *Binder) bindLedger(ctx context.Context, name string, pod decision.PodRef, node string) (Bound, error) {
	began := time.Now()
	b.log.RecallAttempt(ctx, name, "", pod)
	var out Bound
	v, step, err := b.m.Update(ctx, name, 0, func(v *revision.View) (*revision.Step, error) {
		refusal, already := decision.CheckBind(v, pod, node)
		if out.AlreadyBound = already; already {
			return nil, nil
		}
		if refusal != "" {
			return nil, &RefusedError{refusal}
		}
		return b.log.NewLedgerBind(v, pod.Namespace, pod.Name, node, true, began)
	})
	switch {
	case errors.Is(err, store.ErrConflict):
		return Bound{}, changedMeanwhile(pod, node)
	case errors.Is(err, store.ErrNotFound):
		return Bound{}, &RefusedError{fmt.Sprintf("there is no snapshot of cluster %s to bind %s in", name, pod)}
	case err != nil:
		return Bound{}, err
	}
	if step != nil {
		b.log.Written(step.Decision, step.Profile)
		out.Decision = step.Decision.ID
	} else {
		out.Decision = b.log.BindOf(ctx, name, pod, node)
	}
	out.Snapshot = v.ID()
	return out, nil
}

func changedMeanwhile(pod decision.PodRef, node string) *RefusedError {
	return &RefusedError{fmt.Sprintf("the cluster changed while %s was bound to node %s, and nothing was written: ask again", pod, node)}
}
