package handlers

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"berth/internal/cluster"
	"berth/internal/engine"
	"berth/internal/scenario"
)

// maxConfigurations is how many configurations one scenario compares.
const maxConfigurations = 4

// SimulationRequest is a scenario.
type SimulationRequest struct {
	scenario.Request
	ScenarioWait
} // @name SimulationRequest

// answer runs a scenario.
//
//	@Summary		Run a scenario, under one configuration or several
//	@Description	Pods arrive at a fork of a revision, in memory: each is decided as by kube-scheduler, and each outcome changes the state for the next. What is placed, what waits and why, how full the nodes are over time, and where configurations differ first and why. Time is ordinal. Nothing is recorded, and the cluster stays as it is. The same scenario has the same answer, with the same digest.
//	@Tags			scenarios
//	@Accept			json,application/yaml
//	@Produce		json
//	@Param			body			body		SimulationRequest	true	"the scenario"
//	@Param			fieldValidation	query		string				false	"how to treat unknown fields of objects; Strict if absent"	Enums(Strict,Warn,Ignore)
//	@Success		200				{object}	scenario.Simulation
//	@Success		202				{object}	simulations.Job	"it goes on as a job, at Location"
//	@Failure		400,404,409,413,415,422,429,500,503	{object}	Problem
//	@Router			/v1/simulations [post]
func (q *SimulationRequest) answer(ctx context.Context, c *scenarioCall) (any, error) {
	bounds := scenario.Bounds{Pods: c.a.limits.ScenarioMaxPods, Attempts: c.a.limits.ScenarioMaxSteps, Profiles: maxConfigurations}
	if err := q.Check(bounds); err != nil {
		return nil, err
	}
	configs, err := c.a.configurations(q.Profiles)
	if err != nil {
		return nil, err
	}
	s, err := c.edit(ctx, c.a.configured, q.Edits)
	if err != nil {
		return nil, err
	}
	out, err := scenario.Simulate(ctx, s.edited, s.editor, s.options, &q.Request, configs, bounds)
	if err != nil {
		return nil, err
	}
	out.Warnings = c.posted.warnings
	return out, nil
}

// at returns the revision that a scenario begins at, and its time.
func (q *SimulationRequest) at(ctx context.Context, a *API) (at asOf, err error) {
	if h := q.Arrivals.History; q.Base == "" && h != nil {
		if err := h.Check(); err != nil {
			return at, err
		}
		h.Cluster = cmp.Or(h.Cluster, defaultCluster)
		first, err := a.decisions.Started(ctx, h.Cluster, h.Since, h.Until)
		if err != nil {
			return at, err
		}
		q.Base = cluster.FormatID(h.Cluster, first)
	}
	if q.Base == "" {
		q.Base = cluster.FormatID(defaultCluster, 0)
	}
	name, revision, err := cluster.ParseID(q.Base)
	if err != nil {
		return at, badField(http.StatusBadRequest, "base", reason(err))
	}
	if at.view, err = a.view(ctx, name, revision); err != nil {
		return at, err
	}
	if at.now = at.view.CreatedAt; q.Now != nil {
		at.now = *q.Now
	}
	return at, nil
}

// history reads recorded decisions as arrivals.
func (c *scenarioCall) history(ctx context.Context, h *scenario.History, most int, progress func(done int)) (out []scenario.Arrival, err error) {
	name := cmp.Or(h.Cluster, c.at.view.Cluster)
	list, more, err := c.a.decisions.History(ctx, name, h.Since, h.Until, most, progress)
	if more {
		return nil, badField(http.StatusUnprocessableEntity, "arrivals.history", fmt.Sprintf("more than %d pods were asked about in this time: want a shorter one", most))
	}
	for _, x := range list {
		out = append(out, scenario.Arrival{Pod: x.Pod, At: x.At.Sub(list[0].At)})
	}
	return out, err
}

// configurations reads the configurations of a scenario by name.
func (a *API) configurations(list []scenario.Configuration) (map[string][]*engine.Profile, error) {
	out := map[string][]*engine.Profile{}
	for i, c := range list {
		profiles, err := a.configuration(fmt.Sprintf("profiles[%d].config", i), c.Config)
		if err != nil {
			return nil, err
		}
		out[c.Name] = profiles
	}
	return out, nil
}

// configuration reads a configuration at a place of the body; the server's own without one.
func (a *API) configuration(field string, raw json.RawMessage) ([]*engine.Profile, error) {
	list, err := a.parseConfig(raw)
	var bad *Error
	if errors.As(err, &bad) && len(bad.Fields) == 1 {
		return nil, badField(bad.Status, field, bad.Fields[0].Message)
	}
	if list == nil {
		list = a.configured
	}
	return list, err
}
