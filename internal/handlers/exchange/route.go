package exchange

import (
	"cmp"
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"

	"berth/internal/revision"
)

// RoutePattern is the matched route, never the path, which a client is free to make up.
func RoutePattern(r *http.Request) string {
	if c := chi.RouteContext(r.Context()); c != nil {
		if p := c.RoutePattern(); p != "" {
			return p
		}
	}
	return "none"
}

// PathParam returns a part of the path, unescaped: clients may write @ as %40.
func PathParam(r *http.Request, name string) (string, error) {
	if r.URL.RawPath == "" { // then the router has matched what is unescaped already
		return chi.URLParam(r, name), nil
	}
	s, err := url.PathUnescape(chi.URLParam(r, name))
	if err != nil {
		return "", BadField(http.StatusBadRequest, name, "it is not escaped as a part of a URL")
	}
	return s, nil
}

// ClusterInQuery is the cluster that the query names, empty where it does not.
func ClusterInQuery(r *http.Request) string {
	if r.URL.RawQuery == "" {
		return ""
	}
	return r.URL.Query().Get("cluster")
}

// ByCluster is the lane of calls that name their cluster in the path or, for an upload, in the
// query.
func ByCluster(r *http.Request) string {
	return cmp.Or(chi.URLParam(r, "cluster"), ClusterInQuery(r), DefaultCluster)
}

// DefaultCluster is the cluster of calls that name none.
const DefaultCluster = "default"

// ClusterParam returns the cluster in the path.
func ClusterParam(r *http.Request) (string, error) {
	name, err := PathParam(r, "cluster")
	if err != nil {
		return "", err
	}
	if err := revision.CheckName(name); err != nil {
		return "", BadField(http.StatusBadRequest, "cluster", Reason(err))
	}
	return name, nil
}
