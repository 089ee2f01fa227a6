package admit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"berth/internal/access"
	"berth/internal/handlers/exchange"
	"berth/internal/revision"
	"berth/internal/store"
)

// Identified wraps routes that need no right of the table: pages, which request what they show from
// routes that do.
func (a *Admission) Identified(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := a.Identify(r); err != nil {
			a.fail(w, r, REST, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Identify sets the caller of a request's context. A request that another one of this process makes
// has its caller already.
func (a *Admission) Identify(r *http.Request) error {
	if access.From(r.Context()) != nil {
		return nil
	}
	i, err := a.Callers.Identify(r)
	if err != nil {
		if tell, untold := a.denied(r, err.Error()); tell {
			a.Log.LogAttrs(r.Context(), slog.LevelWarn, "unauthenticated", slog.String("peer", access.Peer(r)), slog.String("route", exchange.RoutePattern(r)), slog.Any("error", err), untold)
		}
		return &exchange.Error{Status: http.StatusUnauthorized, Kind: "unauthenticated", Detail: strings.ReplaceAll(err.Error(), "\n", ": ")}
	}
	if named, ok := r.Context().Value(exchange.NamedKey{}).(func()); ok && i.Named() {
		named()
	}
	x := exchange.Of(r.Context())
	x.Caller, x.Asked = i, store.Asked{By: i.String(), Peer: access.Peer(r), RequestID: x.ID}
	return nil
}

// authorize refuses callers without the route's right.
func (a *Admission) authorize(r *http.Request, m *mounted) error {
	if err := a.Identify(r); err != nil {
		return err
	}
	exchange.Of(r.Context()).Need = &m.Need
	return checkRoute(r.Context(), m.Need, m.about.cluster(r))
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
		out.fallback = exchange.DefaultCluster
	}
	return out
}

// cluster is the one that the path or the query names, empty where neither does.
func (t *about) cluster(r *http.Request) string {
	if name, err := exchange.PathParam(r, "cluster"); name != "" && err == nil {
		return name
	}
	if t.byID {
		id, _ := exchange.PathParam(r, "id") // checked where it is used
		if revision.IsApart(id) {
			return "" // its job's, which is looked up
		}
		name, _, _ := strings.Cut(id, "@")
		return name
	}
	return cmp.Or(exchange.ClusterInQuery(r), t.fallback)
}

// checkRoute is the check before the body.
func checkRoute(ctx context.Context, n exchange.Need, name string) error {
	who := access.From(ctx)
	switch {
	case n.Scope == exchange.CallerAlone:
		return nil
	case n.Right == 0:
		return exchange.Internal(errors.New("a route without a right"))
	case n.Scope == exchange.AllClusters:
		return mayInAll(who, n.Right)
	case name == "":
		if !who.Grants.MaySome(n.Right, "") {
			return forbidden(n.Right, "at least one cluster")
		}
		return nil
	}
	return MayIn(ctx, name)
}

// MayAdministerAll reports why a request's caller may not see what only admins of all clusters do;
// nil where it may.
func MayAdministerAll(ctx context.Context) error {
	return mayInAll(access.From(ctx), access.Administer)
}

func mayInAll(who *access.Identity, right access.Right) error {
	if who == nil || !who.Grants.May(right, "", "") {
		return forbidden(right, "all clusters")
	}
	return nil
}

// MayIn reports why a request's caller may not do in a cluster what the request's route does; nil
// where it may. It decides by names alone, so that the answer is the same whether or not there is
// such a cluster.
func MayIn(ctx context.Context, name string) error {
	n := exchange.NeedOf(ctx)
	return mayDo(ctx, n.Right, n.Scope == exchange.SomeNamespaces, name)
}

func mayDo(ctx context.Context, right access.Right, some bool, name string) error {
	who := access.From(ctx)
	switch {
	case who == nil || right == 0:
		return exchange.Internal(errors.New("a request without a caller or a right"))
	case who.Grants.May(right, name, "") || some && who.Grants.MaySome(right, name):
		return nil
	case !who.Grants.MaySome(access.View, name):
		e := exchange.NotFound(fmt.Sprintf("there is no cluster %q that you may see", name))
		e.Denied, e.About = "hidden", name
		return e
	case who.Grants.MaySome(right, name):
		return forbiddenIn(right, name, fmt.Sprintf("all namespaces of cluster %q, which the answer would show", name))
	}
	return forbiddenIn(right, name, fmt.Sprintf("cluster %q", name))
}

func forbidden(right access.Right, where string) *exchange.Error {
	return &exchange.Error{Status: http.StatusForbidden, Kind: "forbidden", Detail: fmt.Sprintf("you need the role %s for %s; GET /v1/whoami lists yours", right, where)}
}

func forbiddenIn(right access.Right, cluster, where string) *exchange.Error {
	e := forbidden(right, where)
	e.About = cluster
	return e
}

// askedBy is the caller as log lines have it.
func askedBy(ctx context.Context) slog.Attr {
	if i := access.From(ctx); i != nil {
		return slog.String("askedBy", i.String())
	}
	return slog.Attr{}
}

// Sees reports whether a request's caller may see something of a namespace of a cluster.
func Sees(ctx context.Context, name, namespace string) bool {
	n := exchange.NeedOf(ctx)
	who := access.From(ctx)
	if n.Scope != exchange.SomeNamespaces {
		namespace = ""
	}
	return who != nil && n.Right != 0 && who.Grants.May(n.Right, name, namespace)
}

// SeesCluster reports whether the caller may see anything of a cluster.
func SeesCluster(ctx context.Context, name string) bool { return MayIn(ctx, name) == nil }
