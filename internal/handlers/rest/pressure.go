package rest

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"berth/internal/handlers/exchange"
	"berth/internal/podlife"
)

// NodePressureRequest asks what a kubelet does on a node that runs out of something.
type NodePressureRequest struct {
	// Config is the kubelet's configuration; its defaults if absent.
	Config podlife.EvictionConfig `json:"config,omitzero"`
	// Signals are what the kubelet observes: memory.available, allocatableMemory.available,
	// nodefs.available, nodefs.inodesFree, imagefs.available, imagefs.inodesFree, pid.available.
	Signals map[string]NodeSignal `json:"signals"`
	// Pods are those of the node, with what they use.
	Pods []EvictionCandidate `json:"pods"`
	// Now is the first pass; the server's time if absent.
	Now *time.Time `json:"now,omitempty"`
} // @name NodePressureRequest

// NodeSignal is the value of one signal.
type NodeSignal struct {
	// Available is what is left, as a quantity.
	Available json.RawMessage `json:"available" swaggertype:"string" example:"200Mi"`
	// Capacity is the whole; thresholds in percent need it.
	Capacity json.RawMessage `json:"capacity,omitempty" swaggertype:"string" example:"8Gi"`
	// Reclaimable is what deleting dead containers and unused images frees; disk signals only.
	Reclaimable json.RawMessage `json:"reclaimable,omitempty" swaggertype:"string" example:"1Gi"`
	// Since is when this was first seen; now if absent.
	Since *time.Time `json:"since,omitempty"`
} // @name NodeSignal

// NodePressure is what a kubelet does on a node that runs out of something.
type NodePressure struct {
	podlife.PressureRelief
	// Warnings are said of the objects that were posted.
	Warnings []string `json:"warnings,omitempty"`
} // @name NodePressure

// previewEvictions plays a kubelet's eviction manager.
//
//	@Summary		What a kubelet evicts under its configuration, and when
//	@Description	Returns which thresholds are met and since when, which pod is evicted in which pass, and how long the node has which condition. One pod is evicted a pass, at once for hard thresholds and after the grace period for soft ones. Usage stays the same, except for what evicted pods release.
//	@Tags			nodes
//	@Accept			json,application/yaml
//	@Produce		json
//	@Param			body	body		NodePressureRequest	true	"the kubelet's configuration, what it observes, and the node's pods with what they use"
//	@Param			fieldValidation	query		string	false	"how to treat unknown fields of the objects; Strict if absent"	Enums(Strict,Warn,Ignore)
//	@Success		200		{object}	NodePressure
//	@Failure		400,401,403,413,415,429	{object}	exchange.Problem
//	@Router			/v1/nodes/eviction [post]
func (a *API) previewEvictions(w http.ResponseWriter, r *http.Request) error {
	var req NodePressureRequest
	p, err := a.readPosted(w, r, &req)
	if err != nil {
		return err
	}
	q := podlife.Pressure{Config: req.Config, Signals: map[string]podlife.Observed{}, Now: orNow(req.Now)}
	if q.Pods, err = p.consumers(req.Pods); err != nil {
		return err
	}
	for _, signal := range slices.Sorted(maps.Keys(req.Signals)) {
		if q.Signals[signal], err = readSignal("signals["+signal+"]", req.Signals[signal]); err != nil {
			return err
		}
	}
	out, errs := podlife.Relieve(q)
	if len(errs) > 0 {
		return badFields(errs)
	}
	return exchange.WriteJSON(w, http.StatusOK, NodePressure{*out, p.warn(w)})
}

// readSignal reads the value of a signal.
func readSignal(name string, s NodeSignal) (o podlife.Observed, err error) {
	o.Since = s.Since
	for _, part := range []struct {
		key  string
		raw  json.RawMessage
		into *resource.Quantity
	}{{"available", s.Available, &o.Available}, {"capacity", s.Capacity, &o.Capacity}, {"reclaimable", s.Reclaimable, &o.Reclaimable}} {
		at := name + "." + part.key
		switch {
		case !exchange.IsNull(part.raw):
			if *part.into, err = readQuantity(at, part.raw); err != nil {
				return o, err
			}
		case part.key == "available":
			return o, exchange.BadField(http.StatusBadRequest, at, "want a quantity that is not negative, such as 1Gi")
		}
	}
	return o, nil
}
