package handlers

import (
	"berth/internal/kube/object"
)

// extenderAPI answers kube-scheduler's calls. It is safe for concurrent use.
type extenderAPI struct {
	*admission
	clusters      Clusters
	decisions     Decisions
	binder        Binder
	strangers     strangers
	names         nameTables
	nodes         nodeCaches
	scheduledPods *object.RequestPods
	hold          Hold
}

// newExtender makes the API of kube-scheduler's calls.
func newExtender(a *admission, o Options) *extenderAPI {
	o = guard(o)
	x := &extenderAPI{
		admission: a, clusters: o.Clusters, decisions: o.Decisions, binder: o.Binder, hold: o.Hold,
		names: newNameTables(), nodes: newNodeCaches(int64(a.limits.NodesCacheBytes)),
		scheduledPods: object.NewRequestPods(a.limits.objects(), true),
	}
	if x.hold == nil {
		x.hold = neverHeld
	}
	a.budget.OnPressure(x.scheduledPods.Forget)
	return x
}

// forget drops what is kept of a cluster that was deleted.
func (a *extenderAPI) forget(cluster string) {
	a.names.Remove(cluster)
	a.nodes.Remove(cluster)
}
