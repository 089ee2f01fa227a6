package kube

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"berth/internal/cluster"
	"berth/internal/objects"
)

// assumption is a pod that a revision has on a node, while the watch has not
// said so.
type assumption struct {
	uid   types.UID
	node  string
	since time.Time
}

// believe gives the object to be written for one that the watch told. A pod that
// the revision has on a node and the watch does not is on its node: it was bound
// a moment ago, and the event is on its way, since a pod is bound once
// (pkg/scheduler/backend/cache AssumePod, AddPod).
func (t *tenure) believe(v *cluster.View, o objects.Object) (objects.Object, error) {
	pod, ok := o.Value.(*corev1.Pod)
	if !ok {
		return o, nil
	}
	p := v.State.Pod(pod.Namespace, pod.Name)
	if p == nil || p.NodeName == "" || p.UID != string(pod.UID) || pod.Spec.NodeName != "" || t.disproved(o.Key, pod.UID) {
		return o, nil
	}
	assumed, err := objects.Of(v.Assumed(pod, p.NodeName))
	if err != nil {
		return o, fmt.Errorf("pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	return assumed, nil
}

// disproved says that the apiserver was asked, and knows nothing of a bind.
func (t *tenure) disproved(k objects.Key, uid types.UID) bool {
	a, ok := t.assumed[k]
	return ok && a.uid == uid && a.since.IsZero()
}

// doubt looks after pods that have been on their node for long without the watch
// saying so: a bind whose server died between its record and its call. The
// apiserver is asked, and what it says is written.
func (t *tenure) doubt(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, t.f.o.Lease)
	defer cancel()
	v, err := t.f.o.Clusters.View(limited, t.f.o.Cluster, 0)
	if err != nil {
		return // said elsewhere
	}
	now, still := t.f.o.Clock(), map[objects.Key]assumption{}
	for k, uid := range t.mirror.unbound() {
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

// verify asks the apiserver for a pod. Where it is on no node the assumption is
// disproved, and the pod pending as it was.
func (t *tenure) verify(ctx context.Context, k objects.Key, a assumption) assumption {
	var live corev1.Pod
	err := t.core.Load().Get().Namespace(k.Namespace).Resource("pods").Name(k.Name).Do(ctx).Into(&live)
	switch {
	case apierrors.IsNotFound(err):
		return a // the watch will say so
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
	t.mirror.again(k, a.uid)
	return a
}

// settled forgets what was disproved of pods that are written as pending: a later
// bind to the same node is another one.
func (t *tenure) settled(pending map[objects.Key]event) {
	for k := range pending {
		if a, ok := t.assumed[k]; ok && a.since.IsZero() {
			delete(t.assumed, k)
		}
	}
}
