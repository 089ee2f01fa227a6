package rest

import (
	"context"
	"encoding/json"
	"net/http"

	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/decision"
	ledger "berth/internal/decision/admit"
	"berth/internal/engine"
	"berth/internal/handlers/exchange"
	"berth/internal/revision"
	"berth/internal/scenario"
	"berth/internal/world"
)

// scenarioRequest is the body of such a question.
type scenarioRequest interface {
	scenario.Question
	wait() *metav1.Duration
	base() *ScenarioBase
}

// ScenarioWait is how long a question about what comes next may keep its call waiting.
type ScenarioWait struct {
	// Wait is for how long the call waits for the answer before it becomes a job, 0s for not at
	// all. If absent, POST /v1/simulations waits 2s, and other calls for as long as it takes.
	Wait *metav1.Duration `json:"wait,omitempty" swaggertype:"string" example:"2s"`
}

// ScenarioBase is what every question about a cluster's next may have.
type ScenarioBase struct {
	ScenarioWait
	// Edits are made to the snapshot before anything else, on a fork in memory.
	Edits *scenario.Edits `json:"edits,omitempty"`
	// Config is a KubeSchedulerConfiguration, as an object or as YAML in a string, instead of the
	// server's.
	Config json.RawMessage `json:"config,omitempty" swaggertype:"object"`
	// Semantics is the release of Kubernetes to decide as, as for decisions; if absent, that of the
	// cluster.
	Semantics string `json:"semantics,omitempty" example:"v1.37"`
	// Profile is the one profile to decide under; if absent, that of each pod's schedulerName.
	Profile string `json:"profile,omitempty"`
}

func (b *ScenarioBase) base() *ScenarioBase { return b }

// scenarioCall is a question about what comes next, and the revision and the time that it is about.
type scenarioCall struct {
	a       *API
	verb    string
	at      asOf
	posted  *posted
	classes ledger.Classes
	watch   *world.Watch
	// semantics is the release of configurations that name none; empty: that of the cluster.
	semantics string
}

// askScenario answers a question, or starts a job that does.
func (a *API) askScenario(w http.ResponseWriter, r *http.Request, verb string) error {
	body, err := a.JSONBody(w, r, a.Limits.ScenarioMaxBytes, "scenario-max-bytes")
	if err != nil {
		return err
	}
	req := scenarioVerbs[verb]()
	c := &scenarioCall{a: a, verb: verb, classes: a.priorityClasses, watch: world.Watching(r.Context())}
	if err := exchange.DecodePart(r, body, req, exchange.ScenarioBounds(&a.Limits)); err != nil {
		return err
	}
	wait, err := a.waitOf(req)
	if err != nil {
		return err
	}
	if c.posted, err = a.posted(r); err != nil {
		return err
	}
	c.posted.replicas = true
	if c.at, err = a.scenarioAt(r, req); err != nil {
		return err
	}
	if revision.IsApart(c.at.view.ID()) {
		if req.wait() != nil {
			return exchange.BadField(http.StatusUnprocessableEntity, "wait", "a question about a state that a scenario comes to is answered in its call, and becomes no job: leave it out")
		}
		wait = nil
	}
	if wait != nil {
		return a.orJob(w, r, c, req, body, *wait)
	}
	out, err := a.counted(r.Context(), c, req)
	if err != nil {
		return err
	}
	c.posted.warn(w)
	return exchange.WriteLong(w, r, out)
}

// scenarioAt returns the revision that a question names and its time, which is the revision's own
// unless it names another, so that the same question has the same answer.
func (a *API) scenarioAt(r *http.Request, req scenarioRequest) (at asOf, err error) {
	if q, ok := req.(*SimulationRequest); ok {
		return q.at(r.Context(), a)
	}
	name, err := exchange.ClusterParam(r)
	if err != nil {
		return at, err
	}
	if at, err = a.asOf(r, name); err == nil && !r.URL.Query().Has("now") {
		at.now = at.view.CreatedAt
	}
	return at, err
}

// answer answers a question on its revision, with its edits and its configuration.
func (c *scenarioCall) answer(ctx context.Context, req scenarioRequest) (any, error) {
	s, err := c.stage(ctx, req)
	if err != nil {
		return nil, err
	}
	return req.Answer(ctx, s)
}

// stage is what a question is answered on.
func (c *scenarioCall) stage(ctx context.Context, req scenarioRequest) (*scenario.Stage, error) {
	base, limits := req.base(), &c.a.Limits
	c.semantics = base.Semantics
	list, err := c.profiles(base)
	if err != nil {
		return nil, err
	}
	s := &scenario.Stage{
		Editor: c.editor(), Options: c.options(list),
		Bounds: scenario.Bounds{Pods: limits.ScenarioMaxPods, Attempts: limits.ScenarioMaxSteps, Profiles: limits.ScenarioProfiles},
	}
	if base.Profile == "" {
		s.Options.Strangers = &world.Strangers{}
	}
	s.Edited, err = s.Editor.Apply(ctx, c.at.view, "edits", base.Edits)
	return s, err
}

// editor makes the edits of a question.
func (c *scenarioCall) editor() *scenario.Editor {
	admission := c.a.forks
	admission.Classes = c.classes
	return &scenario.Editor{
		Admission: admission, Read: c.posted.object, ReadPod: c.posted.decodePod, MaxNodes: c.a.Limits.ScenarioMaxNodes,
		Configure: c.configuration, History: c.history, Warnings: func() []string { return c.posted.warnings },
	}
}

// options are those of the forks on which a question is answered.
func (c *scenarioCall) options(profiles []*engine.Profile) world.Options {
	return world.Options{
		Profiles: profiles, Now: c.at.now, MaxSteps: int64(c.a.Limits.MaxSteps), Watch: c.watch,
		Class: func(class string) *schedulingv1.PriorityClass {
			return c.classes.Class(c.at.view.Cluster, class)
		},
	}
}

// profiles returns the configuration of a question, or the one profile that it names.
func (c *scenarioCall) profiles(base *ScenarioBase) ([]*engine.Profile, error) {
	list, err := c.configuration("config", &scenario.Configuration{Config: base.Config})
	if err != nil || base.Profile == "" {
		return list, err
	}
	p, err := decision.ChooseProfile(list, base.Profile, "")
	return []*engine.Profile{p}, err
}
