package handlers

import (
	"encoding/json"
	"net/http"
	"time"

	"berth/internal/podlife"
)

// LifecycleRequest asks where a pod stands and what comes next.
type LifecycleRequest struct {
	// Pod is the v1.Pod with its status, as kubectl get -o json prints it.
	Pod json.RawMessage `json:"pod" swaggertype:"object"`
	// Node is the v1.Node of the pod. Absent, it is taken to be healthy; null says that it does not exist any more.
	Node json.RawMessage `json:"node,omitempty" swaggertype:"object" extensions:"x-nullable"`
	// Now is the time at which back-offs are judged; the server's if absent.
	Now *time.Time `json:"now,omitempty"`
} // @name LifecycleRequest

// podLifecycle says where a pod stands, and why.
//
//	@Summary		Say where a pod stands and what happens next
//	@Description	Phase and conditions as the kubelet would write them next, kubectl's columns for the pod as posted, each container's state and what happens to it next and when. Each statement has the rule that made it. Nothing is stored.
//	@Tags			pods
//	@Accept			json,application/yaml
//	@Produce		json
//	@Param			body	body		LifecycleRequest	true	"the pod, its node and the time"
//	@Param			fieldValidation	query		string	false	"what becomes of unknown fields of the objects; Strict if absent"	Enums(Strict,Warn,Ignore)
//	@Success		200		{object}	podlife.Life
//	@Failure		400,413,415,429,500,503	{object}	Problem
//	@Router			/v1/pods/lifecycle [post]
func (a *API) podLifecycle(w http.ResponseWriter, r *http.Request) error {
	return a.withBody(w, r, a.limits.DecisionMaxBytes, "decision-max-bytes", func(body []byte) error {
		var req LifecycleRequest
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
		node, err := p.nodeState(req.Node)
		if err != nil {
			return err
		}
		now := time.Now()
		if req.Now != nil {
			now = *req.Now
		}
		life := podlife.Lifecycle(pod, node, now)
		life.Warnings = p.warn(w)
		return writeJSON(w, http.StatusOK, life)
	})
}

// nodeState reads what a request says of a pod's node.
func (p *posted) nodeState(raw json.RawMessage) (podlife.NodeState, error) {
	node, given, err := p.nodeOf(raw)
	if err != nil || !given {
		return podlife.NodeHealthy, err
	}
	return podlife.NodeStateOf(node), nil
}
