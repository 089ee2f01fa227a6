package handlers

import (
	"fmt"
	"net/http"
	"time"

	"berth/internal/cluster"
	"berth/internal/store"
)

// Cluster is a cluster that berth keeps revisions of.
type Cluster struct {
	Name string `json:"name" example:"prod"`
	// Latest is the id of the newest revision, made at CreatedAt.
	Latest    string    `json:"latest" example:"prod@1042"`
	CreatedAt time.Time `json:"createdAt"`
	Revisions int64     `json:"revisions"`
	Decisions int64     `json:"decisions"`
} // @name Cluster

// ClusterList is all clusters, by name.
type ClusterList struct {
	Items []Cluster `json:"items"`
} // @name ClusterList

func clusterOf(c store.ClusterInfo) Cluster {
	return Cluster{Name: c.Name, Latest: cluster.FormatID(c.Name, c.Newest), CreatedAt: c.CreatedAt.UTC(), Revisions: c.Revisions, Decisions: c.Decisions}
}

// listClusters lists the clusters.
//
//	@Summary	List clusters
//	@Tags		clusters
//	@Produce	json
//	@Success	200	{object}	ClusterList
//	@Failure	400,429,500,503	{object}	Problem
//	@Router		/v1/clusters [get]
func (a *API) listClusters(w http.ResponseWriter, r *http.Request) error {
	all, err := a.clusters.Clusters(r.Context())
	if err != nil {
		return err
	}
	list := ClusterList{Items: make([]Cluster, 0, len(all))}
	for _, c := range all {
		list.Items = append(list.Items, clusterOf(c))
	}
	return writeJSON(w, http.StatusOK, list)
}

// getCluster returns one cluster.
//
//	@Summary	A cluster
//	@Tags		clusters
//	@Produce	json
//	@Param		cluster	path		string	true	"the cluster"
//	@Success	200		{object}	Cluster
//	@Failure	400,404,429,500,503	{object}	Problem
//	@Router		/v1/clusters/{cluster} [get]
func (a *API) getCluster(w http.ResponseWriter, r *http.Request) error {
	c, err := a.cluster(r)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, clusterOf(c))
}

func (a *API) cluster(r *http.Request) (store.ClusterInfo, error) {
	name, err := pathParam(r, "cluster")
	if err != nil {
		return store.ClusterInfo{}, err
	}
	if err := cluster.CheckName(name); err != nil {
		return store.ClusterInfo{}, badField(http.StatusBadRequest, "cluster", reason(err))
	}
	all, err := a.clusters.Clusters(r.Context())
	if err != nil {
		return store.ClusterInfo{}, err
	}
	for _, c := range all {
		if c.Name == name {
			return c, nil
		}
	}
	return store.ClusterInfo{}, notFound(fmt.Sprintf("there is no cluster %q", name))
}

// deleteCluster removes a cluster with everything in it.
//
//	@Summary	Delete a cluster with its revisions and decisions
//	@Tags		clusters
//	@Param		cluster	path	string	true	"the cluster"
//	@Success	204
//	@Failure	400,404,429,500,503	{object}	Problem
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
	a.names.forget(c.Name)
	a.metrics.gone(c.Name)
	w.WriteHeader(http.StatusNoContent)
	return nil
}
