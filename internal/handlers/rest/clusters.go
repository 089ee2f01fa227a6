package rest

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"berth/internal/access"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/report"
	"berth/internal/revision"
	"berth/internal/store"
	"berth/internal/words"
)

// Cluster is a cluster that berth keeps revisions of.
type Cluster struct {
	Name string `json:"name" example:"prod"`
	// Latest is the id of the newest revision, made at CreatedAt.
	Latest    string    `json:"latest" example:"prod@1042"`
	CreatedAt time.Time `json:"createdAt"`
	Revisions int64     `json:"revisions"`
	Decisions int64     `json:"decisions"`
	// Semantics is the release of Kubernetes that decisions about the cluster follow, with the
	// gates that are not at its defaults.
	Semantics string `json:"semantics" example:"v1.36.3"`
	// Running is what the newest revision says of the releases that run the cluster, and Warnings
	// where that is another release than decisions follow. Both are of one cluster alone, not of a
	// list.
	Running  *report.Running `json:"running,omitempty"`
	Warnings []string        `json:"warnings,omitempty"`
} // @name Cluster

// ClusterList is a page of clusters, by name.
type ClusterList struct {
	Items []Cluster `json:"items"`
	// Cursor names the next page; absent on the last.
	Cursor string `json:"cursor,omitempty"`
} // @name ClusterList

func (a *API) clusterOf(c store.ClusterInfo) Cluster {
	return Cluster{Name: c.Name, Latest: revision.FormatID(c.Name, c.Newest), CreatedAt: c.CreatedAt.UTC(), Revisions: c.Revisions, Decisions: c.Decisions, Semantics: a.configured.Release(c.Name).Stamp()}
}

// listClusters lists the clusters.
//
//	@Summary	List clusters, by name
//	@Tags		clusters
//	@Produce	json
//	@Param		limit	query		int		false	"items in the page; all clusters, up to the server's max-page, if absent"
//	@Param		cursor	query		string	false	"cursor of the page before"
//	@Success	200	{object}	ClusterList
//	@Failure	400,401,403,429,500,503	{object}	exchange.Problem
//	@Router		/v1/clusters [get]
func (a *API) listClusters(w http.ResponseWriter, r *http.Request) error {
	limit := a.Limits.MaxPage
	if r.URL.Query().Has("limit") {
		var err error
		if limit, err = a.pageSize(r); err != nil {
			return err
		}
	}
	after, err := a.openCursor(r)
	if err != nil {
		return err
	}
	page, err := a.clusters.Clusters(r.Context(), store.ClusterFilter{After: after, Limit: limit + 1})
	if err != nil {
		return err
	}
	more := len(page) > limit
	page = page[:min(len(page), limit)]
	list := ClusterList{Items: make([]Cluster, 0, len(page))}
	for _, c := range page {
		list.Items = append(list.Items, a.clusterOf(c))
	}
	if more {
		list.Cursor = a.sealCursor(r, page[limit-1].Name)
	}
	return exchange.WriteJSON(w, http.StatusOK, list)
}

// getCluster returns one cluster.
//
//	@Summary	A cluster
//	@Tags		clusters
//	@Produce	json
//	@Param		cluster	path		string	true	"the cluster"
//	@Success	200		{object}	Cluster
//	@Failure	400,401,403,404,429,500,503	{object}	exchange.Problem
//	@Router		/v1/clusters/{cluster} [get]
func (a *API) getCluster(w http.ResponseWriter, r *http.Request) error {
	c, err := a.cluster(r)
	if err != nil {
		return err
	}
	out := a.clusterOf(c)
	if !admit.Sees(r.Context(), c.Name, "") { // the control plane's pods are in a namespace
		return exchange.WriteJSON(w, http.StatusOK, out)
	}
	v, err := a.clusters.View(r.Context(), c.Name, 0)
	if err != nil {
		return err
	}
	if out.Running, err = report.RunningOf(r.Context(), v); err != nil {
		return err
	}
	out.Warnings = out.Running.Mismatches(a.configured.Release(c.Name))
	return exchange.WriteJSON(w, http.StatusOK, out)
}

func (a *API) cluster(r *http.Request) (store.ClusterInfo, error) {
	name, err := exchange.ClusterParam(r)
	if err != nil {
		return store.ClusterInfo{}, err
	}
	found, err := a.clusters.Clusters(r.Context(), store.ClusterFilter{Name: name})
	if err != nil {
		return store.ClusterInfo{}, err
	}
	if len(found) == 0 {
		return store.ClusterInfo{}, a.noCluster(r.Context(), name)
	}
	return found[0], nil
}

// namedClusters is how many clusters a refusal names.
const namedClusters = 10

// noCluster is that there is no cluster of a name, with the one that was meant, or those that the
// caller may see.
func (a *API) noCluster(ctx context.Context, name string) error {
	text := fmt.Sprintf("there is no cluster %q", name)
	list, err := a.clusters.Clusters(ctx, store.ClusterFilter{Limit: a.Limits.MaxPage})
	if err != nil || len(list) == 0 {
		return exchange.NotFound(text)
	}
	names := make([]string, len(list))
	for i := range list {
		names[i] = list[i].Name
	}
	if near, ok := words.Nearest(name, names); ok {
		return exchange.NotFound(text + ": did you mean " + near + "?")
	}
	more := ""
	if len(names) > namedClusters {
		names, more = names[:namedClusters], " and others"
	}
	return exchange.NotFound(text + "; there are: " + strings.Join(names, ", ") + more)
}

// checkCluster refuses a list without rows that is about a cluster of which there is nothing,
// neither a revision nor a decision; an empty name is of all clusters.
func (a *API) checkCluster(ctx context.Context, name string, rows int) error {
	if name == "" || rows > 0 {
		return nil
	}
	found, err := a.clusters.Clusters(ctx, store.ClusterFilter{Name: name})
	if err != nil || len(found) > 0 {
		return err
	}
	decided, err := a.decisions.List(ctx, store.DecisionFilter{Cluster: name, Limit: 1})
	if err != nil || len(decided) > 0 {
		return err
	}
	return a.noCluster(ctx, name)
}

// roomForCluster refuses a cluster that would be one too many. Uploads of several new ones at the
// same moment may pass the limit by their number.
func (a *API) roomForCluster(ctx context.Context, name string) error {
	found, err := a.clusters.Clusters(ctx, store.ClusterFilter{Name: name})
	if err != nil || len(found) > 0 {
		return err
	}
	n, err := a.clusters.Count(ctx)
	if err == nil && n >= a.Limits.MaxClusters {
		return exchange.TooLarge("max-clusters", fmt.Sprintf("there are %d clusters, and the limit is max-clusters=%d; delete some that are not needed", n, a.Limits.MaxClusters))
	}
	most, by := a.Limits.CallerClusters, exchange.IdentityOf(ctx)
	if err != nil || most == 0 || by == "" || by == access.KindServer {
		return err
	}
	own, err := a.clusters.Clusters(ctx, store.ClusterFilter{CreatedBy: by, Limit: most})
	if err == nil && len(own) >= most {
		return exchange.TooLarge("caller-clusters", fmt.Sprintf("%s has made %d clusters, and the limit is caller-clusters=%d; delete some that are not needed", by, len(own), most))
	}
	return err
}

// deleteCluster removes a cluster with everything in it.
//
//	@Summary	Delete a cluster with its revisions and decisions
//	@Tags		clusters
//	@Param		cluster	path	string	true	"the cluster"
//	@Success	204
//	@Failure	400,401,403,404,429,500,503	{object}	exchange.Problem
//	@Router		/v1/clusters/{cluster} [delete]
func (a *API) deleteCluster(w http.ResponseWriter, r *http.Request) error {
	c, err := a.cluster(r)
	if err != nil {
		return err
	}
	if err := a.notFollowed(c.Name); err != nil {
		return err
	}
	if err := a.clusters.DeleteCluster(r.Context(), c.Name); err != nil {
		return err
	}
	a.priorityClasses.Gone(r.Context(), c.Name)
	a.decisions.Gone(c.Name)
	a.gone(c.Name)
	a.Metrics.Gone(c.Name)
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// notFollowed refuses to change a cluster by hand whose state comes from its apiserver: the next
// event would say otherwise.
func (a *API) notFollowed(cluster string) error {
	if !a.followed(cluster) {
		return nil
	}
	return &exchange.Error{Status: http.StatusConflict, Kind: "followed", Detail: fmt.Sprintf("cluster %s is followed through its apiserver: change it there", cluster)}
}
