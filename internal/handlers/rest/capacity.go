package rest

import (
	"net/http"

	"berth/internal/scenario"
)

// getCapacity measures a cluster.
//
//	@Summary		How full a cluster is, and how much of what is free its own pods could use
//	@Description	Requested and allocatable per resource, over nodes, zones and pools; what is free in total, stranded, and in pieces of the most common sizes of the cluster's pods; fragmentation; the least number of nodes that each resource by itself needs. By resources alone: taints, affinity and the like are for fit.
//	@Tags			scenarios
//	@Produce		json
//	@Param			cluster		path		string	true	"the cluster"
//	@Param			pool		query		string	false	"the label of nodes that pools are told by; that of the provider if absent"
//	@Param			snapshot	query		string	false	"a revision of the cluster, such as prod@3; the newest if absent"
//	@Success		200			{object}	scenario.Capacity
//	@Failure		400,401,403,404,429,500,503	{object}	exchange.Problem
//	@Router			/v1/clusters/{cluster}/capacity [get]
func (a *API) getCapacity(w http.ResponseWriter, r *http.Request) error {
	return measureAt(a, w, r, scenario.MeasureCapacity, "pool")
}
