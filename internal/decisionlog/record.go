package decisionlog

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"berth/internal/engine"
	"berth/internal/store"
)

// maxNamed is up to how many nodes that failed for one reason a record names, so
// that SQL can say who was rejected where; the rest is in the recomputed answer.
const maxNamed = 8

// victims lists who would have to go: from the node chosen, or from all that
// /preempt leaves.
func victims(r *engine.Result) []store.Victim {
	var out []store.Victim
	add := func(node string, list []engine.Victim) {
		for _, v := range list {
			out = append(out, store.Victim{Namespace: v.Namespace, Pod: v.Name, UID: v.UID, Priority: v.Priority, Node: node})
		}
	}
	add(r.NominatedNode(), r.Evictions())
	for _, c := range r.AskedVictims() {
		add(c.Node, c.Victims)
	}
	return out
}

// record makes the record of a result: columns for SQL, the input for a replay,
// and the digest of the whole answer.
func (l *Log) record(c *matter, r *engine.Result, began time.Time) (*store.Decision, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("make an id: %w", err)
	}
	d := &store.Decision{
		ID: id.String(), Cluster: c.view.Cluster, Revision: c.view.Revision, Verb: c.q.Verb,
		CreatedAt: l.now(), Now: c.q.Now,
		Namespace: c.pod.Namespace, Pod: c.pod.Name, PodUID: string(c.pod.UID),
		Profile: c.profile.Name, ProfileDigest: c.profile.Digest,
		Engine: engine.Version, Semantics: engine.Semantics,
		SnapshotDigest: c.view.Digest, PodDigest: digestOf(c.asked),
		Outcome: string(r.Outcome), Message: r.Message(), Priority: *c.pod.Spec.Priority,
		NodesTotal: r.Considered(), NodesFeasible: r.Feasible.Count(), AnswerDigest: r.Digest(),
	}
	if r.Outcome == engine.Scheduled {
		d.Node = r.Node()
	}
	d.Mode, d.StaleMillis = c.q.Mode, l.stale(d.Cluster)
	d.NominatedNode, d.Victims = r.NominatedNode(), victims(r)
	if d.Input, err = c.encodeInput(d.NodesTotal); err != nil {
		return nil, err
	}
	names := r.RejectedNames(maxNamed)
	for i, f := range r.Failures() {
		d.Failures = append(d.Failures, store.Failure{Plugin: f.Plugin, Code: f.Code, Reason: f.Reason, Nodes: f.Nodes, Names: names[i]})
	}
	if r.Scored() {
		for i, v := range r.TopScores(l.o.TopScores) {
			plugins := make(store.PluginScores, len(v.Scores))
			for j, p := range v.Scores {
				plugins[j] = store.PluginScore(p)
			}
			d.Scores = append(d.Scores, store.Score{Rank: i + 1, Node: v.Name, Total: *v.Score, Plugins: plugins})
		}
	}
	d.DurationMicros = time.Since(began).Microseconds()
	return d, nil
}
