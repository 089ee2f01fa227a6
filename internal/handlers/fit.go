package handlers

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"berth/internal/scenario"
)

// fitMax is how many replicas a fit counts unless more or fewer are asked for.
const fitMax = 10_000

// FitRequest asks how many more replicas of a pod fit.
type FitRequest struct {
	// Pod is the v1.Pod to count, or a workload (Deployment, StatefulSet, Job and so on) whose pod
	// is counted.
	Pod json.RawMessage `json:"pod" swaggertype:"object"`
	// Max ends the count; 10000 if absent.
	Max *int `json:"max,omitempty" example:"10000"`
	// By counts the values of a node label apart: zone, region, node, pool, or the label itself.
	By string `json:"by,omitempty" example:"zone"`
	// Sensitivity false leaves out the counts with one more node and with smaller requests.
	Sensitivity *bool `json:"sensitivity,omitempty" default:"true"`
	// Placements true lists the node of each replica.
	Placements bool `json:"placements,omitempty"`
	ScenarioBase
} // @name FitRequest

// answer counts replicas.
//
//	@Summary		How many more replicas of a pod fit, and what runs out first
//	@Description	Replicas are decided and bound one after the other on a fork in memory, until one gets no node. No pod is evicted for one, and no room is kept for pods that wait. Nothing is recorded, and the cluster stays as it is. The same question about the same revision has the same answer.
//	@Tags			scenarios
//	@Accept			json,application/yaml
//	@Produce		json
//	@Param			cluster			path		string		true	"the cluster"
//	@Param			body			body		FitRequest	true	"the pod"
//	@Param			snapshot		query		string		false	"a revision of the cluster, such as prod@3; the newest if absent"
//	@Param			now				query		string		false	"the time that decisions are made at (RFC 3339); when the revision was made, if absent"
//	@Param			fieldValidation	query		string		false	"how to treat unknown fields of objects; Strict if absent"	Enums(Strict,Warn,Ignore)
//	@Success		200				{object}	scenario.Fit
//	@Success		202				{object}	simulations.Job	"it goes on as a job, at Location"
//	@Failure		400,404,409,413,415,422,429,500,503	{object}	Problem
//	@Router			/v1/clusters/{cluster}/fit [post]
func (req *FitRequest) answer(ctx context.Context, c *scenarioCall) (any, error) {
	most := c.a.limits.ScenarioMaxPods
	q := scenario.FitQuestion{Max: min(fitMax, most), By: req.By, Placements: req.Placements, Sensitivity: req.Sensitivity == nil || *req.Sensitivity}
	if req.Max != nil {
		q.Max = *req.Max
	}
	if q.Max < 1 || q.Max > most {
		return nil, badField(http.StatusUnprocessableEntity, "max", fmt.Sprintf("want a number from 1 to %d", most))
	}
	if isNull(req.Pod) {
		return nil, badField(http.StatusBadRequest, "pod", "want a pod, or a workload with a pod template")
	}
	s, err := c.stage(ctx, &req.ScenarioBase)
	if err != nil {
		return nil, err
	}
	if q.Pod, err = s.editor.Pod(s.view, "pod", req.Pod); err != nil {
		return nil, err
	}
	v, err := s.edited.WithDaemons(ctx, s.options)
	if err != nil {
		return nil, err
	}
	out, err := scenario.CountFit(ctx, v, s.options, q)
	if err != nil {
		return nil, err
	}
	out.Warnings = c.posted.warnings
	return out, nil
}
