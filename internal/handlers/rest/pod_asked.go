package rest

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/access"
	"berth/internal/decision"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/semantics"
)

// askedPod is the pod that a question about its life is about, and its node.
type askedPod struct {
	*corev1.Pod
	// node is as in podlife.Ending: given and nil, it does not exist any more.
	node  *corev1.Node
	given bool
	// view is the snapshot that the pod was named in; nil: the pod was posted.
	view *revision.View
}

// askedPod reads the pod of a question: one that was posted, or one that a snapshot holds, which
// the caller has to have the right to. The node is that of the question, else that of the snapshot.
func (a *API) askedPod(r *http.Request, p *posted, raw json.RawMessage, ref *PodName, snapshot string, node json.RawMessage) (out askedPod, err error) {
	if exchange.IsNull(raw) == (ref == nil) {
		return out, exchange.BadField(http.StatusBadRequest, "pod", "one of pod and podRef is needed, and only one")
	}
	if out.node, out.given, err = p.nodeOf(node); err != nil {
		return out, err
	}
	if ref == nil {
		out.Pod, err = p.runningPod("pod", raw)
		return out, err
	}
	if ref.Name == "" {
		return out, exchange.BadField(http.StatusBadRequest, "podRef.name", "a name is needed")
	}
	key := object.Key{Kind: "Pod", Namespace: cmp.Or(ref.Namespace, corev1.NamespaceDefault), Name: ref.Name}
	if out.view, err = a.snapshotOf(r.Context(), cmp.Or(snapshot, revision.FormatID(exchange.DefaultCluster, 0)), key.Namespace); err != nil {
		return out, err
	}
	if _, ok := out.view.Object(key); !ok {
		return out, decision.Errorf(decision.NotFound, "podRef", "%s has no pod %s/%s", out.view.ID(), key.Namespace, key.Name)
	}
	if out.Pod, err = out.view.Pod(key.Namespace, key.Name); err == nil && !out.given {
		out.node, out.given = out.view.NodeOf(out.Pod)
	}
	return out, err
}

// kubeletOf is the release whose kubelet leads the life of a pod whose node does not tell: the one
// that the request names, else that of the pod's cluster.
func (a *API) kubeletOf(p *askedPod, named string) (*semantics.Release, error) {
	cluster := exchange.DefaultCluster
	if p.view != nil {
		cluster = p.view.Cluster
	}
	r, err := releaseOf("semantics", named)
	return cmp.Or(r, a.configured.Release(cluster)), err
}

// id names the snapshot that the pod is of; empty for a pod that was posted.
func (p *askedPod) id() string {
	if p.view == nil {
		return ""
	}
	return p.view.ID()
}

// snapshotOf returns the revision that the field snapshot names, for an answer about a pod of a
// namespace of it.
func (a *API) snapshotOf(ctx context.Context, id, namespace string) (*revision.View, error) {
	if revision.IsApart(id) {
		v, err := a.stateOf(ctx, "snapshot", id, "")
		if err != nil {
			return nil, err
		}
		return v, admit.MayPod(ctx, access.Decide, v.Cluster, namespace)
	}
	name, rev, err := revisionOf("snapshot", id)
	if err != nil {
		return nil, err
	}
	if err := admit.MayPod(ctx, access.Decide, name, namespace); err != nil {
		return nil, err
	}
	return a.view(ctx, name, rev)
}
