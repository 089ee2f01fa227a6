package rest

import (
	"context"
	"net/http"

	"berth/internal/handlers/exchange"
	"berth/internal/revision"
	"berth/internal/scenario"
)

// listNodes returns the use of each node.
//
//	@Summary		What each node of a cluster has, and what its pods request
//	@Description	By name, with zone and group, for pictures and for people's own figures. One page, whatever the number of nodes.
//	@Tags			clusters
//	@Produce		json
//	@Param			cluster		path		string	true	"the cluster"
//	@Param			group		query		string	false	"the label that groups are told by, or zone, region, pool or rack; rack if absent, which is the pool where no node has one"
//	@Param			snapshot	query		string	false	"a revision of the cluster, such as prod@3; the newest if absent"
//	@Success		200			{object}	scenario.NodesUse
//	@Failure		400,401,403,404,409,422,429,500,503	{object}	exchange.Problem
//	@Router			/v1/clusters/{cluster}/nodes [get]
func (a *API) listNodes(w http.ResponseWriter, r *http.Request) error {
	return measureAt(a, w, r, scenario.MeasureNodes, "group")
}

// measureAt answers with what measure finds at the revision that the request names. The label that
// groups nodes is a parameter of the query.
func measureAt[T any](a *API, w http.ResponseWriter, r *http.Request, measure func(context.Context, *revision.View, string) (T, error), label string) error {
	name, err := exchange.ClusterParam(r)
	if err != nil {
		return err
	}
	at, err := a.asOf(r, name)
	if err != nil {
		return err
	}
	out, err := measure(r.Context(), at.view, r.URL.Query().Get(label))
	if err != nil {
		return err
	}
	return exchange.WriteLong(w, r, out)
}
