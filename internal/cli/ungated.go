package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"berth/internal/engine"
	"berth/internal/handlers"
	"berth/internal/report"
)

// ungate decides where a gated pod would go without its gates, so that its owner need not remove
// them in vain.
func (v *verdict) ungate(ctx context.Context, from *source, pod target) error {
	if v.got.Outcome != engine.Gated {
		return nil
	}
	after, err := from.decide(ctx, question{pod: pod, explain: engine.ExplainGroups, suggest: true, ungated: true})
	if err != nil {
		return err
	}
	v.after = &report.Verdict{Outcome: after.Outcome, Node: after.Node, NominatedNode: after.NominatedNode, Groups: after.Groups}
	if len(v.got.Suggestions) == 0 {
		v.got.Suggestions = after.Suggestions
	}
	return nil
}

// afterwards returns what comes after the gates.
func (v *verdict) afterwards() string {
	if v.after == nil {
		return ""
	}
	switch v.after.Outcome {
	case engine.Scheduled:
		return "Without gates it goes to " + v.after.Node + "."
	case engine.Preempting:
		return "Without gates no node is free, and others would have to leave " + v.after.NominatedNode + "."
	case engine.UnschedulableOK:
		return "Without gates no node fits either; what is below is for then."
	}
	return ""
}

// nothingToTry reports that changes were looked for, where that was so. Not all that
// there are: their number is bounded, and of nodes the first is changed.
func (v *verdict) nothingToTry() {
	if v.got.Outcome != engine.UnschedulableOK || v.node != "" || v.told != nil && !waits(v.told.State) || v.got.Counts.Nodes == 0 {
		return
	}
	v.gap()
	v.labelled("TRY", "none of the changes that were tried, one by one and in pairs, makes it fit.")
}

// ungated asks about a pod without its scheduling gates.
func (s *source) ungated(ctx context.Context, t target, body *handlers.DecisionRequest) error {
	if body.Pod == nil {
		o, err := s.object(ctx, "Pod", t.namespace, t.name)
		if err != nil || o == nil {
			return err
		}
		body.Pod = o.raw
	}
	var pod, spec map[string]json.RawMessage
	if err := json.Unmarshal(body.Pod, &pod); err != nil {
		return fmt.Errorf("read the pod: %w", err)
	}
	err := json.Unmarshal(pod["spec"], &spec)
	if err != nil {
		return fmt.Errorf("read the pod's spec: %w", err)
	}
	delete(spec, "schedulingGates")
	if pod["spec"], err = json.Marshal(spec); err == nil {
		body.Pod, err = json.Marshal(pod)
	}
	return err
}
