package rest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"berth/internal/handlers/exchange"
	"berth/internal/jobs/replays"
	"berth/internal/store"
)

// BatchRequest describes which decisions are to be answered again, and under what.
type BatchRequest struct {
	Cluster string `json:"cluster" example:"prod"`
	// Since is inclusive, RFC 3339; absent: from the first decision on.
	Since string `json:"since,omitempty" example:"2026-01-31T00:00:00Z"`
	// Until is exclusive; absent, or in the future: until now.
	Until string `json:"until,omitempty" example:"2026-02-01T00:00:00Z"`
	// Profile is another profile's name, of Config or of the server.
	Profile string `json:"profile,omitempty"`
	// Config is another KubeSchedulerConfiguration, as an object or as YAML in a string.
	Config json.RawMessage `json:"config,omitempty" swaggertype:"object"`
	// Semantics is another release of Kubernetes, as for decisions: each recorded profile decides
	// as that one has it, or Config does.
	Semantics string `json:"semantics,omitempty" example:"v1.37"`
} // @name BatchRequest

// BatchList is a page of batch replays, newest first.
type BatchList struct {
	Items []*replays.Job `json:"items"`
	// Cursor continues the list; absent on its last page.
	Cursor string `json:"cursor,omitempty"`
} // @name BatchList

// BatchDifferenceList is a page of decisions that came out otherwise or failed, in the order of
// their revisions.
type BatchDifferenceList struct {
	Items []*replays.Difference `json:"items"`
	// Cursor continues the list; absent on its last page. A batch that has not ended may still add
	// to what follows.
	Cursor string `json:"cursor,omitempty"`
} // @name BatchDifferenceList

// startBatch starts a batch replay.
//
//	@Summary		Replay many decisions
//	@Description	Starts a job that replays a cluster's decisions of a time window, in the order of revisions. All replicas share the work. The job survives restarts.
//	@Tags			replays
//	@Accept			json,application/yaml
//	@Produce		json
//	@Param			body	body		BatchRequest	true	"which decisions"
//	@Param			Idempotency-Key	header	string	false	"a key under which the call is done once in 24 hours"
//	@Success		201		{object}	replays.Job
//	@Failure		400,401,403,404,409,413,415,422,429,500,503	{object}	exchange.Problem
//	@Router			/v1/replays [post]
func (a *API) startBatch(w http.ResponseWriter, r *http.Request) error {
	body, p, err := a.postedBody(w, r)
	if err != nil {
		return err
	}
	q, err := a.decodeBatch(body, p)
	if err != nil {
		return err
	}
	q.AskedBy = exchange.CallerOf(r).String()
	job, err := a.batches.Start(r.Context(), q)
	if err != nil {
		return err
	}
	p.warn(w)
	w.Header().Set("Location", "/v1/replays/"+job.ID)
	return exchange.WriteJSON(w, http.StatusCreated, job)
}

func (a *API) decodeBatch(body []byte, p *posted) (q replays.Request, err error) {
	var req BatchRequest
	if err := exchange.DecodeStrict(body, &req, exchange.DecisionBounds(&a.Limits)); err != nil {
		return q, err
	}
	q.Cluster, q.Profile = req.Cluster, req.Profile
	if q.Cluster == "" {
		return q, exchange.BadField(http.StatusBadRequest, "cluster", "a name is needed")
	}
	for name, at := range map[string]struct {
		text string
		to   *time.Time
	}{"since": {req.Since, &q.Since}, "until": {req.Until, &q.Until}} {
		if at.text == "" {
			continue
		}
		if *at.to, err = time.Parse(time.RFC3339Nano, at.text); err != nil {
			return q, exchange.BadField(http.StatusBadRequest, name, "want a time as RFC 3339 has it, such as 2026-01-31T12:00:00Z")
		}
		if y := at.to.UTC().Year(); y < 1970 || y > 9999 {
			return q, exchange.BadField(http.StatusUnprocessableEntity, name, "want a year from 1970 to 9999")
		}
	}
	if q.Release, err = releaseOf("semantics", req.Semantics); err != nil || exchange.IsNull(req.Config) {
		return q, err
	}
	if _, err := a.parseConfig("config", req.Config, cmp.Or(q.Release, a.configured.Release(q.Cluster)), p); err != nil {
		return q, err
	}
	q.Config = req.Config
	if req.Config[0] == '"' {
		var text string
		if err := json.Unmarshal(req.Config, &text); err != nil {
			return q, exchange.BadField(http.StatusBadRequest, "config", "it is no proper string")
		}
		q.Config = []byte(text)
	}
	return q, nil
}

// listBatches lists batch replays.
//
//	@Summary	List batch replays, newest first
//	@Tags		replays
//	@Produce	json
//	@Param		cluster	query		string	false	"of this cluster"
//	@Param		limit	query		int		false	"items in the page, 100 if absent"
//	@Param		cursor	query		string	false	"cursor of the page before"
//	@Success	200		{object}	BatchList
//	@Failure	400,401,403,404,429,500,503	{object}	exchange.Problem
//	@Router		/v1/replays [get]
func (a *API) listBatches(w http.ResponseWriter, r *http.Request) error {
	items, cursor, err := jobPage(a, r, a.batches.List, func(j *replays.Job) string { return j.ID })
	if err != nil {
		return err
	}
	return exchange.WriteJSON(w, http.StatusOK, BatchList{items, cursor})
}

// getBatch returns a batch replay.
//
//	@Summary	A batch replay and how far it is
//	@Tags		replays
//	@Produce	json
//	@Param		id	path		string	true	"the batch"
//	@Success	200	{object}	replays.Job
//	@Failure	400,401,403,404,429,500,503	{object}	exchange.Problem
//	@Router		/v1/replays/{id} [get]
func (a *API) getBatch(w http.ResponseWriter, r *http.Request) error {
	return withJob(w, r, a.batches.Get)
}

// cancelBatch cancels a batch replay.
//
//	@Summary		Cancel a batch replay
//	@Description	Differences found until then are kept. Cancelling a job that has ended changes nothing, so that the call may be repeated.
//	@Tags			replays
//	@Produce		json
//	@Param			id	path		string	true	"the batch"
//	@Param			Idempotency-Key	header	string	false	"a key under which the call is done once in 24 hours"
//	@Success		200	{object}	replays.Job
//	@Failure		400,401,403,404,409,415,422,429,500,503	{object}	exchange.Problem
//	@Router			/v1/replays/{id}/cancel [post]
func (a *API) cancelBatch(w http.ResponseWriter, r *http.Request) error {
	return withJob(w, r, a.batches.Cancel)
}

// deleteBatch removes a batch replay.
//
//	@Summary	Delete a batch replay with its differences; a running one is cancelled
//	@Tags		replays
//	@Param		id	path	string	true	"the batch"
//	@Success	204
//	@Failure	400,401,403,404,429,500,503	{object}	exchange.Problem
//	@Router		/v1/replays/{id} [delete]
func (a *API) deleteBatch(w http.ResponseWriter, r *http.Request) error {
	return deleteJob(w, r, a.batches.Delete)
}

// listBatchDifferences lists what a batch replay found.
//
//	@Summary		The decisions of a batch replay that differ or failed
//	@Description	In the order of revisions. Each item has the first differences, by path; a replay of that decision alone shows all of them.
//	@Tags			replays
//	@Produce		json
//	@Param			id		path		string	true	"the batch"
//	@Param			limit	query		int		false	"items in the page, 100 if absent"
//	@Param			cursor	query		string	false	"cursor of the page before"
//	@Success		200		{object}	BatchDifferenceList
//	@Failure		400,401,403,404,429,500,503	{object}	exchange.Problem
//	@Router			/v1/replays/{id}/differences [get]
func (a *API) listBatchDifferences(w http.ResponseWriter, r *http.Request) error {
	id, err := jobID(r)
	if err != nil {
		return err
	}
	after, err := a.batchCursor(r)
	if err != nil {
		return err
	}
	limit, err := a.pageSize(r)
	if err != nil {
		return err
	}
	list, err := a.batches.Differences(r.Context(), id, after, limit+1)
	if err != nil {
		return err
	}
	out := BatchDifferenceList{Items: list}
	if len(list) > limit {
		out.Items = list[:limit]
		c := list[limit-1].Cursor
		out.Cursor = a.sealCursor(r, fmt.Sprintf("%d/%d/%s", c.Revision, c.CreatedAt.UnixMicro(), c.ID))
	}
	return exchange.WriteJSON(w, http.StatusOK, out)
}

// batchCursor returns the difference that the request goes on behind.
func (a *API) batchCursor(r *http.Request) (c store.ReplayCursor, err error) {
	text, err := a.openCursor(r)
	if err != nil || text == "" {
		return c, err
	}
	var micros int64
	if _, err := fmt.Sscanf(text, "%d/%d/%s", &c.Revision, &micros, &c.ID); err != nil {
		return c, badCursor()
	}
	c.CreatedAt = time.UnixMicro(micros).UTC()
	return c, nil
}
