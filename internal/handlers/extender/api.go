// Package extender answers kube-scheduler's extender calls, and those of shadows.
package extender

import (
	"berth/internal/handlers/admit"
	"berth/internal/kube/object"
)

// API answers kube-scheduler's calls. It is safe for concurrent use.
type API struct {
	*admit.Admission
	clusters      admit.Clusters
	decisions     admit.Decisions
	binder        admit.Binder
	strangers     strangers
	names         nameTables
	nodes         nodeCaches
	scheduledPods *object.RequestPods
	hold          admit.Hold
}

// New makes the API of kube-scheduler's calls.
func New(a *admit.Admission, o admit.Options) *API {
	o = admit.Guard(o)
	x := &API{
		Admission: a, clusters: o.Clusters, decisions: o.Decisions, binder: o.Binder, hold: o.Hold,
		names: newNameTables(), nodes: newNodeCaches(int64(a.Limits.NodesCacheBytes)),
		scheduledPods: object.NewRequestPods(a.Limits.Objects(), true),
	}
	if x.hold == nil {
		x.hold = neverHeld
	}
	a.Budget.OnPressure(x.scheduledPods.Forget)
	return x
}

// Forget drops what is kept of a cluster that was deleted.
func (a *API) Forget(cluster string) {
	a.names.Remove(cluster)
	a.nodes.Remove(cluster)
}
