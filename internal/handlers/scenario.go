package handlers

import (
	"encoding/json"
	"net/http"

	"github.com/go-chi/chi/v5"
	schedulingv1 "k8s.io/api/scheduling/v1"

	"berth/internal/cluster"
	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/scenario"
)

// scenarioRoutes are the questions about what comes next.
func (a *API) scenarioRoutes(r chi.Router) {
	r.Post("/v1/simulations", a.admitted(a.scenarioCalls, only(a.simulate, fieldValidation)))
	r.Get("/v1/clusters/{cluster}/capacity", a.admitted(a.decisionCalls, only(a.getCapacity, "pool", "snapshot")))
	r.Post("/v1/clusters/{cluster}/fit", a.admitted(a.scenarioCalls, only(a.countFit, "snapshot", "now", fieldValidation)))
	r.Post("/v1/clusters/{cluster}/rollouts", a.admitted(a.scenarioCalls, only(a.rollOut, "snapshot", "now", fieldValidation)))
	r.Post("/v1/clusters/{cluster}/pools", a.admitted(a.scenarioCalls, only(a.countPools, "snapshot", "now", fieldValidation)))
	r.Post("/v1/clusters/{cluster}/drains", a.admitted(a.scenarioCalls, only(a.drainNodes, "snapshot", "now", fieldValidation)))
	r.Post("/v1/clusters/{cluster}/losses", a.admitted(a.scenarioCalls, only(a.loseNodes, "snapshot", "now", fieldValidation)))
}

// scenarioBounds are those of a question about what comes next.
func (a *API) scenarioBounds() jsonBounds {
	return jsonBounds{a.limits.MaxDepth, a.limits.ScenarioMaxTokens, "max-json-depth", "scenario-max-tokens"}
}

// ScenarioBase is what every question about what comes next may have.
type ScenarioBase struct {
	// Edits are made to the snapshot before anything else, on a fork in memory.
	Edits *scenario.Edits `json:"edits,omitempty"`
	// Config is a KubeSchedulerConfiguration, as an object or as YAML in a string, instead of the
	// server's.
	Config json.RawMessage `json:"config,omitempty" swaggertype:"object"`
	// Profile is the one profile to decide under; if absent, that of each pod's schedulerName.
	Profile string `json:"profile,omitempty"`
}

// stage is what a question about what comes next is answered on.
type stage struct {
	view    *cluster.View // with the edits
	edited  *scenario.Edited
	editor  *scenario.Editor
	options scenario.Options
	posted  *posted
}

// stage makes the edits of a question to the revision that it names. Its time is the revision's own
// unless it names another, so that the same question has the same answer.
func (a *API) stage(r *http.Request, base *ScenarioBase) (*stage, error) {
	name, err := pathParam(r, "cluster")
	if err != nil {
		return nil, err
	}
	if err := cluster.CheckName(name); err != nil {
		return nil, badField(http.StatusBadRequest, "cluster", reason(err))
	}
	at, err := a.asOf(r, name)
	if err != nil {
		return nil, err
	}
	if !r.URL.Query().Has("now") {
		at.now = at.view.CreatedAt
	}
	list, err := a.scenarioProfiles(base.Config, base.Profile)
	if err != nil {
		return nil, err
	}
	return a.stageOn(r, at, list, base.Edits)
}

// stageOn makes edits to a revision.
func (a *API) stageOn(r *http.Request, at asOf, list []*engine.Profile, edits *scenario.Edits) (*stage, error) {
	s := &stage{options: scenario.Options{
		Profiles: list, Now: at.now, MaxSteps: int64(a.limits.MaxSteps),
		Class: func(class string) *schedulingv1.PriorityClass { return a.priorityClasses.Class(at.view.Cluster, class) },
	}}
	var err error
	if s.posted, err = a.posted(r); err != nil {
		return nil, err
	}
	s.editor = &scenario.Editor{Admission: a.admission, Read: s.posted.object, ReadPod: s.posted.decodePod, MaxNodes: a.limits.ScenarioMaxNodes}
	if s.edited, err = s.editor.Apply(r.Context(), at.view, "edits", edits); err != nil {
		return nil, err
	}
	s.view = s.edited.View
	return s, nil
}

// settledStage is stage with the daemon pods of new nodes placed.
func (a *API) settledStage(r *http.Request, base *ScenarioBase) (*stage, *cluster.View, error) {
	s, err := a.stage(r, base)
	if err != nil {
		return nil, nil, err
	}
	v, err := s.edited.WithDaemons(r.Context(), s.options)
	return s, v, err
}

// scenarioProfiles returns the configuration of a question, or the one profile that it names.
func (a *API) scenarioProfiles(config json.RawMessage, name string) ([]*engine.Profile, error) {
	list, err := a.parseConfig(config)
	if err != nil {
		return nil, err
	}
	if list == nil {
		list = a.configured
	}
	if name == "" {
		return list, nil
	}
	p, err := decision.ChooseProfile(list, name, "")
	return []*engine.Profile{p}, err
}

// onStage reads a question into req, of which base is a part, and writes the answer to it on the
// view once the daemon pods of new nodes had their turn.
func (a *API) onStage(w http.ResponseWriter, r *http.Request, req any, base *ScenarioBase, answer func(*stage, *cluster.View) (any, error)) error {
	return a.withBody(w, r, a.limits.ScenarioMaxBytes, "scenario-max-bytes", func(body []byte) error {
		if err := decodeStrict(body, req, a.scenarioBounds()); err != nil {
			return err
		}
		s, v, err := a.settledStage(r, base)
		if err != nil {
			return err
		}
		out, err := answer(s, v)
		if err != nil {
			return err
		}
		return writeJSON(w, http.StatusOK, out)
	})
}
