package handlers

import (
	"context"

	"berth/internal/scenario"
)

// PoolsRequest asks how many nodes of which pools pods need.
type PoolsRequest struct {
	scenario.PoolsAsk
	ScenarioBase
} // @name PoolsRequest

// answer counts the nodes that pods need.
//
//	@Summary		How many nodes of which pools pods need to fit
//	@Description	Each count is tried by a run: nodes are added to a fork in memory, their daemon pods placed, and all pods arrive in the order of the queue. Of each pool it finds the smallest count with which all pods fit, and over all pools the cheapest choice that a greedy search finds, beside a lower bound. No pod is evicted for another one, nothing is recorded, and the cluster stays as it is.
//	@Tags			scenarios
//	@Accept			json,application/yaml
//	@Produce		json
//	@Param			cluster			path		string			true	"the cluster"
//	@Param			body			body		PoolsRequest	true	"the pods and the pools"
//	@Param			snapshot		query		string			false	"a revision of the cluster, such as prod@3; the newest if absent"
//	@Param			now				query		string			false	"the time that decisions are made at (RFC 3339); when the revision was made, if absent"
//	@Param			fieldValidation	query		string			false	"how to treat unknown fields of objects; Strict if absent"	Enums(Strict,Warn,Ignore)
//	@Success		200				{object}	scenario.Pools
//	@Success		202				{object}	simulations.Job	"it goes on as a job, at Location"
//	@Failure		400,404,409,413,415,422,429,500,503	{object}	Problem
//	@Router			/v1/clusters/{cluster}/pools [post]
func (req *PoolsRequest) answer(ctx context.Context, c *scenarioCall) (any, error) {
	s, v, err := c.settled(ctx, &req.ScenarioBase)
	if err != nil {
		return nil, err
	}
	out, err := s.editor.AskPools(ctx, v, s.options, &req.PoolsAsk, c.a.limits.ScenarioMaxPods)
	if err != nil {
		return nil, err
	}
	out.Warnings = c.posted.warnings
	return out, nil
}
