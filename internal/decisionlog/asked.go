package decisionlog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"weak"

	"berth/internal/cluster"
	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/store"
)

// passage is which nodes an answer let a pod pass to. The set of nodes is held
// weakly, so that a pod which nobody binds keeps no state in memory.
type passage struct {
	nodes    weak.Pointer[state.NodeSet]
	feasible state.Bits
}

// notePassed remembers an answer that is on record, in a cluster where a bind
// needs one.
func (l *Log) notePassed(c *matter, r *engine.Result) {
	if c.q.Verb == VerbPreempt || c.q.Mode != "" || !l.guarded(c.q.Cluster) {
		return
	}
	l.passed.note(podUID{c.q.Cluster, string(c.pod.UID)}, passage{weak.Make(r.Nodes()), r.Feasible.Clone()})
}

// guarded reports whether pods of a cluster are bound only where a decision let
// them. A ledger's caller names the nodes itself.
func (l *Log) guarded(cluster string) bool {
	return !l.o.BindUnasked && l.binder(cluster) != nil
}

// recentRecords is how many of a pod's newest records are searched for the
// decision that a bind follows.
const recentRecords = 16

// unasked says in words that no decision let a pod pass to a node, "" where one
// did: what this server answered last, or the newest verdict on record. An answer
// to /prioritize may let the node pass, and is no verdict that forbids it: it
// scores nodes that /filter has let pass.
func (l *Log) unasked(ctx context.Context, cluster string, pod PodRef, node string) (string, error) {
	if p, ok := l.passed.get(podUID{cluster, pod.UID}); ok {
		if set := p.nodes.Value(); set != nil {
			if row := set.Row(node); row >= 0 && p.feasible.Has(row) {
				return "", nil
			}
		}
	}
	limited, cancel := context.WithTimeout(ctx, askRecords)
	defer cancel()
	list, err := l.st.ListDecisions(limited, store.DecisionFilter{Cluster: cluster, Namespace: pod.Namespace, Pod: pod.Name, Limit: recentRecords})
	if err != nil {
		return "", fmt.Errorf("look for the decision to bind: %w", err)
	}
	verdicts := []string{VerbFilter, VerbPrioritize, VerbDecide}
	for _, d := range list {
		if d.PodUID != pod.UID || d.Mode != "" || !slices.Contains(verdicts, d.Verb) {
			continue
		}
		passes, err := l.letPass(limited, d, node)
		if err != nil && !errors.Is(err, store.ErrNotFound) { // which retention has taken away
			return "", fmt.Errorf("look for the decision to bind: %w", err)
		}
		if passes {
			return "", nil
		}
		if d.Verb != VerbPrioritize {
			return fmt.Sprintf("pod %s/%s may not be bound to node %s, which decision %s did not let pass (--bind-unasked lifts this)", pod.Namespace, pod.Name, node, d.ID), nil
		}
	}
	return fmt.Sprintf("pod %s/%s may not be bound: no decision on record for its UID %s let node %s pass. Ask /filter first, or run berth with --bind-unasked",
		pod.Namespace, pod.Name, pod.UID, node), nil
}

// letPass reports whether the answer on record let a node pass. A record counts
// its feasible nodes and does not name them, so the question is answered again
// where the counts do not tell.
func (l *Log) letPass(ctx context.Context, d *store.Decision, node string) (bool, error) {
	switch {
	case d.NodesFeasible == 0:
		return false, nil
	case d.Outcome == string(engine.Scheduled) && d.Node == node:
		return true, nil
	}
	whole, err := l.st.Decision(ctx, d.ID)
	if err != nil {
		return false, err
	}
	rec, err := l.recall(ctx, whole)
	if err != nil {
		return false, err
	}
	c, err := l.ask(rec)
	if err != nil {
		return false, err
	}
	r, err := c.decide(ctx)
	if err != nil {
		return false, err
	}
	defer r.Release()
	row := r.Nodes().Row(node)
	return row >= 0 && r.Feasible.Has(row), nil
}

// foreign says in words that a pod asks for a scheduler which this server does not
// serve.
func (l *Log) foreign(v *cluster.View, ns, name string) (string, error) {
	pod, err := v.Pod(ns, name)
	if err != nil {
		return "", err
	}
	served := make([]string, len(l.profiles))
	for i, p := range l.profiles {
		if served[i] = p.Name; p.Name == pod.Spec.SchedulerName {
			return "", nil
		}
	}
	return fmt.Sprintf("pod %s/%s is for scheduler %q, and this server serves %q. Give its configuration a profile of that name, or run berth with --bind-unasked",
		ns, name, pod.Spec.SchedulerName, served), nil
}
