package handlers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"berth/internal/access"
	"berth/internal/store"
)

// identified wraps routes that need no right of the table: pages, which request what they show from
// routes that do.
func (a *admission) identified(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := a.identify(r); err != nil {
			a.fail(w, r, rest, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// identify sets the caller of a request's context. A request that another one of this process makes
// has its caller already.
func (a *admission) identify(r *http.Request) error {
	if access.From(r.Context()) != nil {
		return nil
	}
	i, err := a.callers.Identify(r)
	if err != nil {
		if tell, untold := a.denied(r, err.Error()); tell {
			a.log.LogAttrs(r.Context(), slog.LevelWarn, "unauthenticated", slog.String("peer", access.Peer(r)), slog.String("route", routePattern(r)), slog.Any("error", err), untold)
		}
		return &Error{Status: http.StatusUnauthorized, Kind: "unauthenticated", Detail: strings.ReplaceAll(err.Error(), "\n", ": ")}
	}
	if named, ok := r.Context().Value(NamedKey{}).(func()); ok && i.Named() {
		named()
	}
	x := exchangeOf(r.Context())
	x.caller, x.asked = i, store.Asked{By: i.String(), Peer: access.Peer(r), RequestID: x.id}
	return nil
}

// authorize refuses callers without the route's right.
func (a *admission) authorize(r *http.Request, m *mounted) error {
	if err := a.identify(r); err != nil {
		return err
	}
	exchangeOf(r.Context()).need = &m.need
	return checkRoute(r.Context(), m.need, m.about.cluster(r))
}

// about describes which cluster the requests of a route are about.
type about struct {
	// byID is set where the id in the path is of a snapshot, which names the cluster.
	byID bool
	// fallback is what requests are about that name none.
	fallback string
}

func aboutOf(method, pattern string) about {
	out := about{byID: strings.HasPrefix(pattern, "/v1/snapshots/{id}")}
	extends := method == http.MethodPost && !strings.HasPrefix(pattern, "/v1/")
	if extends || pattern == "/v1/snapshots" || strings.HasPrefix(pattern, "/v1/priorityclasses") {
		out.fallback = defaultCluster
	}
	return out
}

// cluster is the one that the path or the query names, empty where neither does.
func (t *about) cluster(r *http.Request) string {
	if name, err := pathParam(r, "cluster"); name != "" && err == nil {
		return name
	}
	if t.byID {
		id, _ := pathParam(r, "id") // checked where it is used
		name, _, _ := strings.Cut(id, "@")
		return name
	}
	return cmp.Or(clusterInQuery(r), t.fallback)
}

// checkRoute is the check before the body.
func checkRoute(ctx context.Context, n need, name string) error {
	who := access.From(ctx)
	switch {
	case n.scope == callerAlone:
		return nil
	case n.right == 0:
		return internal(errors.New("a route without a right"))
	case n.scope == allClusters:
		if !who.Grants.May(n.right, "", "") {
			return forbidden(n.right, "all clusters")
		}
		return nil
	case name == "":
		if !who.Grants.MaySome(n.right, "") {
			return forbidden(n.right, "at least one cluster")
		}
		return nil
	}
	return mayIn(ctx, name)
}

// mayIn reports why a request's caller may not do in a cluster what the request's route does; nil
// where it may. It decides by names alone, so that the answer is the same whether or not there is
// such a cluster.
func mayIn(ctx context.Context, name string) error {
	n := needOf(ctx)
	return mayDo(ctx, n.right, n.scope == someNamespaces, name)
}

func mayDo(ctx context.Context, right access.Right, some bool, name string) error {
	who := access.From(ctx)
	switch {
	case who == nil || right == 0:
		return internal(errors.New("a request without a caller or a right"))
	case who.Grants.May(right, name, "") || some && who.Grants.MaySome(right, name):
		return nil
	case !who.Grants.MaySome(access.View, name):
		return notFound(fmt.Sprintf("there is no cluster %q that you may see", name))
	case who.Grants.MaySome(right, name):
		return forbidden(right, fmt.Sprintf("all namespaces of cluster %q, which the answer would show", name))
	}
	return forbidden(right, fmt.Sprintf("cluster %q", name))
}

func forbidden(right access.Right, where string) *Error {
	return &Error{Status: http.StatusForbidden, Kind: "forbidden", Detail: fmt.Sprintf("you need the role %s for %s; GET /v1/whoami lists yours", right, where)}
}

// askedBy is the caller as log lines have it.
func askedBy(ctx context.Context) slog.Attr {
	if i := access.From(ctx); i != nil {
		return slog.String("askedBy", i.String())
	}
	return slog.Attr{}
}

// sees reports whether a request's caller may see something of a namespace of a cluster.
func sees(ctx context.Context, name, namespace string) bool {
	n := needOf(ctx)
	who := access.From(ctx)
	if n.scope != someNamespaces {
		namespace = ""
	}
	return who != nil && n.right != 0 && who.Grants.May(n.right, name, namespace)
}

// seesCluster reports whether the caller may see anything of a cluster.
func seesCluster(ctx context.Context, name string) bool { return mayIn(ctx, name) == nil }
