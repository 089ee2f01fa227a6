package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/handlers/keyed"
	"berth/internal/handlers/observe"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/scenario"
	"berth/internal/store"
)

// PlacementRequest asks where many pods go, each with those before it on their nodes. It has one of
// pods, template, workload and podGroup.
type PlacementRequest struct {
	// Snapshot is the state to place on; default@latest if absent. With bind or hold it has to be
	// named. Without it may be what a scenario comes to, as simulation:JOB@5m30s.
	Snapshot string `json:"snapshot,omitempty" example:"plat@latest"`
	// Pods are v1.Pods.
	Pods []json.RawMessage `json:"pods,omitempty" swaggertype:"array,object"`
	// Template is a v1.Pod, of which Count copies are placed, named after it: NAME-0, NAME-1 and so
	// on.
	Template json.RawMessage `json:"template,omitempty" swaggertype:"object"`
	Count    *int            `json:"count,omitempty" example:"100"`
	// Workload is a StatefulSet, whose pods are those of its ordinals with their claims, a Job with
	// those of its indexes, or a Deployment or ReplicaSet.
	Workload json.RawMessage `json:"workload,omitempty" swaggertype:"object"`
	// PodGroup names a PodGroup of the snapshot as namespace/name: its pods that wait are placed,
	// with those on nodes at least as many as its minCount.
	PodGroup string `json:"podGroup,omitempty" example:"ml/train"`
	// Removals are sets of pods: the answer names the first without which all pods fit, or minCount
	// of them. Without bind and hold alone.
	Removals [][]PodName `json:"removals,omitempty"`
	// With is what is otherwise than in the snapshot. Without bind and hold alone.
	With *scenario.Edits `json:"with,omitempty"`
	// Order is that of kube-scheduler's queue, by priority and then as in the request, or that of
	// the request.
	Order string `json:"order,omitempty" enums:"queue,given" default:"queue"`
	// Atomic places all pods or none; with MinCount that many at least, or none.
	Atomic   bool `json:"atomic,omitempty"`
	MinCount *int `json:"minCount,omitempty" example:"80"`
	// Bind binds what is placed, by one revision; without it nothing is written and recorded.
	Bind bool `json:"bind,omitempty"`
	// Hold binds as bind does, for a time from 1s to 24h: after that the pods go, unless the hold
	// was committed. In place of bind.
	Hold string `json:"hold,omitempty" example:"30s"`
	// Preempt false tries no preemption.
	Preempt *bool `json:"preempt,omitempty" default:"true"`
	// Explain failures adds which plugins rejected how many nodes for pods that are not placed.
	Explain string `json:"explain,omitempty" enums:"none,failures" default:"none"`
} // @name PlacementRequest

// writes reports whether what is placed is bound, for good or for a time.
func (q *PlacementRequest) writes() bool { return q.Bind || q.Hold != "" }

// how is the field by which it writes.
func (q *PlacementRequest) how() string {
	if q.Bind {
		return "bind"
	}
	return "hold"
}

// place places many pods.
//
//	@Summary		Place many pods, each with those before it on their nodes
//	@Description	All pods are decided one after the other on one state, and what is placed is bound by one revision. Each pod has a record, which replays by itself. With atomic or minCount it is enough of them or none: what does not hold leaves no revision, no pod and no nomination, and its records say so. With hold they are bound for a time, unless that is committed. Without bind and hold nothing is recorded.
//	@Tags			decisions
//	@Accept			json,application/yaml
//	@Produce		json
//	@Param			body			body		PlacementRequest	true	"the pods"
//	@Param			fieldValidation	query		string				false	"how to treat unknown fields of the objects; Strict if absent"	Enums(Strict,Warn,Ignore)
//	@Param			Idempotency-Key	header	string	false	"a key under which the call is done once in 24 hours"
//	@Success		200		{object}	decision.PlacementAnswer	"nothing was bound"
//	@Success		201		{object}	decision.PlacementAnswer
//	@Failure		400,401,403,404,409,413,415,422,429,500,503	{object}	exchange.Problem
//	@Router			/v1/placements [post]
func (a *API) place(w http.ResponseWriter, r *http.Request) error {
	body, err := a.JSONBody(w, r, a.Limits.ChangesMaxBytes, "changes-max-bytes")
	if err != nil {
		return err
	}
	start := time.Now()
	var req PlacementRequest
	p, err := a.decodePosted(r, body, &req, exchange.ChangesBounds(&a.Limits))
	if err != nil {
		return err
	}
	c := &placementCall{a: a, req: &req, posted: p}
	place, err := c.placement(r.Context())
	if err != nil {
		return err
	}
	answer := keyed.Answering(r.Context(), func(out *decision.PlacementAnswer) error { return c.answer(w, out) })
	var out *decision.PlacementAnswer
	if req.writes() {
		out, err = a.binder.Place(r.Context(), place)
	} else {
		out, err = c.try(r.Context(), place)
	}
	if err != nil {
		var named *decision.Error
		if place.Revision == 0 && !errors.As(err, &named) {
			return admit.NoSnapshot(place.Cluster, err)
		}
		return err
	}
	c.count(r.Context(), out, time.Since(start))
	return answer(out)
}

// answer writes the answer, without what the request does not want.
func (c *placementCall) answer(w http.ResponseWriter, out *decision.PlacementAnswer) error {
	shown := *out
	shown.Results = slices.Clone(out.Results)
	for i := range shown.Results {
		if r := &shown.Results[i]; c.req.Explain != "failures" || r.Message == "" {
			r.Failures = nil
		}
	}
	said := *c.posted
	said.warnings = slices.Concat(c.posted.warnings, out.Warnings)
	shown.Warnings = said.warn(w)
	if !out.Bound {
		return exchange.WriteJSON(w, http.StatusOK, &shown)
	}
	exchange.SetHeader(w, "Location", "/v1/decisions?placement="+out.ID)
	return exchange.WriteJSON(w, http.StatusCreated, &shown)
}

// placementCall is a placement as a request has it.
type placementCall struct {
	a      *API
	req    *PlacementRequest
	posted *posted
}

// placement reads the request.
func (c *placementCall) placement(ctx context.Context) (*decision.Placement, error) {
	req := c.req
	p := &decision.Placement{Atomic: req.Atomic, InOrder: req.Order == "given", NoPreemption: req.Preempt != nil && !*req.Preempt}
	switch {
	case req.Order != "" && req.Order != "queue" && req.Order != "given":
		return nil, exchange.BadField(http.StatusBadRequest, "order", "want queue or given")
	case req.Explain != "" && req.Explain != "none" && req.Explain != "failures":
		return nil, exchange.BadField(http.StatusBadRequest, "explain", "want none or failures")
	case req.Bind && req.Hold != "":
		return nil, exchange.BadField(http.StatusBadRequest, "hold", "it is in place of bind: leave one of them out")
	case req.writes() && req.Snapshot == "":
		return nil, exchange.BadField(http.StatusBadRequest, "snapshot", `with `+req.how()+` it has to be named, as in "prod@latest"`)
	case req.writes() && req.Removals != nil:
		return nil, exchange.BadField(http.StatusBadRequest, "removals", "they are for a placement without "+req.how())
	case req.writes() && req.With != nil:
		return nil, exchange.BadField(http.StatusBadRequest, "with", "edits are for a placement without "+req.how())
	case req.Count != nil && exchange.IsNull(req.Template):
		return nil, exchange.BadField(http.StatusBadRequest, "count", "it goes with template")
	}
	if req.MinCount != nil {
		if p.MinCount = *req.MinCount; p.MinCount < 1 {
			return nil, exchange.BadField(http.StatusUnprocessableEntity, "minCount", "want a number above 0")
		}
	}
	var err error
	if req.Hold != "" {
		if p.Hold, err = time.ParseDuration(req.Hold); err != nil {
			return nil, exchange.BadField(http.StatusBadRequest, "hold", "want a duration from 1s to 24h, such as 30s")
		}
		if p.Hold < time.Second || p.Hold > 24*time.Hour {
			return nil, exchange.BadField(http.StatusUnprocessableEntity, "hold", "want a duration from 1s to 24h")
		}
	}
	p.Cluster = exchange.DefaultCluster
	if req.Snapshot != "" && (req.writes() || !revision.IsApart(req.Snapshot)) {
		if p.Cluster, p.Revision, err = revisionOf("snapshot", req.Snapshot); err != nil {
			return nil, err
		}
	}
	if p.Removals, err = c.removals(); err != nil {
		return nil, err
	}
	p.Members, err = c.members(ctx)
	return p, err
}

func (c *placementCall) removals() (sets [][]object.Key, err error) {
	n := 0
	for i, set := range c.req.Removals {
		keys := make([]object.Key, len(set))
		for k, pod := range set {
			if keys[k] = (object.Key{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name}); pod.Namespace == "" {
				keys[k].Namespace = corev1.NamespaceDefault
			}
			if pod.Name == "" {
				return nil, exchange.BadField(http.StatusBadRequest, fmt.Sprintf("removals[%d][%d].name", i, k), "a name is needed")
			}
		}
		n += len(set)
		sets = append(sets, keys)
	}
	if most := c.a.Limits.PlacementMaxRemovals; n+len(sets) > most {
		return nil, exchange.TooLarge("placement-max-removals", fmt.Sprintf("removals: %d sets of %d pods in all, more than placement-max-removals=%d together", len(sets), n, most))
	}
	return sets, nil
}

// try answers a placement that binds nothing, on its snapshot with the edits.
func (c *placementCall) try(ctx context.Context, p *decision.Placement) (out *decision.PlacementAnswer, err error) {
	var v *revision.View
	if revision.IsApart(c.req.Snapshot) {
		v, err = c.a.stateOf(ctx, "snapshot", c.req.Snapshot, "")
	} else {
		v, err = c.a.view(ctx, p.Cluster, p.Revision)
	}
	if err != nil {
		return nil, err
	}
	if p.Cluster = v.Cluster; revision.IsApart(v.ID()) {
		p.Now = v.CreatedAt
	}
	if c.req.With != nil {
		if v, err = c.a.edited(ctx, v, c.req.With, c.a.configured.Of(v.Cluster), c.posted); err != nil {
			return nil, err
		}
	}
	return c.a.binder.Try(ctx, p, v)
}

// count counts the pods as decisions, and writes one line of the log.
func (c *placementCall) count(ctx context.Context, out *decision.PlacementAnswer, took time.Duration) {
	tried := max(out.Placed+out.Failed, 1)
	for i := range out.Results {
		r := &out.Results[i]
		if r.Outcome != decision.NotTried {
			c.a.Metrics.Decided(ctx, decision.VerbDecide, r.Profile, r.Outcome, r.Counts, r.Failures, nil, took/time.Duration(tried))
		}
	}
	first := &out.Results[0]
	c.a.LogDecision(ctx, observe.Decided{
		Verb: "place", Snapshot: out.Snapshot, Namespace: first.Namespace, Pod: first.Name,
		Outcome: fmt.Sprintf("%d of %d pods placed", out.Placed, len(out.Results)), Took: took,
	})
}

// HeldPlacement is a placement whose pods are on their nodes until a time, unless it is committed.
type HeldPlacement struct {
	// ID is the placement's.
	ID      string `json:"id"`
	Cluster string `json:"cluster" example:"plat"`
	State   string `json:"state" enums:"held,committed,released,expired"`
	// Created and Expires are by the server's clock, and so is Ended; absent while it is held.
	Created time.Time  `json:"created"`
	Expires time.Time  `json:"expires"`
	Ended   *time.Time `json:"ended,omitempty"`
	// BoundSnapshot is the revision that has its pods first, EndedSnapshot that at which it ended.
	BoundSnapshot string `json:"boundSnapshot" example:"plat@42"`
	EndedSnapshot string `json:"endedSnapshot,omitempty" example:"plat@43"`
	AskedBy       string `json:"askedBy,omitempty" example:"token:ci"`
	// EndedBy is who committed or released it.
	EndedBy string `json:"endedBy,omitempty" example:"token:ci"`
	Placed  int    `json:"placed"`
	// Pods are those that it placed, whether or not they are still there; absent in lists.
	Pods []store.HeldPod `json:"pods,omitempty"`
} // @name Hold

// HoldList is a page of holds, newest first.
type HoldList struct {
	Items []*HeldPlacement `json:"items"`
	// Cursor continues the list; absent on its last page.
	Cursor string `json:"cursor,omitempty"`
} // @name HoldList

func heldOf(h *store.Hold) (*HeldPlacement, error) {
	out := &HeldPlacement{
		ID: h.ID, Cluster: h.Cluster, State: h.State, Created: h.CreatedAt, Expires: h.ExpiresAt, AskedBy: h.AskedBy, EndedBy: h.EndedBy,
		BoundSnapshot: revision.FormatID(h.Cluster, h.Revision), Placed: h.PodCount,
	}
	if h.State != store.HoldHeld {
		out.Ended, out.EndedSnapshot = &h.EndedAt, revision.FormatID(h.Cluster, h.EndedRevision)
	}
	if h.Pods == nil {
		return out, nil
	}
	return out, json.Unmarshal(h.Pods, &out.Pods)
}

// listHolds lists holds.
//
//	@Summary	List holds, newest first
//	@Tags		decisions
//	@Produce	json
//	@Param		cluster	query		string	false	"of this cluster"
//	@Param		limit	query		int		false	"items in the page, 100 if absent"
//	@Param		cursor	query		string	false	"cursor of the page before"
//	@Success	200		{object}	HoldList
//	@Failure	400,401,403,404,429,500,503	{object}	exchange.Problem
//	@Router		/v1/holds [get]
func (a *API) listHolds(w http.ResponseWriter, r *http.Request) error {
	list := func(ctx context.Context, cluster, before string, limit int) ([]*HeldPlacement, error) {
		rows, err := a.clusters.ListHolds(ctx, store.HoldFilter{Cluster: cluster, Before: before, Limit: limit})
		out := make([]*HeldPlacement, len(rows))
		for i, h := range rows {
			out[i], _ = heldOf(h) // it has no pods to read
		}
		return out, err
	}
	items, cursor, err := jobPage(a, r, list, func(h *HeldPlacement) string { return h.ID })
	if err != nil {
		return err
	}
	return exchange.WriteJSON(w, http.StatusOK, HoldList{items, cursor})
}

// getHold returns a hold.
//
//	@Summary	A hold, its pods and their nodes
//	@Tags		decisions
//	@Produce	json
//	@Param		id	path		string	true	"the hold"
//	@Success	200	{object}	HeldPlacement
//	@Failure	400,401,403,404,429,500,503	{object}	exchange.Problem
//	@Router		/v1/holds/{id} [get]
func (a *API) getHold(w http.ResponseWriter, r *http.Request) error {
	return withHold(w, r, a.clusters.Hold)
}

// commitHold commits a hold.
//
//	@Summary		Commit a hold: its pods stay
//	@Description	A hold that is committed already stays as it is, so that the call may be repeated. One that was released or has expired is 409, with its state.
//	@Tags			decisions
//	@Produce		json
//	@Param			id	path		string	true	"the hold"
//	@Success		200	{object}	HeldPlacement
//	@Failure		400,401,403,404,409,415,429,500,503	{object}	exchange.Problem
//	@Router			/v1/holds/{id}/commit [post]
func (a *API) commitHold(w http.ResponseWriter, r *http.Request) error {
	return withHold(w, r, func(ctx context.Context, id string) (*store.Hold, error) { return a.clusters.EndHold(ctx, id, true) })
}

// releaseHold releases a hold.
//
//	@Summary		Release a hold: its pods go
//	@Description	A hold that was released or has expired stays as it is, so that the call may be repeated. One that was committed is 409, with its state.
//	@Tags			decisions
//	@Produce		json
//	@Param			id	path		string	true	"the hold"
//	@Success		200	{object}	HeldPlacement
//	@Failure		400,401,403,404,409,415,429,500,503	{object}	exchange.Problem
//	@Router			/v1/holds/{id}/release [post]
func (a *API) releaseHold(w http.ResponseWriter, r *http.Request) error {
	return withHold(w, r, func(ctx context.Context, id string) (*store.Hold, error) { return a.clusters.EndHold(ctx, id, false) })
}

// withHold answers with the hold in the path once something was done with it.
func withHold(w http.ResponseWriter, r *http.Request, do func(context.Context, string) (*store.Hold, error)) error {
	id, err := pathID(r, "hold")
	if err != nil {
		return err
	}
	answer := keyed.Answering(r.Context(), func(h *store.Hold) error {
		out, err := heldOf(h)
		if err != nil {
			return err
		}
		return exchange.WriteJSON(w, http.StatusOK, out)
	})
	h, err := do(r.Context(), id)
	if err != nil {
		return err
	}
	return answer(h)
}
