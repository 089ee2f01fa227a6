package rest

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/jobs/simulations"
	"berth/internal/kube/object"
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
	if at.view, err = a.stateOf(ctx, "base", q.Base, ""); err != nil {
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
		err = notDone(id, job.State)
	}
	return job, err
}

// notDone refuses a job whose answer is not there.
func notDone(id, state string) error {
	return &exchange.Error{Status: http.StatusConflict, Kind: "conflict", Detail: "job " + id + " is not done: it is " + state}
}

// SimulationState is the cluster at a time of a scenario.
type SimulationState struct {
	// Snapshot names it for dry calls.
	Snapshot     string    `json:"snapshot" example:"simulation:01985f6e-7d54-7c7e-8b62-5d4f8a0e1c2b@5m30s"`
	Time         time.Time `json:"time"`
	AfterSeconds int64     `json:"afterSeconds"`
	// Nodes are all nodes by name, on the first page alone.
	Nodes []SimulatedNode `json:"nodes,omitempty"`
	// Pods are by namespace and name.
	Pods []SimulatedPod `json:"pods"`
	// Cursor continues the list of pods; absent on its last page.
	Cursor string `json:"cursor,omitempty"`
} // @name SimulationState

// SimulatedNode is a node at a time of a scenario.
type SimulatedNode struct {
	Name string `json:"name" example:"worker-7"`
	// Ready is its condition; absent where it has none.
	Ready    corev1.ConditionStatus `json:"ready,omitempty" enums:"True,False,Unknown" swaggertype:"string"`
	Cordoned bool                   `json:"cordoned,omitempty"`
	Taints   []string               `json:"taints,omitempty" example:"dedicated=batch:NoSchedule"`
} // @name SimulatedNode

// SimulatedPod is a pod at a time of a scenario.
type SimulatedPod struct {
	Namespace string `json:"namespace" example:"shop"`
	Name      string `json:"name" example:"web-7d4b9-x2x5c"`
	Owner     string `json:"owner,omitempty" example:"ReplicaSet/web-7d4b9"`
	// Node is absent of a pod that waits, which may be nominated to one.
	Node      string          `json:"node,omitempty" example:"worker-7"`
	Nominated string          `json:"nominated,omitempty" example:"worker-7"`
	Phase     corev1.PodPhase `json:"phase,omitempty" enums:"Pending,Running,Succeeded,Failed" swaggertype:"string"`
	Ready     bool            `json:"ready"`
	// Terminating is of a pod that is being deleted.
	Terminating bool `json:"terminating,omitempty"`
} // @name SimulatedPod

// getStateAt returns the cluster at a time of the scenario of a job.
//
//	@Summary		The cluster at a time of a scenario with a clock: its nodes and pods then
//	@Description	Of a job that is done, once all that happens at that second has happened. The scenario is run again until then; the last states are kept. The state's name is a snapshot for dry calls: decisions with dryRun, fit, drains, losses, pools, rollouts and scenarios without wait, capacity, pending pods, objects, and the lives of its pods. What is recorded, bound or changed refuses it (422).
//	@Tags			scenarios
//	@Produce		json
//	@Param			id		path		string	true	"the job"
//	@Param			time	query		string	true	"since the start (5m30s or 330), of the clock (12:05:00) or whole (RFC 3339)"
//	@Param			limit	query		int		false	"pods in the page, 100 if absent"
//	@Param			cursor	query		string	false	"cursor of the page before"
//	@Success		200		{object}	SimulationState
//	@Failure		400,401,403,404,409,422,429,500,503	{object}	exchange.Problem
//	@Router			/v1/simulations/{id}/at [get]
func (a *API) getStateAt(w http.ResponseWriter, r *http.Request) error {
	id, err := jobID(r)
	if err != nil {
		return err
	}
	limit, err := a.pageSize(r)
	if err != nil {
		return err
	}
	after, err := a.objectCursor(r)
	if err != nil {
		return err
	}
	v, second, err := a.simulated(r.Context(), "time", id, r.URL.Query().Get("time"))
	if err != nil {
		return err
	}
	out := SimulationState{Snapshot: v.ID(), Time: v.CreatedAt, AfterSeconds: second, Pods: []SimulatedPod{}}
	if after.Name == "" {
		if err := eachOf(r.Context(), v, "Node", after, 0, func(o any) { out.Nodes = append(out.Nodes, simulatedNode(o.(*corev1.Node))) }); err != nil {
			return err
		}
	}
	err = eachOf(r.Context(), v, "Pod", after, limit+1, func(o any) { out.Pods = append(out.Pods, simulatedPod(o.(*corev1.Pod))) })
	if err != nil {
		return err
	}
	if len(out.Pods) > limit {
		out.Pods = out.Pods[:limit]
		last := out.Pods[limit-1]
		out.Cursor = a.sealCursor(r, "Pod/"+last.Namespace+"/"+last.Name)
	}
	return exchange.WriteLong(w, r, out)
}

// eachOf decodes objects of a kind behind one, at most so many; 0: all.
func eachOf(ctx context.Context, v *revision.View, kind string, after object.Key, limit int, f func(any)) error {
	items, _, err := v.List(ctx, kind, after, limit)
	if err != nil {
		return err
	}
	for _, raw := range items {
		o, err := object.FromCanonical(kind, raw)
		if err != nil {
			return fmt.Errorf("%s in %s: %w", kind, v.ID(), err)
		}
		f(o.Value)
	}
	return exchange.TakeAnswer(ctx, len(items), 0)
}

func simulatedNode(n *corev1.Node) SimulatedNode {
	out := SimulatedNode{Name: n.Name, Cordoned: n.Spec.Unschedulable}
	for i := range n.Status.Conditions {
		if c := &n.Status.Conditions[i]; c.Type == corev1.NodeReady {
			out.Ready = c.Status
		}
	}
	for i := range n.Spec.Taints {
		out.Taints = append(out.Taints, n.Spec.Taints[i].ToString())
	}
	return out
}

func simulatedPod(p *corev1.Pod) SimulatedPod {
	return SimulatedPod{
		Namespace: p.Namespace, Name: p.Name, Owner: world.OwnerOf(p), Node: p.Spec.NodeName, Nominated: p.Status.NominatedNodeName,
		Phase: p.Status.Phase, Ready: world.IsReady(p) || world.AssumedReady(p) && p.DeletionTimestamp == nil, Terminating: p.DeletionTimestamp != nil,
	}
}
