package revision

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/kube/object"
	"berth/internal/store"
)

// The causes of revisions.
const (
	causeUpload = "upload"
	causeChange = "change"
	causeBind   = "bind"
	// Those of the end of a hold; expired takes the pods of as many as it comes to.
	causeCommit  = "commit"
	causeRelease = "release"
	causeExpired = "expired"
)

// Bind puts a pod on a node. The pod becomes the state's object of its name,
// with spec.nodeName set and status.nominatedNodeName cleared.
type Bind struct {
	Pod  *corev1.Pod
	Node string
}

// Bound is the pod once it has a node. The argument is not written.
func Bound(pod *corev1.Pod, node string) *corev1.Pod {
	p := *pod
	p.Kind, p.APIVersion = "Pod", "v1" // spares Encode a copy
	p.Spec.NodeName = node
	p.Status.NominatedNodeName = ""
	return &p
}

// scheduled returns the conditions of a pod that has found its node: where it was
// said to wait for one, that is over. A pod about which nothing was said gets no
// condition, which keeps its bind short
// (pkg/registry/core/pod/storage setPodNodeAndMetadata).
func scheduled(conditions []corev1.PodCondition, now time.Time) []corev1.PodCondition {
	i := slices.IndexFunc(conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodScheduled && c.Status != corev1.ConditionTrue
	})
	if i < 0 {
		return conditions
	}
	out := slices.Clone(conditions)
	out[i] = corev1.PodCondition{Type: corev1.PodScheduled, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(now.Truncate(time.Second))}
	return out
}

// difference is what one revision does to its parent.
type difference struct {
	apply []object.Object
	del   []object.Key
	bind  *Bind
	// recorded is of a bind with a decision, whose record has the pod and its node.
	recorded bool
	// placed are the pods among apply whose decisions have them with their nodes.
	placed map[object.Key]bool
	cause  string
	// holds is what becomes of holds; nil: nothing does.
	holds *holdStep
}

// keys returns the objects that it touches.
func (x *difference) keys() []object.Key {
	keys := slices.Clone(x.del)
	for i := range x.apply {
		keys = append(keys, x.apply[i].Key)
	}
	if x.bind != nil {
		keys = append(keys, object.Key{Kind: "Pod", Namespace: x.bind.Pod.Namespace, Name: x.bind.Pod.Name})
	}
	return keys
}

// grow makes the next revision of a view, in memory alone.
func (m *Manager) grow(ctx context.Context, head *View, x difference) (*View, *store.Revision, error) {
	g := head.growth(ctx)
	var c change
	if err := g.difference(x.del, x.apply); err != nil {
		return nil, nil, err
	}
	c.Delete = slices.Clone(x.del)
	for _, o := range x.apply {
		c.Apply = append(c.Apply, o.JSON)
	}
	var bound object.Object
	if x.bind != nil {
		o, short, err := bindObject(g.d.inv, x.bind, head.nodeLabels(x.bind.Node), m.now())
		if err != nil {
			return nil, nil, err
		}
		if err := g.put(o); err != nil {
			return nil, nil, &InvalidError{Field: "pod", Detail: err.Error()}
		}
		if c.Bind, bound = short, o; short == nil {
			c.Apply = append(c.Apply, o.JSON)
		}
	}
	v, err := g.done()
	if err != nil {
		return nil, nil, err
	}
	v.Revision, v.CreatedAt, v.Cause, v.token, v.checkpoint = head.Revision+1, m.now(), x.cause, store.NewToken(head.Revision+1), head.checkpoint
	for _, o := range x.apply {
		v.changed += len(o.JSON)
	}
	if x.holds != nil {
		x.holds.at(v)
	}
	r, err := revisionOf(v, head.token)
	if err != nil {
		return nil, nil, err
	}
	if r.Woken, err = m.wake(ctx, head, v, x.keys()); err != nil {
		return nil, nil, err
	}
	changesOf(head.inv, &x, bound, c.Bind).into(r)
	r.Change, err = encodeChange(&c)
	return v, r, err
}

// Assumed is the pod once the apiserver has bound it to a node of the view: with
// the zone and region labels that it copies from there. The argument is not
// written.
func (v *View) Assumed(pod *corev1.Pod, node string) *corev1.Pod {
	return object.WithTopology(Bound(pod, node), v.nodeLabels(node))
}

// nodeLabels returns the labels of a node; nil where the state has no such node.
func (v *View) nodeLabels(name string) map[string]string {
	nodes := v.State.Nodes()
	row := nodes.Row(name)
	if row < 0 {
		return nil
	}
	return nodes.Node(row).Labels
}

// boundPod is the pod of a bind once it is on its node, which has these labels.
func boundPod(b *Bind, node map[string]string, now time.Time) *corev1.Pod {
	pod := object.WithTopology(Bound(b.Pod, b.Node), node)
	pod.Status.Conditions = scheduled(pod.Status.Conditions, now)
	return pod
}

// bindObject makes the pod on its node, with the node's zone and region labels.
// The short form says all where the state holds the same pod without a node.
func bindObject(inv *inventory, b *Bind, node map[string]string, now time.Time) (object.Object, *boundTo, error) {
	pod := boundPod(b, node, now)
	o, err := object.Of(pod)
	if err != nil {
		return object.Object{}, nil, fmt.Errorf("bind Pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	have := inv.get(o.Key)
	if have == nil {
		return o, nil, nil
	}
	free := *pod
	free.Spec.NodeName, free.Status.NominatedNodeName = "", b.Pod.Status.NominatedNodeName
	before, err := object.Encode(&free)
	if err != nil {
		return object.Object{}, nil, fmt.Errorf("bind %s: %w", nameOf(o.Key), err)
	}
	if !bytes.Equal(before, have.json()) {
		return o, nil, nil
	}
	return o, &boundTo{Namespace: o.Namespace, Name: o.Name, Node: b.Node}, nil
}

func revisionOf(v *View, parent string) (*store.Revision, error) {
	summary, err := v.Summary.encode()
	if err != nil {
		return nil, err
	}
	return &store.Revision{
		Cluster: v.Cluster, Number: v.Revision, Token: v.token, ParentToken: parent,
		CreatedAt: v.CreatedAt, Digest: v.Digest, Cause: v.Cause, Summary: summary,
	}, nil
}

func nameOf(k object.Key) string {
	if k.Namespace == "" {
		return k.Kind + " " + k.Name
	}
	return k.Kind + " " + k.Namespace + "/" + k.Name
}

// EpochRevision returns the change and the wakes of a revision that changes nothing, as they are
// stored.
func EpochRevision() (payload, woken []byte, err error) {
	payload, err = encodeChange(&change{})
	return payload, (&wakes{}).encode(nil), err
}
