package scenario

import (
	"encoding/json"
	"fmt"

	"berth/internal/decision"
)

// RollOutOf is a Deployment with another template.
type RollOutOf struct {
	// Deployment is the apps/v1 Deployment. Its pods take as long to start as its old ones did.
	Deployment json.RawMessage `json:"deployment" swaggertype:"object"`
} // @name SimulationRollOut

// RolledOut is how the update of a Deployment went in a scenario with a clock. Its pods are among
// those that left and the others that came.
type RolledOut struct {
	Deployment decision.PodRef `json:"deployment"`
	// BeganAfterSeconds is when the update came, CompleteAfterSeconds when it was complete; absent:
	// it is not, at the end.
	BeganAfterSeconds    int64  `json:"beganAfterSeconds"`
	CompleteAfterSeconds *int64 `json:"completeAfterSeconds,omitempty"`
	// DeadlineExceededAfterSeconds, LeastAvailable and MostPods are as in Rollout.
	DeadlineExceededAfterSeconds *int64 `json:"deadlineExceededAfterSeconds,omitempty"`
	LeastAvailable               int    `json:"leastAvailable"`
	MostPods                     int    `json:"mostPods"`
	// Assumed is what the snapshot does not show.
	Assumed []string `json:"assumed"`
} // @name SimulationRolledOut

// rollOut reads an event in which a Deployment is updated.
func (x *scheduling) rollOut(field string, of *RollOutOf) (func() error, error) {
	r := &rollout{}
	if len(of.Deployment) == 0 {
		return nil, decision.Errorf(decision.Malformed, field, "want a Deployment of apps/v1")
	}
	if err := r.accept(x.s, x.scratch.View, field, of.Deployment); err != nil {
		return nil, err
	}
	return func() error {
		r.d = x.d
		if err := r.read(x.ctx, x.s.View); err != nil {
			return fmt.Errorf("%s: %w", field, err)
		}
		r.Listed = true
		x.rollouts = append(x.rollouts, r)
		return x.d.RollOut(r.Deployment)
	}, nil
}

// rolledOut sums up an update.
func (r *rollout) rolledOut() RolledOut {
	return RolledOut{
		decision.PodRef{Namespace: r.Namespace, Name: r.Name}, r.Began, r.Done, r.DeadlineExceeded, r.LeastAvailable, r.MostPods, r.assumed,
	}
}
