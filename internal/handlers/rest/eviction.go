package rest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"berth/internal/handlers/exchange"
	"berth/internal/kube/object"
	"berth/internal/podlife"
	"berth/internal/words"
)

// EvictionRankingRequest asks in which order a kubelet would evict pods.
type EvictionRankingRequest struct {
	// Signal is the resource that the node lacks.
	Signal string `json:"signal" enums:"memory,disk,inodes,pids"`
	// Pods are those of the node.
	Pods []EvictionCandidate `json:"pods"`
} // @name EvictionRankingRequest

// EvictionCandidate is a pod with what it uses.
type EvictionCandidate struct {
	// Pod is the v1.Pod as it is.
	Pod json.RawMessage `json:"pod" swaggertype:"object"`
	// Usage are quantities under the signal's key: memory (the working set), ephemeral-storage
	// (logs, writable layers and local volumes together), inodes or pids. Without it the kubelet
	// has no statistics of the pod.
	Usage json.RawMessage `json:"usage,omitempty" swaggertype:"object,string"`
} // @name EvictionCandidate

// EvictionRanking is the order of eviction.
type EvictionRanking struct {
	// Ranking is the order of eviction.
	Ranking []podlife.Ranked `json:"ranking"`
	// Protected pods are not evicted: critical ones, static ones and their mirrors.
	Protected []podlife.Protected `json:"protected"`
	// Warnings name what of the pods was passed over (fieldValidation=Warn), and what one pod of a
	// workload does not show.
	Warnings []string `json:"warnings,omitempty"`
} // @name EvictionRanking

// rankForEviction orders the pods of a node.
//
//	@Summary		The order in which a kubelet evicts pods
//	@Description	For memory, disk and inodes, pods above their requests come first, then pods of lower priority, then pods that are further above their requests. For pids, pods of lower priority come first, then pods with more processes. Requests are those of scheduling; overhead counts only where they are not zero.
//	@Tags			nodes
//	@Accept			json,application/yaml
//	@Produce		json
//	@Param			body	body		EvictionRankingRequest	true	"what runs out, and the node's pods with what they use"
//	@Param			fieldValidation	query		string	false	"how to treat unknown fields of the objects; Strict if absent"	Enums(Strict,Warn,Ignore)
//	@Success		200		{object}	EvictionRanking
//	@Failure		400,401,403,413,415,429	{object}	exchange.Problem
//	@Router			/v1/nodes/eviction-ranking [post]
func (a *API) rankForEviction(w http.ResponseWriter, r *http.Request) error {
	var req EvictionRankingRequest
	p, err := a.readPosted(w, r, &req)
	if err != nil {
		return err
	}
	pods, err := p.consumers(req.Pods)
	if err != nil {
		return err
	}
	ranking, protected, bad := podlife.RankForEviction(podlife.Signal(req.Signal), pods)
	if bad != nil {
		return badFields(field.ErrorList{bad})
	}
	return exchange.WriteJSON(w, http.StatusOK, EvictionRanking{ranking, protected, p.warn(w)})
}

// consumers reads the pods of a node with what they use.
func (p *posted) consumers(list []EvictionCandidate) ([]podlife.Consumer, error) {
	pods := make([]podlife.Consumer, len(list))
	for i, c := range list {
		at := fmt.Sprintf("pods[%d]", i)
		pod, err := p.runningPod(at+".pod", c.Pod)
		if err != nil {
			return nil, err
		}
		usage, err := readUsage(at+".usage", c.Usage)
		if err != nil {
			return nil, err
		}
		pods[i] = podlife.Consumer{Pod: pod, Usage: usage}
	}
	return pods, nil
}

// readUsage reads quantities, which must not be negative.
func readUsage(name string, raw json.RawMessage) (out corev1.ResourceList, err error) {
	if exchange.IsNull(raw) {
		return nil, nil
	}
	var each map[string]json.RawMessage
	if err := json.Unmarshal(raw, &each); err != nil {
		return nil, exchange.BadField(http.StatusBadRequest, name, `want an object of quantities such as {"memory":"1Gi"}`)
	}
	out = corev1.ResourceList{}
	for _, key := range slices.Sorted(maps.Keys(each)) {
		if !slices.Contains(podlife.UsageKeys, key) {
			message := "unknown resource"
			if near, ok := words.Nearest(key, podlife.UsageKeys); ok {
				message += ": did you mean " + near + "?"
			}
			return nil, exchange.BadField(http.StatusBadRequest, fmt.Sprintf("%s.%.60s", name, key), message+"; want "+strings.Join(podlife.UsageKeys, ", "))
		}
		if out[corev1.ResourceName(key)], err = readQuantity(name+"."+key, each[key]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func readQuantity(name string, raw json.RawMessage) (q resource.Quantity, err error) {
	bad := len(object.BoundQuantities(raw, &q)) > 0 || exchange.IsNull(raw) || q.UnmarshalJSON(raw) != nil
	if bad || q.Sign() < 0 {
		return q, exchange.BadField(http.StatusBadRequest, name, "want a quantity that is not negative, such as 1Gi")
	}
	return q, nil
}
