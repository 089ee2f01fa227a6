package record

import (
	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/engine/explain"
)

// shown returns the columns of an answer that was worked out again, as its record would have them:
// SQL and lists show those, and the digest is not of them.
func (r *replayed) shown(rec *record) *decision.Answer {
	ans := &decision.Answer{}
	if r.Outcome == nil {
		ans.Decision = *r.fixed
	} else {
		res := r.Result
		ans.Decision = engine.Decision{
			Outcome: res.Outcome, NominatedNode: res.NominatedNode(), Message: explain.Message(res), Priority: *r.Pod.Spec.Priority,
			Counts: engine.Counts{Nodes: res.Considered(), Feasible: res.Feasible.Count()}, Failures: explain.Failures(res), Digest: r.digest,
		}
		if res.Outcome == engine.Scheduled {
			ans.Node = res.Node()
		}
	}
	Stamp(ans, rec.Decision, false)
	if r.Outcome != nil {
		ans.Pod = decision.PodRef{Namespace: r.Pod.Namespace, Name: r.Pod.Name, UID: string(r.Pod.UID)}
		ans.Profile = r.Profile.Name
	}
	return ans
}

// showsAnother reports whether the columns that tell where a pod went are not those of the answer.
func (r *replayed) showsAnother(rec *record) bool {
	if r.Outcome == nil {
		return rec.Outcome != string(r.fixed.Outcome) || rec.Node != r.fixed.Node
	}
	node := ""
	if r.Result.Outcome == engine.Scheduled {
		node = r.Result.Node()
	}
	return rec.Outcome != string(r.Result.Outcome) || rec.Node != node || rec.NominatedNode != r.Result.NominatedNode() ||
		rec.Namespace != r.Pod.Namespace || rec.Decision.Pod != r.Pod.Name || rec.PodUID != string(r.Pod.UID)
}
