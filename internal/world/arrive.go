package world

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"berth/internal/kube/object"
)

// Arrive has a pod created that no controller replaces another one by. It ends by itself once it
// has been ready for as long as it runs; with 0 it does not.
func (w *World) Arrive(p *corev1.Pod, runs time.Duration) (refused string, err error) {
	n := NameOf(p)
	if held, err := w.waitingOrStored(n); err != nil || held != nil {
		return fmt.Sprintf("pods %q already exists", n.Name), err
	}
	if OwnerOf(p) == "" { // else its controller tries again
		if refused, err := w.quotas.refuses(p); err != nil || refused != "" {
			return refused, err
		}
	}
	p = p.DeepCopy()
	p.CreationTimestamp = metav1.NewTime(w.Instant().UTC().Truncate(time.Second))
	if took, ok := StartSeconds(p); ok {
		_, err = w.Create(p, time.Duration(took)*time.Second)
	} else {
		w.assumed++
		_, err = w.Create(p, w.start)
	}
	c := w.created[n]
	c.runs = runs
	w.further(n.Namespace, c.rec)
	return "", err
}

// succeeded ends a pod whose containers have done their work.
func (w *World) succeeded(c *created, uid types.UID) error {
	if c.pod == nil || c.pod.UID != uid || c.pod.DeletionTimestamp != nil || w.Dead(c.pod.Spec.NodeName) {
		return nil
	}
	p := *c.pod
	p.Status.Phase, p.Status.Conditions = corev1.PodSucceeded, nil
	delete(w.led, NameOf(&p))
	if err := w.setStatus(c.pod, &p); err != nil {
		return err
	}
	if err := w.ended(&p); err != nil || w.jobs.jobs[keyOf(&p)] == nil {
		return err
	}
	return w.jobs.succeeded(&p)
}

// DeletePod deletes a pod as a person does. It returns why the API server refuses; empty where it
// does not.
func (w *World) DeletePod(n PodName) (refused string, err error) {
	pod, err := w.waitingOrStored(n)
	if err != nil || pod == nil {
		return fmt.Sprintf("pods %q not found", n.Name), err
	}
	return "", w.remove(pod, &Left{Cause: CauseDeletion})
}

// EvictPod evicts a pod by the Eviction API. It returns why that refuses; empty where it does not.
func (w *World) EvictPod(n PodName) (refused string, err error) {
	pod, err := w.waitingOrStored(n)
	if err != nil || pod == nil {
		return fmt.Sprintf("pods %q not found", n.Name), err
	}
	v := w.JudgeEviction(pod)
	if !v.Allowed {
		return v.Message, nil
	}
	return "", w.remove(pod, &Left{Cause: CauseEviction, Rule: &v.Rule})
}

// remove begins the end of a pod, by its own grace period. One without a node goes at once, and one
// that is being deleted goes on as it does.
func (w *World) remove(pod *corev1.Pod, rec *Left) error {
	switch {
	case pod.Spec.NodeName == "":
		return w.Leave(pod, rec, 0)
	case pod.DeletionTimestamp != nil:
		return nil
	}
	_, err := w.Evict(pod, rec, nil)
	return err
}

// Ungate takes scheduling gates off a pod that waits: those named, or all where none is. It returns
// why that cannot be; empty where it can.
func (w *World) Ungate(n PodName, gates []string) (refused string, err error) {
	for _, e := range w.queue.waiting {
		if NameOf(e.Pod) != n || e.place != waits {
			continue
		}
		p := *e.Pod
		p.Spec.SchedulingGates = slices.DeleteFunc(slices.Clone(p.Spec.SchedulingGates), func(g corev1.PodSchedulingGate) bool {
			return len(gates) == 0 || slices.Contains(gates, g.Name)
		})
		if len(p.Spec.SchedulingGates) == len(e.Pod.Spec.SchedulingGates) {
			return "it has no such gate", nil
		}
		e.Pod, e.kind, e.by, e.failed, w.queue.arrived = &p, nil, nil, false, true
		w.tellPod(PodUngated, &p, "")
		if w.State().Pod(n.Namespace, n.Name) == nil {
			return "", nil // it is stored once it is bound
		}
		return "", w.putQuietly(w.ctx, &p)
	}
	return fmt.Sprintf("no pod %q waits", n.Name), nil
}

// AddNode has a node come that is Ready, with the objects that belong to it, such as its CSINode.
func (w *World) AddNode(node *corev1.Node, with ...any) error {
	if err := w.addNode(node, with...); err != nil {
		return err
	}
	w.tell(Moment{What: NodeAdded, Node: node.Name})
	if c := w.nodes; c.zones != nil {
		c.count(node)
		c.pass()
	}
	return nil
}

// CordonNode makes a node unschedulable, or schedulable again.
func (w *World) CordonNode(name string, on bool) error {
	if on {
		w.tell(Moment{What: NodeCordoned, Node: name})
		return w.Cordon(name)
	}
	w.tell(Moment{What: NodeUncordoned, Node: name})
	return w.Uncordon(name)
}

// TaintNode adds a taint to a node, which may evict pods, or takes it off.
func (w *World) TaintNode(name string, taint corev1.Taint, on bool) error {
	what := Moment{Node: name, Why: taint.ToString()}
	if !on {
		what.What = TaintRemoved
		w.tell(what)
		return w.untaint(name, taint)
	}
	what.What = TaintAdded
	w.tell(what)
	since := metav1.NewTime(w.Instant())
	taint.TimeAdded = &since
	if taint.Key == corev1.TaintNodeOutOfService {
		w.collect(name)
	}
	if err := w.Taint(name, taint, nil); err != nil || taint.Effect != corev1.TaintEffectNoExecute {
		return err
	}
	return w.evictByTaints(name, false)
}

// Waiting returns the pods without a node, in the order of the queue, and those that wait for their
// gates.
func (w *World) Waiting() (list, gated []Waiting) {
	for _, e := range w.queue.waiting {
		switch {
		case e.place != waits:
		case w.queue.gated(e.Pod):
			gated = append(gated, Waiting{e.Pod, e.last})
		default:
			list = append(list, Waiting{e.Pod, e.last})
		}
	}
	return list, gated
}

// Due returns how many things are still to happen, without the attempts to create pods that a quota
// does not let in.
func (w *World) Due() int { return len(w.due.list) - w.quotas.futile() }

// Attempts returns how many attempts there were to place pods, and in how many passes.
func (w *World) Attempts() (attempts, waves int) { return w.queue.attempts, w.queue.waves }

// Appliable are the kinds that Apply takes, beside those that have an event of their own.
var Appliable = []string{
	"CSIDriver", "CSINode", "CSIStorageCapacity", "DeviceClass", "Namespace", "Node", "PersistentVolume",
	"PersistentVolumeClaim", "PriorityClass", "ResourceClaim", "ResourceQuota", "ResourceSlice", "Service", "StorageClass",
}

// Apply has an object stored as it is, of a kind that is appliable. A node keeps what its kubelet
// and controllers wrote: its conditions, their taints, and a cordon.
func (w *World) Apply(o object.Object) error {
	named := strings.TrimPrefix(o.Key.Namespace+"/"+o.Key.Name, "/")
	m := Moment{What: Applied, Owner: o.Key.Kind + "/" + named}
	switch v := o.Value.(type) {
	case *corev1.Node:
		w.tell(Moment{What: Applied, Node: v.Name})
		err := w.changeNode(v.Name, func(n *corev1.Node) {
			next := v.DeepCopy()
			n.Labels, n.Annotations = next.Labels, next.Annotations
			n.Status.Allocatable, n.Status.Capacity = next.Status.Allocatable, next.Status.Capacity
			own := slices.DeleteFunc(slices.Clone(n.Spec.Taints), func(t corev1.Taint) bool { return !byController(t.Key) })
			n.Spec.Taints = append(slices.DeleteFunc(next.Spec.Taints, func(t corev1.Taint) bool { return byController(t.Key) }), own...)
		})
		if err != nil {
			return err
		}
		return w.evictByTaints(v.Name, false)
	case *corev1.ResourceQuota:
		w.quotas.put(v)
		w.tell(m)
		return nil
	}
	w.tell(m)
	before, err := w.stored(o.Key)
	if err != nil {
		return err
	}
	w.changes++
	w.hear(o.Key, before, o.Value)
	if err := w.walk.Changes().Put(o.Value); err != nil {
		return fmt.Errorf("%s: %w", m.Owner, err)
	}
	w.keep(o)
	return nil
}

// stored returns an object of a kind that Apply takes, as it is now; nil where there is none.
func (w *World) stored(k object.Key) (any, error) {
	if o := w.effect(k); o != nil {
		return o, nil
	}
	js, is := w.base.Object(k)
	if !is || byBinds[k.Kind] {
		return nil, nil
	}
	o, err := object.FromCanonical(k.Kind, js)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", k.Kind, k.Name, err)
	}
	return o.Value, nil
}

// keep has views show an object that no state reads.
func (w *World) keep(o object.Object) {
	w.touch(o.Key)
	if w.applied == nil {
		w.applied = map[object.Key]any{}
	}
	w.applied[o.Key] = o.Value
}

// byController reports whether a taint of this key is written by controllers of nodes.
func byController(key string) bool { return strings.HasPrefix(key, "node.kubernetes.io/") }
