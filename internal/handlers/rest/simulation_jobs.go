package rest

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"time"

	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine"
	"berth/internal/handlers/exchange"
	"berth/internal/jobs/simulations"
	"berth/internal/kube/object"
	"berth/internal/kube/object/stored"
	"berth/internal/memory"
	"berth/internal/semantics"
	"berth/internal/span"
	"berth/internal/steps"
	"berth/internal/store"
	"berth/internal/world"
)

// simulationWait is how long POST /v1/simulations waits unless told.
const simulationWait = 2 * time.Second

func (q *ScenarioWait) wait() *metav1.Duration { return q.Wait }

// waitOf returns for how long a call waits until its question becomes a job; nil for no job.
func (a *API) waitOf(req scenarioRequest) (*time.Duration, error) {
	wait := req.wait()
	if _, ok := req.(*SimulationRequest); ok && wait == nil {
		wait = &metav1.Duration{Duration: min(simulationWait, a.Limits.ScenarioDeadline)}
	}
	switch most := a.Limits.ScenarioDeadline; {
	case wait == nil:
		return nil, nil
	case wait.Duration < 0 || wait.Duration > most:
		return nil, exchange.BadField(http.StatusUnprocessableEntity, "wait", fmt.Sprintf("want a duration from 0s to %s (scenario-deadline)", most))
	}
	return &wait.Duration, nil
}

// jobQuestion is a question as its job keeps it: with all that its answer depends on beside the
// revision.
type jobQuestion struct {
	// Server is the version and the configuration of the server that was asked.
	Server  string
	Now     time.Time
	Fields  string
	Classes fixedClasses
	Body    json.RawMessage
}

// server names what the answers of this server about a cluster depend on.
func (a *API) server(cluster string) string {
	text := fmt.Sprint(engine.Version, " ", semantics.Known(), " ", a.forks.TolerationSeconds)
	for _, p := range a.configured.Of(cluster) {
		text += " " + p.Digest
	}
	return text
}

// fixedClasses are a cluster's priority classes, those that are built in excepted.
type fixedClasses []schedulingv1.PriorityClass

// Class implements admit.Classes.
func (f fixedClasses) Class(_, name string) *schedulingv1.PriorityClass {
	i := slices.IndexFunc(f, func(c schedulingv1.PriorityClass) bool { return c.Name == name || name == "" && c.GlobalDefault })
	if i < 0 {
		return nil
	}
	return &f[i]
}

// classesOf reads what decisions need of a cluster's classes, so that a job has the same
// throughout.
func (a *API) classesOf(ctx context.Context, cluster string) (fixedClasses, error) {
	list, err := a.priorityClasses.List(ctx, cluster)
	if err != nil {
		return nil, err
	}
	var out fixedClasses
	for i := range list.Items {
		if c := &list.Items[i]; stored.SystemClass(c.Name) == nil {
			out = append(out, schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: c.Name}, Value: c.Value, GlobalDefault: c.GlobalDefault, PreemptionPolicy: c.PreemptionPolicy})
		}
	}
	return out, nil
}

// counted answers a question, and counts it.
func (a *API) counted(ctx context.Context, c *scenarioCall, req scenarioRequest) (any, error) {
	done := a.Metrics.Simulating(ctx)
	out, err := span.In(ctx, span.Evaluate, func(ctx context.Context) (any, error) { return c.answer(ctx, req) })
	switch {
	case err == nil:
		done("done")
	case ctx.Err() != nil:
		done("interrupted")
	default:
		done("failed")
	}
	return out, err
}

// orJob answers a question within a time, or starts a job that goes on with what is finished.
func (a *API) orJob(w http.ResponseWriter, r *http.Request, c *scenarioCall, req scenarioRequest, body []byte, wait time.Duration) error {
	classes, err := a.classesOf(r.Context(), c.at.view.Cluster)
	if err != nil {
		return err
	}
	c.classes = classes
	parts := map[string][]byte{}
	if c.watch == nil {
		c.watch = &world.Watch{Save: func(part string, v any) (err error) {
			parts[part], err = json.Marshal(v)
			return err
		}}
	}
	until := time.Now().Add(wait)
	if last, ok := r.Context().Deadline(); ok && until.After(last.Add(-time.Second)) {
		until = last.Add(-time.Second) // which storing a job takes at most
	}
	ctx, cancel := a.WithDeadline(r.Context(), until)
	defer cancel()
	if ctx.Err() == nil {
		out, err := a.counted(ctx, c, req)
		if err == nil {
			c.posted.warn(w)
			return exchange.WriteJSON(w, http.StatusOK, out)
		}
		if ctx.Err() == nil || r.Context().Err() != nil {
			return err
		}
	}
	kept, err := json.Marshal(&jobQuestion{a.server(c.at.view.Cluster), c.at.now, c.posted.mode, classes, body})
	if err != nil {
		return fmt.Errorf("encode a question: %w", err)
	}
	job, err := a.simulations.Start(r.Context(), &simulations.Question{
		Cluster: c.at.view.Cluster, Revision: c.at.view.Revision, Kind: c.verb, AskedBy: exchange.CallerOf(r).String(), Body: kept, Parts: parts,
	})
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/v1/simulations/"+job.ID)
	return exchange.WriteJSON(w, http.StatusAccepted, job)
}

// RunSimulation answers the question of a job; simulations.Runner.
func (a *API) RunSimulation(ctx context.Context, job *store.Job, question []byte, watch *world.Watch) (result []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			a.Log.LogAttrs(ctx, slog.LevelError, "panic", slog.Any("panic", p), slog.String("job", job.ID), slog.String("stack", string(debug.Stack())))
			err = exchange.Internal(nil)
		}
		if e := exchange.Translate(err); err != nil && ctx.Err() == nil && (e.Status < http.StatusInternalServerError || e.Kind == "internal") {
			err = &simulations.FailedError{Reason: exchange.Clipped(e.Detail, exchange.MaxDetail)}
		}
	}()
	ctx = exchange.AsServer(ctx) // the caller was checked when the job was stored
	c, req, err := a.recall(ctx, jobOf{job.ID, job.Cluster, job.Verb, job.Revision}, question)
	if err != nil {
		return nil, err
	}
	c.watch = watch
	out, err := a.counted(ctx, c, req)
	if err != nil {
		return nil, err
	}
	return json.Marshal(out)
}

// jobOf is what a job is about.
type jobOf struct {
	id, cluster, verb string
	revision          int64
}

// recall makes the call of a job anew, with its question.
func (a *API) recall(ctx context.Context, job jobOf, question []byte) (*scenarioCall, scenarioRequest, error) {
	var q jobQuestion
	if err := json.Unmarshal(question, &q); err != nil {
		return nil, nil, fmt.Errorf("read the question of job %s: %w", job.id, err)
	}
	if q.Server != a.server(job.cluster) {
		return nil, nil, exchange.BadRequest("the server has another version or configuration than the one that was asked: ask again")
	}
	if err := memory.Take(ctx, object.Weight(q.Body)); err != nil {
		return nil, nil, err
	}
	ask := scenarioVerbs[job.verb]
	if ask == nil {
		return nil, nil, exchange.BadRequest(fmt.Sprintf("this server does not know questions of kind %q", job.verb))
	}
	req := ask()
	if err := exchange.DecodeStrict(q.Body, req, exchange.ScenarioBounds(&a.Limits)); err != nil {
		return nil, nil, err
	}
	view, err := a.view(ctx, job.cluster, job.revision)
	if err != nil {
		return nil, nil, err
	}
	return &scenarioCall{
		a: a, verb: job.verb, at: asOf{view: view, now: q.Now}, classes: q.Classes,
		posted: &posted{mode: q.Fields, limits: a.Limits.Objects(), steps: steps.Of(ctx), replicas: true},
	}, req, nil
}

// SimulationList is a page of jobs, newest first, without their answers.
type SimulationList struct {
	Items []*simulations.Job `json:"items"`
	// Cursor continues the list; absent on its last page.
	Cursor string `json:"cursor,omitempty"`
} // @name SimulationList

// listSimulations lists jobs.
//
//	@Summary	List jobs of questions about what comes next, newest first
//	@Tags		scenarios
//	@Produce	json
//	@Param		cluster	query		string	false	"of this cluster"
//	@Param		limit	query		int		false	"items in the page, 100 if absent"
//	@Param		cursor	query		string	false	"cursor of the page before"
//	@Success	200		{object}	SimulationList
//	@Failure	400,401,403,404,429,500,503	{object}	exchange.Problem
//	@Router		/v1/simulations [get]
func (a *API) listSimulations(w http.ResponseWriter, r *http.Request) error {
	items, cursor, err := jobPage(a, r, a.simulations.List, func(j *simulations.Job) string { return j.ID })
	if err != nil {
		return err
	}
	return exchange.WriteJSON(w, http.StatusOK, SimulationList{items, cursor})
}

// getSimulation returns a job.
//
//	@Summary	A job: how far it is, and its answer once it is done
//	@Tags		scenarios
//	@Produce	json
//	@Param		id	path		string	true	"the job"
//	@Success	200	{object}	simulations.Job
//	@Failure	400,401,403,404,429,500,503	{object}	exchange.Problem
//	@Router		/v1/simulations/{id} [get]
func (a *API) getSimulation(w http.ResponseWriter, r *http.Request) error {
	return withJob(w, r, a.simulations.Get)
}

// cancelSimulation cancels a job.
//
//	@Summary		Cancel a job
//	@Description	Cancelling a job that has ended changes nothing, so that the call may be repeated.
//	@Tags			scenarios
//	@Produce		json
//	@Param			id	path		string	true	"the job"
//	@Param			Idempotency-Key	header	string	false	"a key under which the call is done once in 24 hours"
//	@Success		200	{object}	simulations.Job
//	@Failure		400,401,403,404,409,415,422,429,500,503	{object}	exchange.Problem
//	@Router			/v1/simulations/{id}/cancel [post]
func (a *API) cancelSimulation(w http.ResponseWriter, r *http.Request) error {
	return withJob(w, r, a.simulations.Cancel)
}

// deleteSimulation removes a job.
//
//	@Summary	Delete a job with its answer; a running one is cancelled
//	@Tags		scenarios
//	@Param		id	path	string	true	"the job"
//	@Success	204
//	@Failure	400,401,403,404,429,500,503	{object}	exchange.Problem
//	@Router		/v1/simulations/{id} [delete]
func (a *API) deleteSimulation(w http.ResponseWriter, r *http.Request) error {
	return deleteJob(w, r, func(ctx context.Context, id string) error {
		err := a.simulations.Delete(ctx, id)
		if err == nil {
			a.apart.forget(id)
		}
		return err
	})
}
