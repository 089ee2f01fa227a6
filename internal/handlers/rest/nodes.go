package rest

import (
	"context"
	"fmt"
	"net/http"

	"berth/internal/handlers/exchange"
	"berth/internal/report"
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

// getNode tells the story of a node.
//
//	@Summary		One node of a cluster: its state, its room, and its pods with what they request
//	@Description	The pods come with the strongest first, so that evictions begin at the end of the list, with their controllers and the budgets that select them.
//	@Tags			clusters
//	@Produce		json
//	@Param			cluster		path		string	true	"the cluster"
//	@Param			node		path		string	true	"the node"
//	@Param			snapshot	query		string	false	"a revision of the cluster, such as prod@3; the newest if absent"
//	@Success		200			{object}	report.NodeStory
//	@Failure		400,401,403,404,409,422,429,500,503	{object}	exchange.Problem
//	@Router			/v1/clusters/{cluster}/nodes/{node} [get]
func (a *API) getNode(w http.ResponseWriter, r *http.Request) error {
	name, err := exchange.ClusterParam(r)
	if err != nil {
		return err
	}
	node, err := exchange.PathParam(r, "node")
	if err != nil {
		return err
	}
	at, err := a.asOf(r, name)
	if err != nil {
		return err
	}
	out, near, err := report.NodeOf(r.Context(), at.view, node)
	if err != nil {
		return err
	}
	if out == nil {
		text := fmt.Sprintf("%s has no node %q", at.view.ID(), node)
		if near != "" {
			text += ": did you mean " + near + "?"
		}
		return exchange.NotFound(text)
	}
	return exchange.WriteLong(w, r, out)
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
