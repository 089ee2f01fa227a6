package follow

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"berth/internal/kube/object"
	"berth/internal/revision"
)

// assumption is a pod that a revision has on a node without an event of the watch that shows it
// there.
type assumption struct {
	uid   types.UID
	node  string
	since time.Time
}

// assume returns the object to be written for one that the watch delivered. A pod that the revision
// has on a node and the watch does not was bound a moment ago, since a pod is bound once: it stays
// on its node until the event comes (pkg/scheduler/backend/cache AssumePod, AddPod).
func (t *session) assume(v *revision.View, o object.Object) (object.Object, error) {
	pod, ok := o.Value.(*corev1.Pod)
	if !ok {
		return o, nil
	}
	p := v.State.Pod(pod.Namespace, pod.Name)
	if p == nil || p.NodeName == "" || p.UID != string(pod.UID) || pod.Spec.NodeName != "" || t.refuted(o.Key, pod.UID) {
		return o, nil
	}
	assumed, err := object.Of(v.Assumed(pod, p.NodeName))
	if err != nil {
		return o, fmt.Errorf("pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return assumed, nil
}

// refuted reports whether the apiserver, when read, had the pod on no node.
func (t *session) refuted(k object.Key, uid types.UID) bool {
	a, ok := t.assumed[k]
	return ok && a.uid == uid && a.since.IsZero()
}

// checkAssumed reads pods from the apiserver that have been assumed on their node for too long:
// their server died between the record of the bind and its call. What the apiserver has is written.
func (t *session) checkAssumed(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, t.f.o.Lease)
	defer cancel()
	v, err := t.f.o.Clusters.View(limited, t.f.o.Cluster, 0)
	if err != nil {
		return // reported elsewhere
	}
	now, still := t.f.o.Clock(), map[object.Key]assumption{}
	for k, uid := range t.cache.unbound() {
		p := v.State.Pod(k.Namespace, k.Name)
		if p == nil || p.NodeName == "" || p.UID != string(uid) {
			continue
		}
		a, known := t.assumed[k]
		if !known || a.uid != uid || a.node != p.NodeName {
			a = assumption{uid, p.NodeName, now}
		}
		if !a.since.IsZero() && now.Sub(a.since) >= t.f.o.Assumed {
			a = t.verify(limited, k, a)
		}
		still[k] = a
	}
	t.assumed = still
}

// verify reads a pod from the apiserver. If it is on no node the assumption is refuted, and the pod
// pending as before.
func (t *session) verify(ctx context.Context, k object.Key, a assumption) assumption {
	var live corev1.Pod
	err := t.core.Load().Get().Namespace(k.Namespace).Resource("pods").Name(k.Name).Do(ctx).Into(&live)
	switch {
	case apierrors.IsNotFound(err):
		return a // the watch delivers the deletion
	case err != nil:
		t.f.o.Log.Warn("a bind could not be confirmed yet", slog.String("pod", k.Namespace+"/"+k.Name), slog.Any("error", err))
		return a
	case live.UID != a.uid || live.Spec.NodeName != "":
		a.since = t.f.o.Clock()
		return a
	}
	t.f.o.Log.Warn("a bind never reached the apiserver: the pod is pending again", slog.String("pod", k.Namespace+"/"+k.Name), slog.String("node", a.node))
	t.expired.Add(1)
	a.since = time.Time{}
	t.cache.requeue(k, a.uid)
	return a
}

// forgetRefuted drops the refuted assumptions of pods that are written as pending: a later bind to
// the same node is another one.
func (t *session) forgetRefuted(pending map[object.Key]event) {
	for k := range pending {
		if a, ok := t.assumed[k]; ok && a.since.IsZero() {
			delete(t.assumed, k)
		}
	}
}
