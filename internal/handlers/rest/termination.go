package rest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"berth/internal/handlers/exchange"
	"berth/internal/kube/object"
	"berth/internal/podlife"
)

// TerminationRequest asks how a pod ends.
type TerminationRequest struct {
	// Pod is the v1.Pod as it is; defaults are filled in. Either this or podRef.
	Pod json.RawMessage `json:"pod,omitempty" swaggertype:"object"`
	// PodRef names a pod of the snapshot.
	PodRef *PodName `json:"podRef,omitempty"`
	// Cause is why the pod ends.
	Cause string `json:"cause" enums:"delete,evict-soft,evict-hard,preempt,liveness,startup,shutdown,api-eviction,taint,kubelet-preempt"`
	// GracePeriodSeconds is the delete's option, also of an api-eviction; for shutdown the node's
	// share for the pod's priority.
	GracePeriodSeconds *int64 `json:"gracePeriodSeconds,omitempty"`
	// Force is a delete with gracePeriodSeconds 0.
	Force bool `json:"force,omitempty"`
	// Container is the one whose probe failed; needed if several have one.
	Container string `json:"container,omitempty"`
	// PreStopSeconds describes how long containers' preStop hooks run; a sleep says so itself,
	// others may take the whole period.
	PreStopSeconds map[string]int64 `json:"preStopSeconds,omitempty"`
	// EvictionMaxPodGracePeriod is the kubelet's setting for soft evictions; 0 if absent.
	EvictionMaxPodGracePeriod int32 `json:"evictionMaxPodGracePeriod,omitempty"`
	// Shutdown is the kubelet's configuration of graceful node shutdown, to find the share in.
	Shutdown *podlife.ShutdownConfig `json:"shutdown,omitempty"`
	// Node is the v1.Node of the pod. Absent, it is that of the snapshot for podRef, else taken to
	// be healthy; null reports that it does not exist any more. One that is not Ready keeps a
	// deleted pod Terminating; for taint its taints decide when the pod is deleted.
	Node json.RawMessage `json:"node,omitempty" swaggertype:"object" extensions:"x-nullable"`
	// NodeLostSince is the last sign of life of the node's kubelet, or when the node was deleted.
	NodeLostSince *time.Time `json:"nodeLostSince,omitempty"`
	// Budgets are the policy/v1 PodDisruptionBudgets that an api-eviction meets, with their status.
	Budgets []json.RawMessage `json:"budgets,omitempty" swaggertype:"array,object"`
	// Snapshot is where podRef's pod and its node are read (default@latest if absent), and the
	// budgets of an api-eviction where none are given.
	Snapshot string `json:"snapshot,omitempty" example:"prod@latest"`
	// ExitSeconds describes how long containers take to exit after the stop signal, for the end
	// beside the slowest one (expected).
	ExitSeconds map[string]int64 `json:"exitSeconds,omitempty"`
	// ExitCodes are what these containers exit with, 0 to 255; 0 if absent.
	ExitCodes map[string]int32 `json:"exitCodes,omitempty"`
	// HookFails names containers whose preStop hook fails.
	HookFails []string `json:"hookFails,omitempty"`
	// Then are later events of the pod that is ending, in order of time.
	Then []podlife.Following `json:"then,omitempty"`
	// Semantics is the release of Kubernetes whose kubelet leads the pod's life, where its node
	// does not tell its kubelet's version; that of the cluster if absent.
	Semantics string `json:"semantics,omitempty" example:"v1.37"`
	// Now is when it happens; the server's time if absent.
	Now *time.Time `json:"now,omitempty"`
} // @name TerminationRequest

// previewTermination returns how a pod ends.
//
//	@Summary		How and when a pod ends
//	@Description	Returns grace periods with their sources, the stop timeout of each container with hooks and sidecars, and a timeline in which every container uses all of its time. With exitSeconds it also returns the expected timeline. Nothing is deleted.
//	@Tags			pods
//	@Accept			json,application/yaml
//	@Produce		json
//	@Param			body	body		TerminationRequest	true	"the pod and what happens to it"
//	@Param			fieldValidation	query		string	false	"how to treat unknown fields of the objects; Strict if absent"	Enums(Strict,Warn,Ignore)
//	@Success		200		{object}	podlife.Termination
//	@Failure		400,401,403,404,413,415,429,500,503	{object}	exchange.Problem
//	@Router			/v1/pods/termination [post]
func (a *API) previewTermination(w http.ResponseWriter, r *http.Request) error {
	var req TerminationRequest
	p, err := a.readPosted(w, r, &req)
	if err != nil {
		return err
	}
	pod, err := a.askedPod(r, p, req.Pod, req.PodRef, req.Snapshot, req.Node)
	if err != nil {
		return err
	}
	e := podlife.Ending{
		Pod: pod.Pod, Node: pod.node, NodeGiven: pod.given, Cause: podlife.Cause(req.Cause), GracePeriodSeconds: req.GracePeriodSeconds, Force: req.Force, Container: req.Container,
		PreStopSeconds: req.PreStopSeconds, EvictionMaxPodGracePeriod: req.EvictionMaxPodGracePeriod, Shutdown: req.Shutdown, Now: orNow(req.Now),
		NodeLostSince: req.NodeLostSince, ExitSeconds: req.ExitSeconds, ExitCodes: req.ExitCodes, HookFails: req.HookFails, Then: req.Then,
	}
	if e.Release, err = a.kubeletOf(&pod, req.Semantics); err != nil {
		return err
	}
	if e.Budgets, err = a.budgets(r, p, &req, &pod, e.Involves(podlife.CauseAPIEviction)); err != nil {
		return err
	}
	out, errs := podlife.Terminate(e)
	if len(errs) > 0 {
		return badFields(errs)
	}
	out.Snapshot, out.Warnings = pod.id(), p.warn(w)
	return exchange.WriteJSON(w, http.StatusOK, out)
}

// nodeOf reads a pod's node: nil and given for one that is gone.
func (p *posted) nodeOf(raw json.RawMessage) (node *corev1.Node, given bool, err error) {
	switch {
	case len(raw) == 0:
		return nil, false, nil
	case exchange.IsNull(raw):
		return nil, true, nil
	}
	if err := p.fields("node", raw, "Node"); err != nil {
		return nil, true, err
	}
	node = &corev1.Node{}
	return node, true, wholeObject("node", raw, node, "Node", &node.TypeMeta)
}

// budgets reads the budgets of a request, else those that the snapshot holds in the pod's
// namespace; nil without either. Of a pod that is named they are read where something evicts it.
func (a *API) budgets(r *http.Request, p *posted, req *TerminationRequest, pod *askedPod, evicts bool) (out []*policyv1.PodDisruptionBudget, err error) {
	if req.Snapshot != "" && req.Budgets != nil && req.PodRef == nil {
		return nil, exchange.BadField(http.StatusBadRequest, "snapshot", "budgets are given: give one of the two")
	}
	read := func(name string, raw json.RawMessage) error {
		b := &policyv1.PodDisruptionBudget{}
		if exchange.IsNull(raw) {
			return exchange.BadField(http.StatusBadRequest, name, "want a PodDisruptionBudget")
		}
		if err := wholeObjectOf("policy/v1", name, raw, b, "PodDisruptionBudget", &b.TypeMeta); err != nil {
			return err
		}
		out = append(out, b)
		return nil
	}
	for i, raw := range req.Budgets {
		at := fmt.Sprintf("budgets[%d]", i)
		if err := p.fields(at, raw, "PodDisruptionBudget"); err != nil {
			return nil, err
		}
		if err := read(at, raw); err != nil {
			return nil, err
		}
	}
	v, namespace := pod.view, cmp.Or(pod.Namespace, corev1.NamespaceDefault)
	if req.Budgets != nil || v == nil && req.Snapshot == "" || v != nil && !evicts {
		return out, nil
	}
	if v == nil {
		if v, err = a.snapshotOf(r.Context(), req.Snapshot, namespace); err != nil {
			return nil, err
		}
	}
	out = []*policyv1.PodDisruptionBudget{}
	list, _, err := v.ListSeen(r.Context(), "PodDisruptionBudget", object.Key{}, 0, func(ns string) bool { return ns == namespace })
	if err != nil {
		return nil, err
	}
	for _, raw := range list {
		if err := read("budget of "+v.ID(), raw); err != nil {
			return nil, fmt.Errorf("%s: %w", v.ID(), err) // never a fault of the caller
		}
	}
	return out, nil
}

// orNow is a request's time, else the server's.
func orNow(t *time.Time) time.Time {
	if t == nil {
		return time.Now()
	}
	return *t
}

// badFields returns which fields of a request have no good value.
func badFields(errs field.ErrorList) error {
	listed := errs[:min(len(errs), exchange.MaxFields)]
	e := &exchange.Error{Status: http.StatusBadRequest, Kind: "invalid", Fields: exchange.FieldErrors(listed), Unlisted: len(errs) - len(listed)}
	for i, f := range e.Fields {
		if i > 0 {
			e.Detail += "; "
		}
		e.Detail += f.Field + ": " + f.Message
	}
	return e
}
