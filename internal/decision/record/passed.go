package record

import (
	"context"
	"errors"
	"slices"
	"weak"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/store"
)

// passage is the set of nodes that an answer let a pod pass to. The set of nodes is held
// weakly, so that a pod which is never bound keeps no state in memory.
type passage struct {
	nodes    weak.Pointer[state.NodeSet]
	feasible state.Bits
}

// passageOf returns what is to be remembered of an answer once it is on record: nothing but in a
// cluster where a bind needs one.
func (l *Log) passageOf(o *decision.Outcome) passage {
	if l.o.Guarded == nil || o.Verb == decision.VerbPreempt || o.Mode != "" || !l.o.Guarded(o.View.Cluster) {
		return passage{}
	}
	return passage{weak.Make(o.Result.Nodes()), o.Result.Feasible.Clone()}
}

// recentRecords is how many of a pod's newest records are searched for the
// decision that a bind follows.
const recentRecords = 16

// Passed reports whether a decision let a pod pass to a node: this server's last answer, or the
// newest verdict on record. An answer to /prioritize may let the node pass, and is no verdict that
// forbids it: it scores nodes that /filter has let pass. Denied is the id of the verdict that did
// not let the node pass; "" where there is none at all.
func (l *Log) Passed(ctx context.Context, cluster string, pod decision.PodRef, node string) (passed bool, denied string, err error) {
	if p, ok := l.passed.Get(podUID{cluster, pod.UID}); ok {
		if set := p.nodes.Value(); set != nil {
			if row := set.Row(node); row >= 0 && p.feasible.Has(row) {
				return true, "", nil
			}
		}
	}
	limited, cancel := context.WithTimeout(ctx, readRecords)
	defer cancel()
	list, err := l.st.ListDecisions(limited, store.DecisionFilter{Cluster: cluster, Namespace: pod.Namespace, Pod: pod.Name, Limit: recentRecords})
	if err != nil {
		return false, "", err
	}
	verdicts := []string{decision.VerbFilter, decision.VerbPrioritize, decision.VerbDecide}
	for _, d := range list {
		if d.PodUID != pod.UID || d.Mode != "" || !slices.Contains(verdicts, d.Verb) {
			continue
		}
		passed, err := l.letPass(limited, d, node)
		if err != nil && !errors.Is(err, store.ErrNotFound) { // which retention has taken away
			return false, "", err
		}
		if passed {
			return true, "", nil
		}
		if d.Verb != decision.VerbPrioritize {
			return false, d.ID, nil
		}
	}
	return false, "", nil
}

// BindOf returns the id of the newest record that put a pod on a node; "" where there is none among
// its newest records, or they cannot be read in time: who repeats a bind is answered all the same.
func (l *Log) BindOf(ctx context.Context, cluster string, pod decision.PodRef, node string) (id string) {
	limited, cancel := context.WithTimeout(ctx, readRecords)
	defer cancel()
	list, err := l.st.ListDecisions(limited, store.DecisionFilter{Cluster: cluster, Namespace: pod.Namespace, Pod: pod.Name, Node: node, Limit: recentRecords})
	if err != nil {
		return ""
	}
	for _, d := range list {
		if (d.PodUID == pod.UID || pod.UID == "") && d.Node == node && (d.BoundRevision > 0 || d.Verb == decision.VerbBind) {
			return d.ID
		}
	}
	return ""
}

// letPass reports whether the answer on record let a node pass. A record counts
// its feasible nodes and does not name them, so the question is answered again
// where the counts are not enough.
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
	rec, err := l.read(ctx, whole)
	if err != nil {
		return false, err
	}
	r, err := l.replay(ctx, rec)
	if err != nil {
		return false, err
	}
	defer r.release()
	if r.Outcome == nil {
		return false, nil
	}
	row := r.Result.Nodes().Row(node)
	return row >= 0 && r.Result.Feasible.Has(row), nil
}
