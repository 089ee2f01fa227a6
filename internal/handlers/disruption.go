package handlers

import (
	"context"

	"berth/internal/scenario"
)

// DrainRequest asks what a drain of nodes does.
type DrainRequest struct {
	scenario.DrainQuestion
	ScenarioBase
} // @name DrainRequest

// answer runs a drain on a fork.
//
//	@Summary		What draining nodes does, or which nodes can be emptied
//	@Description	Nodes are cordoned and drained one after the other as by kubectl drain: pods leave in waves as their budgets let them, their controllers create others, and each of those is decided on the state as it is then. With find, as many nodes as can be emptied are looked for, each proven by running it. Seconds are by grace periods and start times. Nothing is recorded, and the cluster stays as it is.
//	@Tags			scenarios
//	@Accept			json,application/yaml
//	@Produce		json
//	@Param			cluster			path		string			true	"the cluster"
//	@Param			body			body		DrainRequest	true	"the nodes"
//	@Param			snapshot		query		string			false	"a revision of the cluster, such as prod@3; the newest if absent"
//	@Param			now				query		string			false	"the time that decisions are made at (RFC 3339); when the revision was made, if absent"
//	@Param			fieldValidation	query		string			false	"how to treat unknown fields of objects; Strict if absent"	Enums(Strict,Warn,Ignore)
//	@Success		200				{object}	scenario.Drain
//	@Success		202				{object}	simulations.Job	"it goes on as a job, at Location"
//	@Failure		400,404,409,413,415,422,429,500,503	{object}	Problem
//	@Router			/v1/clusters/{cluster}/drains [post]
func (req *DrainRequest) answer(ctx context.Context, c *scenarioCall) (any, error) {
	s, v, err := c.settled(ctx, &req.ScenarioBase)
	if err != nil {
		return nil, err
	}
	out, err := req.Drain(ctx, v, s.options)
	if err != nil {
		return nil, err
	}
	out.Warnings = append(out.Warnings, c.posted.warnings...)
	return out, nil
}

// LossRequest asks what happens when nodes die.
type LossRequest struct {
	scenario.LossQuestion
	ScenarioBase
} // @name LossRequest

// answer lets nodes of a fork die.
//
//	@Summary		What happens, and when, if nodes or a zone die
//	@Description	The node lifecycle controller counts the nodes as lost, taints them by zone at its rates, and their pods are deleted when their tolerations end; no kubelet ends those pods, so they stay Terminating until the Node object goes. Replacements are decided on the state as it is then. Nothing is recorded, and the cluster stays as it is.
//	@Tags			scenarios
//	@Accept			json,application/yaml
//	@Produce		json
//	@Param			cluster			path		string		true	"the cluster"
//	@Param			body			body		LossRequest	true	"the nodes"
//	@Param			snapshot		query		string		false	"a revision of the cluster, such as prod@3; the newest if absent"
//	@Param			now				query		string		false	"the time that decisions are made at (RFC 3339); when the revision was made, if absent"
//	@Param			fieldValidation	query		string		false	"how to treat unknown fields of objects; Strict if absent"	Enums(Strict,Warn,Ignore)
//	@Success		200				{object}	scenario.Loss
//	@Success		202				{object}	simulations.Job	"it goes on as a job, at Location"
//	@Failure		400,404,409,413,415,422,429,500,503	{object}	Problem
//	@Router			/v1/clusters/{cluster}/losses [post]
func (req *LossRequest) answer(ctx context.Context, c *scenarioCall) (any, error) {
	s, v, err := c.settled(ctx, &req.ScenarioBase)
	if err != nil {
		return nil, err
	}
	out, err := req.Lose(ctx, v, s.options)
	if err != nil {
		return nil, err
	}
	out.Warnings = append(out.Warnings, c.posted.warnings...)
	return out, nil
}
