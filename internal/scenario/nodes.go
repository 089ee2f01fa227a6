package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/decision"
	"berth/internal/engine/explain/suggest"
	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/world"
)

// add adds nodes to the view.
func (d *Editor) add(ctx context.Context, out *Edited, field string, a *AddNodes) error {
	if err := a.of(field); err != nil {
		return err
	}
	isLike := a.Like != ""
	first, err := d.model(out.View, field, a)
	if err != nil {
		return err
	}
	var daemons []*corev1.Pod
	if isLike {
		if daemons, err = daemonsOn(out.View, first.Name); err != nil {
			return err
		}
	}
	var made []object.Object
	copies, suffix := 0, ""
	if isLike {
		suffix = "-copy"
	}
	numbered := isLike || *a.Count > 1
	for range *a.Count {
		name := first.Name
		for numbered || out.View.State.Nodes().Row(name) >= 0 { // earlier edits may have made the same
			copies++
			if name = fmt.Sprintf("%s%s-%d", first.Name, suffix, copies); out.View.State.Nodes().Row(name) < 0 {
				break
			}
		}
		out.Added = append(out.Added, name)
		list := templated(out.View.State, first, name)
		if isLike {
			list = suggest.NodeLike(out.View.State, first, name)
		}
		for _, x := range list {
			o, err := object.Of(x)
			if err != nil {
				return err
			}
			made = append(made, o)
		}
		for _, pod := range daemons {
			out.Daemons = append(out.Daemons, world.Arrival{Pod: daemonFor(pod, name)})
		}
	}
	out.View, err = out.View.Fork(ctx, nil, made)
	return err
}

// model returns the node that new ones are made of, in their shape.
func (d *Editor) model(v *revision.View, field string, a *AddNodes) (*corev1.Node, error) {
	if a.Like == "" && isNull(a.Template) {
		return a.bare(a.name), nil
	}
	if a.Like == "" {
		o, err := d.Read(field+".template", withKind(a.Template, "v1", "Node"))
		if err != nil {
			return nil, err
		}
		n, ok := o.Value.(*corev1.Node)
		if !ok {
			return nil, decision.Errorf(decision.Invalid, field+".template.kind", "want Node, not %s", o.Kind)
		}
		if n = a.on(n); n.Status.Allocatable.Pods().IsZero() {
			d.warned = append(d.warned, field+".template: status.allocatable (or capacity) has no pods: such nodes take none")
		}
		return n, nil
	}
	js, ok := v.Object(object.Key{Kind: "Node", Name: a.Like})
	if !ok {
		return nil, decision.Errorf(decision.Invalid, field+".like", "%s has no node %.253q", v.ID(), a.Like)
	}
	o, err := object.FromCanonical("Node", js)
	if err != nil {
		return nil, err
	}
	return a.on(o.Value.(*corev1.Node)), nil
}

// withKind adds kind and apiVersion to a JSON object that has neither, as a template may.
func withKind(raw json.RawMessage, apiVersion, kind string) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil || m["kind"] != nil || m["apiVersion"] != nil {
		return raw // its decoder names what is wrong
	}
	m["kind"], _ = json.Marshal(kind)
	m["apiVersion"], _ = json.Marshal(apiVersion)
	js, err := json.Marshal(m)
	if err != nil {
		return raw
	}
	return js
}

// templated returns a node made by a template, which may be that of a node as a cluster has it.
func templated(st *state.State, template *corev1.Node, name string) []metav1.Object {
	n := template.DeepCopy()
	n.Spec = suggest.NodeLike(st, template, name)[0].(*corev1.Node).Spec
	n.Name, n.Status.Conditions = name, nil
	if n.Labels == nil {
		n.Labels = map[string]string{}
	}
	n.Labels[corev1.LabelHostname] = name // as its kubelet sets it
	return []metav1.Object{n}
}

// daemonsOn returns the daemon pods of a node.
func daemonsOn(v *revision.View, node string) (out []*corev1.Pod, err error) {
	for p := range v.State.PodsOn(v.State.Nodes().Row(node)).All() {
		pod, err := v.Pod(p.Namespace, p.Name)
		if err != nil {
			return nil, err
		}
		if world.ControlledBy(pod, "DaemonSet") {
			out = append(out, pod)
		}
	}
	return out, nil
}

// daemonFor returns a daemon pod as its controller makes it for another node: with the name of that
// node in its node affinity (pkg/controller/daemon/util ReplaceDaemonSetPodNodeNameNodeAffinity).
// The scheduler places it.
func daemonFor(of *corev1.Pod, node string) *corev1.Pod {
	pod := of.DeepCopy()
	pod.Name = metav1.GetControllerOfNoCopy(pod).Name + "-" + node
	pod.UID = object.DerivedUID(object.Key{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name})
	pod.CreationTimestamp, pod.DeletionTimestamp = metav1.Time{}, nil
	pod.Spec.NodeName, pod.Status = "", corev1.PodStatus{}
	world.PinTo(pod, node)
	return pod
}

// inField puts the place of the edits before the field that a ledger's error names.
func inField(field string, err error) error {
	var invalid *revision.InvalidError
	if errors.As(err, &invalid) {
		c := *invalid
		c.Field = field + "." + c.Field
		return &c
	}
	var obj *object.InvalidError
	if errors.As(err, &obj) && obj.Path != "" && !strings.HasPrefix(obj.Path, field+".") {
		c := *obj
		c.Path, c.Remedy = field+"."+c.Path, "" // edits cannot replace
		return &c
	}
	return err
}
