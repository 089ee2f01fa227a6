package handlers

import (
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

// simulate runs a scenario.
//
//	@Summary		Run a scenario, under one configuration or several
//	@Description	Pods arrive at a fork of a revision, in memory: each is decided as by kube-scheduler, and each outcome changes the state for the next. What is placed, what waits and why, how full the nodes are over time, and where configurations differ first and why. Time is ordinal. Nothing is recorded, and the cluster stays as it is. The same scenario has the same answer, with the same digest.
//	@Tags			scenarios
//	@Accept			json,application/yaml
//	@Produce		json
//	@Param			body			body		scenario.Request	true	"the scenario"
//	@Param			fieldValidation	query		string				false	"how to treat unknown fields of objects; Strict if absent"	Enums(Strict,Warn,Ignore)
//	@Success		200				{object}	scenario.Simulation
//	@Failure		400,404,409,413,415,422,429,500,503	{object}	Problem
//	@Router			/v1/simulations [post]
func (a *API) simulate(w http.ResponseWriter, r *http.Request) error {
	return a.withBody(w, r, a.limits.ScenarioMaxBytes, "scenario-max-bytes", func(body []byte) error {
		var req scenario.Request
		if err := decodeStrict(body, &req, a.scenarioBounds()); err != nil {
			return err
		}
		bounds := scenario.Bounds{Pods: a.limits.ScenarioMaxPods, Attempts: a.limits.ScenarioMaxSteps, Profiles: maxConfigurations}
		if err := req.Check(bounds); err != nil {
			return err
		}
		at, err := a.scenarioAt(r, &req)
		if err != nil {
			return err
		}
		configs, err := a.configurations(req.Profiles)
		if err != nil {
			return err
		}
		s, err := a.stageOn(r, at, a.configured, req.Edits)
		if err != nil {
			return err
		}
		out, err := scenario.Simulate(r.Context(), s.edited, s.editor, s.options, &req, configs, bounds)
		if err != nil {
			return err
		}
		out.Warnings = s.posted.warn(w)
		return writeJSON(w, http.StatusOK, out)
	})
}

// scenarioAt returns the revision that a scenario begins at, and its time.
func (a *API) scenarioAt(r *http.Request, req *scenario.Request) (at asOf, err error) {
	if req.Base == "" {
		req.Base = cluster.FormatID(defaultCluster, 0)
	}
	name, revision, err := cluster.ParseID(req.Base)
	if err != nil {
		return at, badField(http.StatusBadRequest, "base", reason(err))
	}
	if at.view, err = a.view(r.Context(), name, revision); err != nil {
		return at, err
	}
	if at.now = at.view.CreatedAt; req.Now != nil {
		at.now = *req.Now
	}
	return at, nil
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
