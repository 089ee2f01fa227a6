package rest

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"berth/internal/engine"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/jobs/simulations"
	"berth/internal/revision"
	"berth/internal/scenario"
	"berth/internal/store"
	"berth/internal/world"
)

// base implements scenarioRequest. A scenario brings its configurations itself.
func (q *SimulationRequest) base() *ScenarioBase {
	return &ScenarioBase{Edits: q.Edits, Semantics: q.Semantics}
}

// at returns the revision that a scenario begins at, and its time.
func (q *SimulationRequest) at(ctx context.Context, a *API) (at asOf, err error) {
	if h := q.Arrivals.History; h != nil && h.Cluster != "" {
		if err := admit.MayIn(ctx, h.Cluster); err != nil {
			return at, err
		}
	}
	if h := q.Arrivals.History; q.Base == "" && h != nil {
		if err := h.Check(); err != nil {
			return at, err
		}
		h.Cluster = cmp.Or(h.Cluster, exchange.DefaultCluster)
		first, err := a.decisions.Started(ctx, h.Cluster, h.Since, h.Until)
		if err != nil {
			return at, err
		}
		q.Base = revision.FormatID(h.Cluster, first)
	}
	if q.Base == "" {
		q.Base = revision.FormatID(exchange.DefaultCluster, 0)
	}
	name, rev, err := revision.ParseID(q.Base)
	if err != nil {
		return at, exchange.BadField(http.StatusBadRequest, "base", exchange.Reason(err))
	}
	if at.view, err = a.view(ctx, name, rev); err != nil {
		return at, err
	}
	if at.now = at.view.CreatedAt; q.Now != nil {
		at.now = *q.Now
	}
	return at, nil
}

// history reads recorded decisions as arrivals.
func (c *scenarioCall) history(ctx context.Context, h *scenario.History, most int, progress func(done int)) (out []world.Arrival, err error) {
	name := cmp.Or(h.Cluster, c.at.view.Cluster)
	list, more, err := c.a.decisions.History(ctx, name, h.Since, h.Until, most, progress)
	if more {
		return nil, exchange.BadField(http.StatusUnprocessableEntity, "arrivals.history", fmt.Sprintf("more than %d pods were asked about in this time: want a shorter one", most))
	}
	if err == nil && len(list) == 0 {
		c.posted.warnings = append(c.posted.warnings, "arrivals.history: no pod was asked about in cluster "+name+" in this time")
	}
	for _, x := range list {
		out = append(out, world.Arrival{Pod: x.Pod, At: x.At.Sub(list[0].At)})
	}
	return out, err
}

// configuration reads a configuration at a place of the body; the cluster's own without one.
func (c *scenarioCall) configuration(at string, conf *scenario.Configuration) ([]*engine.Profile, error) {
	name := c.at.view.Cluster
	list, err := c.a.asked(name, cmp.Or(conf.Semantics, c.semantics), at, conf.Config, c.posted)
	if list == nil {
		list = c.a.configured.Of(name)
	}
	return list, err
}

// SimulationTimeline is a page of what happens in a scenario, in order.
type SimulationTimeline struct {
	Items []world.Moment `json:"items"`
	// Omitted is how many moments came after the last one that was written down.
	Omitted int `json:"omitted,omitempty"`
	// Cursor continues the list; absent on its last page.
	Cursor string `json:"cursor,omitempty"`
} // @name SimulationTimeline

// getTimeline lists what happened in the scenario of a job.
//
//	@Summary		What happens in a scenario with a clock: its timeline, or what of it concerns a pod, a node or a workload
//	@Description	Of a job that is done and whose question had a clock, or wanted a timeline of a drain, a loss or a rollout. Filters narrow it together.
//	@Tags			scenarios
//	@Produce		json
//	@Param			id			path	string		true	"the job"
//	@Param			pod			query	string		false	"to this pod, as namespace/name"
//	@Param			node		query	string		false	"on or to this node"
//	@Param			workload	query	string		false	"to this workload or its pods, as Kind/name; a Deployment's are those of its ReplicaSets"
//	@Param			namespace	query	string		false	"to pods of this namespace"
//	@Param			kind		query	string		false	"of this kind, or of these with commas between, such as bound,nodeTainted"
//	@Param			since		query	string		false	"at this time since the start or later, such as 5m30s or 330"
//	@Param			until		query	string		false	"before this time since the start"
//	@Param			limit		query	int			false	"items in the page, 100 if absent"
//	@Param			cursor		query	string		false	"cursor of the page before"
//	@Success		200			{object}	SimulationTimeline
//	@Failure		400,401,403,404,409,422,429,500,503	{object}	exchange.Problem
//	@Router			/v1/simulations/{id}/timeline [get]
func (a *API) getTimeline(w http.ResponseWriter, r *http.Request) error {
	c, err := concernOf(r.URL.Query())
	if err != nil {
		return err
	}
	limit, err := a.pageSize(r)
	if err != nil {
		return err
	}
	text, err := a.openCursor(r)
	if err != nil {
		return err
	}
	from := 0
	if text != "" {
		if from, err = strconv.Atoi(text); err != nil {
			return badCursor()
		}
	}
	job, err := a.doneJob(r, a.simulations.Get)
	if err != nil {
		return err
	}
	told, ok, err := scenario.TimelineOf(job.Result)
	if err != nil {
		return err
	}
	if !ok {
		return exchange.BadField(http.StatusUnprocessableEntity, "id", "the question of job "+job.ID+" had no clock (clock: true) and wanted no timeline (timeline: true)")
	}
	if strings.HasPrefix(c.Workload, "Deployment/") {
		_, rev, err := revision.ParseID(job.Snapshot)
		if err != nil {
			return err
		}
		v, err := a.view(r.Context(), job.Cluster, rev)
		if err != nil {
			return err
		}
		c.Set = v.State.ReplicaSet
	}
	out := SimulationTimeline{Omitted: told.TimelineOmitted}
	items, next := c.Page(told.Timeline, from, limit)
	if out.Items = items; next > 0 {
		out.Cursor = a.sealCursor(r, strconv.Itoa(next))
	}
	return exchange.WriteJSON(w, http.StatusOK, out)
}

// concernOf reads the filters of a timeline.
func concernOf(q url.Values) (c *scenario.Concern, err error) {
	c = &scenario.Concern{Node: q.Get("node"), Workload: q.Get("workload"), Namespace: q.Get("namespace")}
	if pod := q.Get("pod"); pod != "" {
		if ns, name, cut := strings.Cut(pod, "/"); !cut || ns == "" || name == "" {
			return nil, exchange.BadField(http.StatusBadRequest, "pod", "want a pod as namespace/name, such as shop/web-1")
		}
		c.Pods = []string{pod}
	}
	if kind, name, cut := strings.Cut(c.Workload, "/"); c.Workload != "" && (!cut || kind == "" || name == "") {
		return nil, exchange.BadField(http.StatusBadRequest, "workload", "want a workload as Kind/name, such as Deployment/web")
	}
	if q.Has("kind") {
		c.What = strings.Split(q.Get("kind"), ",")
	}
	if err := scenario.CheckWhat("kind", c.What); err != nil {
		return nil, err
	}
	for name, to := range map[string]*int64{"since": &c.Since, "until": &c.Until} {
		if !q.Has(name) {
			continue
		}
		if *to, err = scenario.Seconds(name, q.Get(name)); err != nil {
			return nil, err
		}
	}
	if q.Has("until") && c.Until <= c.Since {
		return nil, exchange.BadField(http.StatusBadRequest, "until", "want a time after since")
	}
	return c, nil
}

// doneJob returns the job in the path, which is done.
func (a *API) doneJob(r *http.Request, get func(context.Context, string) (*simulations.Job, error)) (*simulations.Job, error) {
	id, err := jobID(r)
	if err != nil {
		return nil, err
	}
	job, err := get(r.Context(), id)
	if err == nil && job.State != store.JobDone {
		err = &exchange.Error{Status: http.StatusConflict, Kind: "conflict", Detail: "job " + id + " is not done: it is " + job.State}
	}
	return job, err
}
