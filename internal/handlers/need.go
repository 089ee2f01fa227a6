package handlers

import (
	"context"

	"berth/internal/access"
)

// scope is what a route's answer is about.
type scope int

const (
	// wholeCluster routes answer about a whole cluster: the right has to hold in all its
	// namespaces.
	wholeCluster scope = iota
	// someNamespaces routes show a caller what its namespaces hold, and mask the rest.
	someNamespaces
	// allClusters routes answer about all clusters.
	allClusters
	// callerAlone routes answer about the caller.
	callerAlone
	// open routes need no identity.
	open
)

// need is what a route asks of its caller.
type need struct {
	right access.Right
	scope scope
}

// needKey is the key of a context's *need.
type needKey struct{}

// needOf returns what the route of a request's context asks of its caller.
func needOf(ctx context.Context) need {
	if n, ok := ctx.Value(needKey{}).(*need); ok {
		return *n
	}
	return need{}
}

// asServer is the context of work that no caller asked for.
func asServer(ctx context.Context) context.Context {
	return context.WithValue(access.With(ctx, access.Server(), "", ""), needKey{}, &need{access.Administer, wholeCluster})
}
