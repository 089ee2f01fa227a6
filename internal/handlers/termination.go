package handlers

import (
	"encoding/json"
	"net/http"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"berth/internal/podlife"
)

// TerminationRequest asks how a pod ends.
type TerminationRequest struct {
	// Pod is the v1.Pod as it is; defaults are filled in.
	Pod json.RawMessage `json:"pod" swaggertype:"object"`
	// Cause is what ends it.
	Cause string `json:"cause" enums:"delete,evict-soft,evict-hard,preempt,liveness,startup,shutdown"`
	// GracePeriodSeconds is the delete's option; for shutdown the node's share for the pod's priority.
	GracePeriodSeconds *int64 `json:"gracePeriodSeconds,omitempty"`
	// Force is a delete with gracePeriodSeconds 0.
	Force bool `json:"force,omitempty"`
	// Container is the one whose probe failed; needed if several have one.
	Container string `json:"container,omitempty"`
	// PreStopSeconds says how long containers' preStop hooks run; a sleep says so itself, others count as 0.
	PreStopSeconds map[string]int64 `json:"preStopSeconds,omitempty"`
	// EvictionMaxPodGracePeriod is the kubelet's setting for soft evictions; 0 if absent.
	EvictionMaxPodGracePeriod int32 `json:"evictionMaxPodGracePeriod,omitempty"`
	// Shutdown is the kubelet's configuration of graceful node shutdown, to find the share in.
	Shutdown *podlife.ShutdownConfig `json:"shutdown,omitempty"`
	// Now is when it happens; the server's time if absent.
	Now *time.Time `json:"now,omitempty"`
} // @name TerminationRequest

// terminatePod says how a pod ends.
//
//	@Summary		How and when a pod ends
//	@Description	Grace periods with their sources, stop timeouts per container with hooks and sidecars, and the timeline, in which every container uses all the time it has. Nothing is deleted.
//	@Tags			pods
//	@Accept			json,application/yaml
//	@Produce		json
//	@Param			body	body		TerminationRequest	true	"the pod and what happens to it"
//	@Param			fieldValidation	query		string	false	"what becomes of unknown fields of the objects; Strict if absent"	Enums(Strict,Warn,Ignore)
//	@Success		200		{object}	podlife.Termination
//	@Failure		400,413,415,429	{object}	Problem
//	@Router			/v1/pods/termination [post]
func (a *API) terminatePod(w http.ResponseWriter, r *http.Request) error {
	return a.withBody(w, r, a.limits.DecisionMaxBytes, "decision-max-bytes", func(body []byte) error {
		var req TerminationRequest
		if err := decodeStrict(body, &req, a.decisionBounds()); err != nil {
			return err
		}
		p, err := a.posted(r)
		if err != nil {
			return err
		}
		pod, err := p.wholePod("pod", req.Pod)
		if err != nil {
			return err
		}
		out, errs := podlife.Terminate(podlife.Ending{
			Pod: pod, Cause: podlife.Cause(req.Cause), GracePeriodSeconds: req.GracePeriodSeconds, Force: req.Force, Container: req.Container,
			PreStopSeconds: req.PreStopSeconds, EvictionMaxPodGracePeriod: req.EvictionMaxPodGracePeriod, Shutdown: req.Shutdown, Now: orNow(req.Now),
		})
		if len(errs) > 0 {
			return badFields(errs)
		}
		out.Warnings = p.warn(w)
		return writeJSON(w, http.StatusOK, out)
	})
}

// orNow is a request's time, else the server's.
func orNow(t *time.Time) time.Time {
	if t == nil {
		return time.Now()
	}
	return *t
}

// badFields says which fields of a request have no good value.
func badFields(errs field.ErrorList) error {
	e := &Error{Status: http.StatusBadRequest, Kind: "invalid", Fields: fieldErrors(errs)}
	for i, f := range e.Fields {
		if i > 0 {
			e.Detail += "; "
		}
		e.Detail += f.Field + ": " + f.Message
	}
	return e
}
