package scenario

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/intstr"

	"berth/internal/decision"
	"berth/internal/kube/object"
	"berth/internal/world"
)

// QuotaOf is hard limits of a ResourceQuota. Others that it has stay.
type QuotaOf struct {
	Namespace string            `json:"namespace,omitempty" default:"default" example:"shop"`
	Name      string            `json:"name" example:"compute"`
	Hard      map[string]string `json:"hard" example:"pods:10,requests.cpu:20"`
} // @name SimulationQuota

// BudgetOf is what a PodDisruptionBudget wants: one of a number of pods and a share in percent.
type BudgetOf struct {
	Namespace      string              `json:"namespace,omitempty" default:"default" example:"shop"`
	Name           string              `json:"name" example:"web"`
	MinAvailable   *intstr.IntOrString `json:"minAvailable,omitempty" swaggertype:"string" example:"50%"`
	MaxUnavailable *intstr.IntOrString `json:"maxUnavailable,omitempty" swaggertype:"string" example:"1"`
} // @name SimulationBudget

func (x *scheduling) setQuota(field string, q *QuotaOf) (func() error, error) {
	if q.Name == "" || len(q.Hard) == 0 {
		return nil, decision.Errorf(decision.Malformed, field, "want the name of a ResourceQuota and its hard limits, such as pods: 10")
	}
	hard := corev1.ResourceList{}
	for name, text := range q.Hard {
		amount, err := resource.ParseQuantity(text)
		if err != nil || amount.Sign() < 0 {
			return nil, decision.Errorf(decision.Invalid, field+".hard["+name+"]", "want an amount of 0 or more, such as 10 or 20Gi")
		}
		hard[corev1.ResourceName(name)] = amount
	}
	ns := cmp.Or(q.Namespace, corev1.NamespaceDefault)
	return func() error {
		why, err := x.d.SetQuota(ns, q.Name, hard)
		x.refusedAs(world.Moment{What: "setQuota", Owner: "ResourceQuota/" + q.Name}, why)
		return err
	}, nil
}

func (x *scheduling) setBudget(field string, b *BudgetOf) (func() error, error) {
	if b.Name == "" {
		return nil, decision.Errorf(decision.Malformed, field+".name", "want the name of a PodDisruptionBudget")
	}
	if (b.MinAvailable == nil) == (b.MaxUnavailable == nil) {
		return nil, decision.Errorf(decision.Malformed, field, "want one of minAvailable and maxUnavailable")
	}
	of, name := b.MinAvailable, "minAvailable"
	if of == nil {
		of, name = b.MaxUnavailable, "maxUnavailable"
	}
	if n, err := intstr.GetScaledValueFromIntOrPercent(of, 100, true); err != nil || n < 0 || of.Type == intstr.String && n > 100 {
		return nil, decision.Errorf(decision.Invalid, field+"."+name, "want a number of 0 or more, or a share from 0%% to 100%%")
	}
	ns := cmp.Or(b.Namespace, corev1.NamespaceDefault)
	return func() error {
		why, err := x.d.SetBudget(ns, b.Name, b.MinAvailable, b.MaxUnavailable)
		x.refusedAs(world.Moment{What: "setBudget", Owner: "PodDisruptionBudget/" + b.Name}, why)
		return err
	}, nil
}

// applyJob reads a Job or a CronJob that comes, or has another spec.
func (x *scheduling) applyJob(field string, raw json.RawMessage, o object.Object) (func() error, error) {
	like, err := x.s.Editor.made(x.scratch.View, field, raw)
	if err != nil {
		return nil, err
	}
	if o.Key.Kind == "CronJob" {
		return func() error { return x.d.ApplyCronJob(o) }, nil
	}
	return func() error { return x.d.UpdateJob(o, like) }, nil
}

// apply reads an object as edits do, on the base with what events before have applied.
func (x *scheduling) apply(field string, raw json.RawMessage) (func() error, error) {
	o, err := x.s.Editor.Read(field+".apply", raw)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(world.Appliable, o.Key.Kind) {
		switch o.Key.Kind {
		case "DaemonSet":
			return x.updateDaemons(field+".apply", raw, "apply")
		case "Job", "CronJob":
			return x.applyJob(field+".apply", raw, o)
		}
		return nil, decision.Errorf(decision.Invalid, field+".apply.kind", "%s has events of its own (create, scale, ungate, setBudget), or belongs into edits: want DaemonSet, Job, CronJob or one of %s", o.Key.Kind, strings.Join(world.Appliable, ", "))
	}
	if _, there := x.scratch.View.Object(o.Key); !there && o.Key.Kind == "Node" {
		return nil, decision.Errorf(decision.Invalid, field+".apply", "there is no node %s: want addNodes for a new one", o.Key.Name)
	}
	next, err := x.s.Editor.Apply(x.ctx, x.scratch.View, field, &Edits{Apply: []json.RawMessage{raw}})
	if err != nil {
		return nil, err
	}
	x.scratch.View = next.View
	js, there := next.View.Object(o.Key)
	if !there {
		return nil, decision.Errorf(decision.Invalid, field+".apply", "%s %s is not kept", o.Key.Kind, o.Key.Name)
	}
	if o, err = object.FromCanonical(o.Key.Kind, js); err != nil {
		return nil, err
	}
	var head struct {
		Spec struct{ Taints json.RawMessage }
	}
	_ = json.Unmarshal(raw, &head) // it was read
	return func() error {
		if node, is := o.Value.(*corev1.Node); is {
			now, err := x.d.Node(node.Name)
			if err != nil {
				x.refusedAs(world.Moment{What: "apply", Node: o.Key.Name}, "nodes \""+o.Key.Name+"\" not found")
				return nil
			}
			if head.Spec.Taints == nil { // it keeps those that it has by then
				node = node.DeepCopy()
				node.Spec.Taints = now.Spec.Taints
				o.Value = node
			}
		}
		return x.d.Apply(o)
	}, nil
}
