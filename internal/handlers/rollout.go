package handlers

import (
	"context"

	"berth/internal/scenario"
)

// RolloutRequest asks how a Deployment's update goes.
type RolloutRequest struct {
	scenario.RolloutAsk
	ScenarioBase
} // @name RolloutRequest

// answer runs a Deployment's update.
//
//	@Summary		How a Deployment's update goes: its steps, who waits for a node and why, how long it takes
//	@Description	The Deployment's pods of the snapshot are replaced by pods of the new template on a fork in memory, in virtual seconds, as the controllers of Deployments and ReplicaSets do it (RollingUpdate or Recreate) and the scheduler places them. Pods that wait in the snapshot take part. Nothing is recorded, and the cluster stays as it is.
//	@Tags			scenarios
//	@Accept			json,application/yaml
//	@Produce		json
//	@Param			cluster			path		string			true	"the cluster"
//	@Param			body			body		RolloutRequest	true	"the Deployment with its new template"
//	@Param			snapshot		query		string			false	"a revision of the cluster, such as prod@3; the newest if absent"
//	@Param			now				query		string			false	"the time that it begins at (RFC 3339); when the revision was made, if absent"
//	@Param			fieldValidation	query		string			false	"how to treat unknown fields of objects; Strict if absent"	Enums(Strict,Warn,Ignore)
//	@Success		200				{object}	scenario.Rollout
//	@Success		202				{object}	simulations.Job	"it goes on as a job, at Location"
//	@Failure		400,404,409,413,415,422,429,500,503	{object}	Problem
//	@Router			/v1/clusters/{cluster}/rollouts [post]
func (req *RolloutRequest) answer(ctx context.Context, c *scenarioCall) (any, error) {
	s, v, err := c.settled(ctx, &req.ScenarioBase)
	if err != nil {
		return nil, err
	}
	out, err := s.editor.AskRollout(ctx, v, s.options, &req.RolloutAsk, c.a.limits.ScenarioMaxPods)
	if err != nil {
		return nil, err
	}
	out.Warnings = c.posted.warnings
	return out, nil
}
