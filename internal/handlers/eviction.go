package handlers

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"berth/internal/objects"
	"berth/internal/podlife"
)

// EvictionRankingRequest asks in which order a kubelet would evict pods.
type EvictionRankingRequest struct {
	// Signal is what the node runs out of.
	Signal string `json:"signal" enums:"memory,disk,inodes,pids"`
	// Pods are those of the node.
	Pods []EvictionCandidate `json:"pods"`
} // @name EvictionRankingRequest

// EvictionCandidate is a pod with what it uses.
type EvictionCandidate struct {
	// Pod is the v1.Pod as it is.
	Pod json.RawMessage `json:"pod" swaggertype:"object"`
	// Usage are quantities under the signal's key: memory (the working set), ephemeral-storage (logs, writable layers and local
	// volumes together), inodes or pids. Without it the kubelet has no statistics of the pod.
	Usage json.RawMessage `json:"usage,omitempty" swaggertype:"object,string"`
} // @name EvictionCandidate

// EvictionRanking is the order of eviction.
type EvictionRanking struct {
	// Ranking is the order: the first goes first.
	Ranking []podlife.Ranked `json:"ranking"`
	// Protected pods are not evicted: critical ones, static ones and their mirrors.
	Protected []podlife.Protected `json:"protected"`
} // @name EvictionRanking

// rankForEviction orders the pods of a node.
//
//	@Summary		The order in which a kubelet evicts pods
//	@Description	For memory, disk and inodes: those above their requests first, then lower priority, then more above the requests. For pids: lower priority, then more processes. Requests count as for scheduling, but overhead only where they are not zero.
//	@Tags			nodes
//	@Accept			json
//	@Produce		json
//	@Param			body	body		EvictionRankingRequest	true	"what runs out, and the node's pods with what they use"
//	@Success		200		{object}	EvictionRanking
//	@Failure		400,413,415,429	{object}	Problem
//	@Router			/v1/nodes/eviction-ranking [post]
func (a *API) rankForEviction(w http.ResponseWriter, r *http.Request) error {
	return withBody(w, r, a.limits.DecisionMaxBytes, "decision-max-bytes", func(body []byte) error {
		var req EvictionRankingRequest
		if err := decodeStrict(body, &req, a.decisionBounds()); err != nil {
			return err
		}
		pods := make([]podlife.Consumer, len(req.Pods))
		for i, c := range req.Pods {
			at := fmt.Sprintf("pods[%d]", i)
			pod, err := wholePod(at+".pod", c.Pod)
			if err != nil {
				return err
			}
			usage, err := readUsage(at+".usage", c.Usage)
			if err != nil {
				return err
			}
			pods[i] = podlife.Consumer{Pod: pod, Usage: usage}
		}
		ranking, protected, bad := podlife.RankForEviction(podlife.Signal(req.Signal), pods)
		if bad != nil {
			return badFields(field.ErrorList{bad})
		}
		return writeJSON(w, http.StatusOK, EvictionRanking{ranking, protected})
	})
}

// readUsage reads quantities, which must not be negative.
func readUsage(name string, raw json.RawMessage) (out corev1.ResourceList, err error) {
	if isNull(raw) {
		return nil, nil
	}
	if errs := objects.BoundQuantities(raw, &out); len(errs) > 0 {
		return nil, badField(http.StatusBadRequest, name+"."+errs[0].Field, errs[0].Detail)
	}
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &out); err != nil {
		var e *Error
		if errors.As(decodeError(err), &e) && len(e.Fields) == 1 && e.Fields[0].Field != "body" {
			return nil, badField(http.StatusBadRequest, name+"."+e.Fields[0].Field, e.Fields[0].Message)
		}
		return nil, badField(http.StatusBadRequest, name, "want an object of quantities such as {\"memory\":\"1Gi\"}")
	}
	for key, q := range out {
		if q.Sign() < 0 {
			return nil, badField(http.StatusBadRequest, name+"."+string(key), "must not be negative")
		}
	}
	return out, nil
}
