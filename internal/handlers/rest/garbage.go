package rest

import (
	"bytes"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"

	"berth/internal/handlers/exchange"
	"berth/internal/kube/object"
	"berth/internal/podlife"
	"berth/internal/report"
	"berth/internal/revision"
)

// GarbageRequest asks which pods a cluster's garbage collector would delete.
type GarbageRequest struct {
	// TerminatedPodThreshold is how many pods that are over may stay; 12500 if absent, and 0 or
	// less leaves them all.
	TerminatedPodThreshold *int `json:"terminatedPodThreshold,omitempty" example:"12500"`
	// Apply deletes these pods from the newest revision, as the next one; 409 for a cluster that is
	// followed.
	Apply bool `json:"apply,omitempty"`
	// Now is the time that is written into patches; the server's if absent.
	Now *time.Time `json:"now,omitempty"`
} // @name GarbageRequest

// listGarbage returns which pods PodGC would delete.
//
//	@Summary		The pods that the garbage collector would delete
//	@Description	One pass of PodGC over the newest revision, as if the quarantine of vanished nodes were over. Nothing is deleted unless apply is true. Then the next revision lacks the pods.
//	@Tags			clusters
//	@Accept			json,application/yaml
//	@Produce		json
//	@Param			cluster	path		string			true	"the cluster"
//	@Param			body	body		GarbageRequest	false	"how many pods that are over may stay"
//	@Success		200		{object}	report.GarbageList
//	@Failure		400,401,403,404,409,413,415,429,500,503	{object}	exchange.Problem
//	@Router			/v1/clusters/{cluster}/garbage [post]
func (a *API) listGarbage(w http.ResponseWriter, r *http.Request) error {
	body, err := a.JSONBody(w, r, a.Limits.DecisionMaxBytes, "decision-max-bytes")
	if err != nil {
		return err
	}
	var req GarbageRequest
	if len(bytes.TrimSpace(body)) > 0 {
		if err := exchange.DecodePart(r, body, &req, exchange.DecisionBounds(&a.Limits)); err != nil {
			return err
		}
	}
	name := chi.URLParam(r, "cluster")
	if err := revision.CheckName(name); err != nil {
		return exchange.BadField(http.StatusBadRequest, "cluster", exchange.Reason(err))
	}
	if req.Apply {
		if err := a.notFollowed(name); err != nil {
			return err
		}
	}
	v, err := a.view(r.Context(), name, 0)
	if err != nil {
		return err
	}
	threshold := podlife.DefaultTerminatedPodThreshold
	if req.TerminatedPodThreshold != nil {
		threshold = *req.TerminatedPodThreshold
	}
	list, err := report.Garbage(r.Context(), v, threshold, orNow(req.Now))
	if err != nil {
		return err
	}
	if req.Apply && len(list.Pods) > 0 {
		// Only from the revision that was judged: a pod may have changed since.
		next, err := a.clusters.Change(r.Context(), name, v.Revision, nil, keysOf(list.Pods))
		if err != nil {
			return err
		}
		a.Metrics.Received(next)
		list.Applied = next.ID()
	}
	return exchange.WriteLong(w, r, list)
}

func keysOf(list []podlife.Garbage) []object.Key {
	keys := make([]object.Key, len(list))
	for i, g := range list {
		keys[i] = object.Key{Kind: "Pod", Namespace: g.Namespace, Name: g.Name}
	}
	return keys
}
