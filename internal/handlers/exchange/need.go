package exchange

import (
	"context"

	"berth/internal/access"
)

// Scope is what a route's answer is about.
type Scope int

const (
	// WholeCluster routes answer about a whole cluster: the right has to hold in all its
	// namespaces.
	WholeCluster Scope = iota
	// SomeNamespaces routes show a caller what its namespaces hold, and mask the rest.
	SomeNamespaces
	// AllClusters routes answer about all clusters.
	AllClusters
	// CallerAlone routes answer about the caller.
	CallerAlone
	// Open routes need no identity.
	Open
)

// Need is what a route asks of its caller.
type Need struct {
	Right access.Right
	Scope Scope
}

// needKey is the key of a context's *need.
type needKey struct{}

// NeedOf returns what the route of a request's context asks of its caller.
func NeedOf(ctx context.Context) Need {
	if n, ok := ctx.Value(needKey{}).(*Need); ok {
		return *n
	}
	return Need{}
}

// AsServer is the context of work that no caller asked for.
func AsServer(ctx context.Context) context.Context {
	return context.WithValue(access.With(ctx, access.Server(), "", ""), needKey{}, &Need{access.Administer, WholeCluster})
}
