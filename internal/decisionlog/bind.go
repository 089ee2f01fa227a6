package decisionlog

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"berth/internal/cluster"
	"berth/internal/engine"
	"berth/internal/store"
)

// BindOutcome says what a bind came to.
type BindOutcome struct {
	// AlreadyBound says that the pod was on that node before.
	AlreadyBound bool
	// Snapshot is the revision that holds the pod on its node.
	Snapshot string
}

// Bind puts a pod of the newest revision on a node: the bind becomes the next
// revision. In a cluster that has a Binder that is then asked. The same pod to the same node again is a success.
// An empty uid is not compared, as an apiserver takes a Binding without one.
// What stands against it is a *BindError in words.
func (l *Log) Bind(ctx context.Context, name, ns, pod, uid, node string) (BindOutcome, error) {
	if b := l.binder(name); b != nil {
		return l.bindThrough(ctx, b, name, PodRef{ns, pod, uid}, node)
	}
	return l.bindLedger(ctx, name, ns, pod, uid, node)
}

func (l *Log) bindLedger(ctx context.Context, name, ns, pod, uid, node string) (BindOutcome, error) {
	began := time.Now()
	var out BindOutcome
	var profile *store.Profile
	v, _, err := l.m.Update(ctx, name, 0, func(v *cluster.View) (*cluster.Step, error) {
		out, profile = BindOutcome{}, nil
		refusal, already := judgeBind(v, ns, pod, uid, node)
		if refusal != "" {
			return nil, &BindError{refusal}
		}
		if already {
			out.AlreadyBound = true
			return nil, nil
		}
		step, err := l.bindStep(v, ns, pod, node, began, true)
		if err == nil {
			profile = step.Profile
		}
		return step, err
	})
	switch {
	case errors.Is(err, store.ErrConflict):
		return BindOutcome{}, &BindError{fmt.Sprintf("the cluster changed while pod %s/%s was bound to node %s, and nothing was written: ask again", ns, pod, node)}
	case errors.Is(err, store.ErrNotFound):
		return BindOutcome{}, &BindError{fmt.Sprintf("there is no snapshot of cluster %s to bind pod %s/%s in", name, ns, pod)}
	case err != nil:
		return BindOutcome{}, err
	}
	l.noteStored(profile)
	out.Snapshot = v.ID()
	return out, nil
}

// judgeBind says whether a view lets a pod be bound: in words why not, or that
// it is bound so already.
func judgeBind(v *cluster.View, ns, name, uid, node string) (refusal string, already bool) {
	p := v.State.Pod(ns, name)
	who := fmt.Sprintf("pod %s/%s", ns, name)
	switch {
	case p == nil:
		return fmt.Sprintf("%s is not in %s", who, v.ID()), false
	case uid != "" && p.UID != uid:
		return fmt.Sprintf("%s has UID %s in %s, not %s: it is another pod of that name", who, p.UID, v.ID(), uid), false
	case p.NodeName == node && node != "":
		return "", true
	case p.NodeName != "":
		return fmt.Sprintf("%s is bound to node %s already and cannot be bound to %s", who, p.NodeName, node), false
	case p.Terminating:
		return fmt.Sprintf("%s is being deleted", who), false
	case p.Terminal:
		return fmt.Sprintf("%s has ended", who), false
	case len(p.Gates) > 0:
		return fmt.Sprintf("%s has scheduling gates: %v", who, p.Gates), false
	case v.State.Nodes().Row(node) < 0:
		return fmt.Sprintf("node %q is not in %s", node, v.ID()), false
	}
	return "", false
}

// bindStep makes the bind and its record. A ledger takes along what the pod's
// claims get on the node; of a cluster that is followed the apiserver tells it,
// since kube-scheduler has written it before it asks for a bind.
func (l *Log) bindStep(v *cluster.View, ns, name, node string, began time.Time, ledger bool) (*cluster.Step, error) {
	pod, err := v.Pod(ns, name)
	if err != nil {
		return nil, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("make an id: %w", err)
	}
	js, _ := v.Object(podKey(ns, name))
	now := l.now()
	in := input{Version: inputVersion, Bind: node}
	d := &store.Decision{
		ID: id.String(), Cluster: v.Cluster, Revision: v.Revision, Verb: VerbBind, CreatedAt: now, Now: now,
		Namespace: ns, Pod: name, PodUID: string(pod.UID), Engine: engine.Version, Semantics: engine.Semantics,
		SnapshotDigest: v.Digest, PodDigest: digestOf(js),
	}
	ans := bindAnswer(v, ns, name, string(pod.UID), node)
	d.Outcome, d.Node, d.AnswerDigest = string(ans.Outcome), ans.Node, ans.Digest
	if pod.Spec.Priority != nil {
		d.Priority = *pod.Spec.Priority
	}
	step := &cluster.Step{Bind: &cluster.Bind{Pod: pod, Node: node}, Decision: d}
	if ledger {
		if err := l.takeToNode(v, step, &in); err != nil {
			return nil, err
		}
	}
	if d.Input, err = in.encode(); err != nil {
		return nil, err
	}
	d.StaleMillis = l.stale(d.Cluster)
	d.DurationMicros = time.Since(began).Microseconds()
	return step, nil
}

// takeToNode adds to a bind what goes with its pod. The record then names the
// profile whose rules were asked.
func (l *Log) takeToNode(v *cluster.View, step *cluster.Step, in *input) error {
	p, err := choose(l.profiles, "", step.Bind.Pod.Spec.SchedulerName)
	if err != nil {
		return err
	}
	a, err := settleFor(v, step.Decision, step.Bind.Pod, p, step.Bind.Node)
	if err != nil || a.digest == "" {
		return err
	}
	in.Along = a.digest
	step.Decision.Profile, step.Decision.ProfileDigest, step.Profile = p.Name, p.Digest, l.unstored(p)
	step.Bind.Pod, step.Apply = a.onto(step.Bind.Pod), a.objects
	return nil
}

// bindAnswer is a ledger bind as a decision: no plugin is asked, only the
// ledger's own rules.
func bindAnswer(v *cluster.View, ns, name, uid, node string) engine.Decision {
	refusal, already := judgeBind(v, ns, name, uid, node)
	a := engine.Decision{Outcome: engine.Scheduled, Node: node}
	if refusal != "" || already {
		a = engine.Decision{Outcome: engine.UnschedulableOK, Message: refusal}
		if already {
			a.Message = fmt.Sprintf("pod %s/%s is on node %s already", ns, name, node)
		}
	}
	if p := v.State.Pod(ns, name); p != nil {
		a.Priority = p.Priority
	}
	a.Digest = digestOf([]byte(fmt.Sprintf("berth-bind-1 %q %q %q %q %q %q", ns, name, uid, node, a.Outcome, a.Message)))
	return a
}
