package rest

import (
	"encoding/json"
	"net/http"
	"time"

	"berth/internal/handlers/exchange"
	"berth/internal/podlife"
	"berth/internal/report"
)

// LifecycleRequest asks where a pod stands and what comes next.
type LifecycleRequest struct {
	// Pod is the v1.Pod with its status, as kubectl get -o json prints it. Either this or podRef.
	Pod json.RawMessage `json:"pod,omitempty" swaggertype:"object"`
	// PodRef names a pod of the snapshot.
	PodRef *PodName `json:"podRef,omitempty"`
	// Snapshot is where podRef's pod and its node are read; default@latest if absent.
	Snapshot string `json:"snapshot,omitempty" example:"prod@latest"`
	// Node is the v1.Node of the pod. Absent, it is that of the snapshot for podRef, else taken to
	// be healthy; null reports that it does not exist any more.
	Node json.RawMessage `json:"node,omitempty" swaggertype:"object" extensions:"x-nullable"`
	// NodeLostSince is the last sign of life of the node's kubelet, or, with node null, when the
	// node went; what the node's Ready condition says if absent.
	NodeLostSince *time.Time `json:"nodeLostSince,omitempty"`
	// MaxContainerRestartPeriod is the kubelet's crashLoopBackOff.maxContainerRestartPeriod: 1s to
	// 300s, which is the default.
	MaxContainerRestartPeriod string `json:"maxContainerRestartPeriod,omitempty" example:"60s"`
	// Events are what happens from now on: what follows from them is the answer's timeline. At most
	// 100.
	Events []podlife.LifeEvent `json:"events,omitempty"`
	// Until ends the timeline; an hour after the last event if absent.
	Until *time.Time `json:"until,omitempty"`
	// PreStopSeconds describes how long containers' preStop hooks run; a sleep says so itself,
	// others may take the whole period.
	PreStopSeconds map[string]int64 `json:"preStopSeconds,omitempty"`
	// ExitSeconds describes how long containers take to exit after the stop signal; those that are
	// not named use all the time they have.
	ExitSeconds map[string]int64 `json:"exitSeconds,omitempty"`
	// ExitCodes are what these containers exit with, 0 to 255; 0 if absent.
	ExitCodes map[string]int32 `json:"exitCodes,omitempty"`
	// Semantics is the release of Kubernetes whose kubelet leads the pod's life, where its node
	// does not tell its kubelet's version; that of the cluster if absent.
	Semantics string `json:"semantics,omitempty" example:"v1.37"`
	// Now is the time at which back-offs are judged; the server's if absent.
	Now *time.Time `json:"now,omitempty"`
} // @name LifecycleRequest

// podLifecycle returns where a pod stands, and why.
//
//	@Summary		A pod's phase, conditions and next steps
//	@Description	Returns the phase and the conditions as the kubelet would write them next, kubectl's columns for the pod as posted, and for each container its state, its next step and when that is. Each part has the rule that it follows from. Nothing is stored.
//	@Tags			pods
//	@Accept			json,application/yaml
//	@Produce		json
//	@Param			body	body		LifecycleRequest	true	"the pod, its node and the time"
//	@Param			fieldValidation	query		string	false	"how to treat unknown fields of the objects; Strict if absent"	Enums(Strict,Warn,Ignore)
//	@Success		200		{object}	podlife.Life
//	@Failure		400,401,403,404,413,415,429,500,503	{object}	exchange.Problem
//	@Router			/v1/pods/lifecycle [post]
func (a *API) podLifecycle(w http.ResponseWriter, r *http.Request) error {
	var req LifecycleRequest
	p, err := a.readPosted(w, r, &req)
	if err != nil {
		return err
	}
	pod, err := a.askedPod(r, p, req.Pod, req.PodRef, req.Snapshot, req.Node)
	if err != nil {
		return err
	}
	if req.Snapshot != "" && req.PodRef == nil {
		return exchange.BadField(http.StatusBadRequest, "snapshot", "it holds the pod that podRef names: give podRef")
	}
	q := podlife.LifeQuestion{
		Pod: pod.Pod, Node: pod.node, NodeGiven: pod.given, NodeLostSince: req.NodeLostSince, MaxContainerRestartPeriod: req.MaxContainerRestartPeriod, Now: orNow(req.Now),
		Events: req.Events, Until: req.Until, PreStopSeconds: req.PreStopSeconds, ExitSeconds: req.ExitSeconds, ExitCodes: req.ExitCodes,
	}
	if q.Release, err = a.kubeletOf(&pod, req.Semantics); err != nil {
		return err
	}
	if pod.view != nil {
		q.Storage = report.StorageOf(pod.view)
	}
	life, errs := podlife.Live(q)
	if len(errs) > 0 {
		return badFields(errs)
	}
	life.Snapshot, life.Warnings = pod.id(), p.warn(w)
	return exchange.WriteJSON(w, http.StatusOK, life)
}
