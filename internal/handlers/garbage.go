package handlers

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/go-chi/chi/v5"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/cluster"
	"berth/internal/engine"
	"berth/internal/objects"
	"berth/internal/podlife"
	"berth/internal/store"
)

// GarbageRequest asks which pods a cluster's garbage collector would delete.
type GarbageRequest struct {
	// TerminatedPodThreshold is how many pods that are over may stay; 12500 if absent, and 0 or less leaves them all.
	TerminatedPodThreshold *int `json:"terminatedPodThreshold,omitempty" example:"12500"`
	// Apply deletes these pods from the newest revision, as the next one; 409 for a cluster that is followed.
	Apply bool `json:"apply,omitempty"`
	// Now is the time that is written into patches; the server's if absent.
	Now *time.Time `json:"now,omitempty"`
} // @name GarbageRequest

// GarbageList are the pods that go, in order.
type GarbageList struct {
	// Snapshot is the revision that was looked at.
	Snapshot string `json:"snapshot" example:"prod@1042"`
	// Pods go in this order: over, on nodes that are out of service, of vanished nodes, unscheduled.
	Pods []podlife.Garbage `json:"pods"`
	// Applied is the revision without them; absent unless apply was asked for and there were any.
	Applied string `json:"applied,omitempty" example:"prod@1043"`
} // @name GarbageList

// collectGarbage says which pods PodGC would delete.
//
//	@Summary		The pods that the garbage collector would delete
//	@Description	One pass of PodGC over the newest revision, the quarantine of vanished nodes taken as over. Nothing is deleted unless apply is true: then the pods are gone in the next revision.
//	@Tags			clusters
//	@Accept			json,application/yaml
//	@Produce		json
//	@Param			cluster	path		string			true	"the cluster"
//	@Param			body	body		GarbageRequest	false	"how many pods that are over may stay"
//	@Success		200		{object}	GarbageList
//	@Failure		400,404,409,413,415,429,500,503	{object}	Problem
//	@Router			/v1/clusters/{cluster}/garbage [post]
func (a *API) collectGarbage(w http.ResponseWriter, r *http.Request) error {
	return a.withBody(w, r, a.limits.DecisionMaxBytes, "decision-max-bytes", func(body []byte) error {
		var req GarbageRequest
		if len(bytes.TrimSpace(body)) > 0 {
			if err := decodeStrict(body, &req, a.decisionBounds()); err != nil {
				return err
			}
		}
		name := chi.URLParam(r, "cluster")
		if err := cluster.CheckName(name); err != nil {
			return badField(http.StatusBadRequest, "cluster", reason(err))
		}
		if req.Apply {
			if err := a.notFollowed(name); err != nil {
				return err
			}
		}
		v, err := a.clusters.View(r.Context(), name, 0)
		if err != nil {
			return err
		}
		threshold := podlife.DefaultTerminatedPodThreshold
		if req.TerminatedPodThreshold != nil {
			threshold = *req.TerminatedPodThreshold
		}
		pods, nodes, err := suspects(v, threshold)
		if err != nil {
			return err
		}
		list := GarbageList{Snapshot: v.ID(), Pods: podlife.CollectGarbage(pods, nodes, threshold, orNow(req.Now))}
		if req.Apply && len(list.Pods) > 0 {
			// Only from the revision that was judged: a pod may have changed since.
			next, err := a.clusters.Change(r.Context(), name, v.Revision, nil, keysOf(list.Pods))
			if err != nil {
				return err
			}
			a.metrics.received(next)
			list.Applied = next.ID()
		}
		return writeJSON(w, http.StatusOK, list)
	})
}

func keysOf(list []podlife.Garbage) []objects.Key {
	keys := make([]objects.Key, len(list))
	for i, g := range list {
		keys[i] = objects.Key{Kind: "Pod", Namespace: g.Namespace, Name: g.Name}
	}
	return keys
}

// suspects decodes the pods that may be garbage, and the nodes that have a say. The pods that are over are left out where
// there are not too many of them, since most clusters have thousands.
func suspects(v *cluster.View, threshold int) (pods []*corev1.Pod, nodes []*corev1.Node, err error) {
	over := 0
	v.State.EachPod(func(p *engine.Pod) {
		if p.Terminal {
			over++
		}
	})
	tooMany := threshold > 0 && over > threshold
	known := map[string]bool{}
	var look []*engine.Pod
	v.State.EachPod(func(p *engine.Pod) {
		there, asked := known[p.NodeName]
		if !asked && p.NodeName != "" {
			_, there = v.Object(objects.Key{Kind: "Node", Name: p.NodeName})
			known[p.NodeName] = there
		}
		if p.Terminating || p.Terminal && tooMany || p.NodeName != "" && !there {
			look = append(look, p)
		}
	})
	for _, p := range look {
		pod, err := v.Pod(p.Namespace, p.Name)
		if errors.Is(err, store.ErrNotFound) {
			return nil, nil, fmt.Errorf("pod %s/%s is in the state of %s and not among its objects", p.Namespace, p.Name, v.ID()) // never "not found" for the caller
		}
		if err != nil {
			return nil, nil, err
		}
		pods = append(pods, pod)
	}
	for name, there := range known {
		if !there {
			continue
		}
		raw, _ := v.Object(objects.Key{Kind: "Node", Name: name})
		o, err := objects.FromCanonical("Node", raw)
		if err != nil {
			return nil, nil, fmt.Errorf("node %s in %s: %w", name, v.ID(), err)
		}
		node, ok := o.Value.(*corev1.Node)
		if !ok {
			return nil, nil, fmt.Errorf("node %s in %s: %T is no node", name, v.ID(), o.Value)
		}
		nodes = append(nodes, node)
	}
	return pods, nodes, nil
}
