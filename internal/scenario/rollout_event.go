package scenario

import (
	"encoding/json"
	"fmt"
	"maps"

	appsv1 "k8s.io/api/apps/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"

	"berth/internal/decision"
	"berth/internal/kube/object"
	"berth/internal/world"
)

// RollOutOf is a workload with another template: one of the three.
type RollOutOf struct {
	// Deployment is of apps/v1. Its pods take as long to start as its old ones did.
	Deployment json.RawMessage `json:"deployment,omitempty" swaggertype:"object"`
	// StatefulSet is of apps/v1. It keeps its number of pods, which are replaced from the highest
	// ordinal down to its partition.
	StatefulSet json.RawMessage `json:"statefulSet,omitempty" swaggertype:"object"`
	// DaemonSet is of apps/v1. Its pods are replaced node by node, as maxUnavailable and maxSurge
	// allow.
	DaemonSet json.RawMessage `json:"daemonSet,omitempty" swaggertype:"object"`
} // @name SimulationRollOut

// RolledOut is how an update went in a scenario with a clock. Its pods are among those that left,
// their replacements, and the others that came.
type RolledOut struct {
	Kind      string `json:"kind" enums:"Deployment,StatefulSet,DaemonSet"`
	Namespace string `json:"namespace" example:"shop"`
	Name      string `json:"name" example:"web"`
	// BeganAfterSeconds is when the update came, CompleteAfterSeconds when it was complete; absent:
	// it is not, at the end.
	BeganAfterSeconds    int64  `json:"beganAfterSeconds"`
	CompleteAfterSeconds *int64 `json:"completeAfterSeconds,omitempty"`
	// DeadlineExceededAfterSeconds is when a Deployment first reported that it exceeded its
	// progressDeadlineSeconds, which stops nothing.
	DeadlineExceededAfterSeconds *int64 `json:"deadlineExceededAfterSeconds,omitempty"`
	// LeastAvailable is the smallest number of available pods on the way (of a DaemonSet: of nodes
	// with one), MostPods the largest
	// number of pods at once, with those that are being deleted.
	LeastAvailable int `json:"leastAvailable"`
	MostPods       int `json:"mostPods"`
	// Assumed is what the snapshot does not show.
	Assumed []string `json:"assumed,omitempty"`
} // @name SimulationRolledOut

// update is one of a scenario, and what is assumed of it.
type update struct {
	*world.Update
	assumed []string
}

// rollOut reads an event in which a workload is updated.
func (x *scheduling) rollOut(field string, of *RollOutOf) (func() error, error) {
	given := 0
	for _, raw := range []json.RawMessage{of.Deployment, of.StatefulSet, of.DaemonSet} {
		if !isNull(raw) {
			given++
		}
	}
	switch {
	case given != 1:
		return nil, decision.Errorf(decision.Malformed, field, "want a deployment, a statefulSet or a daemonSet")
	case !isNull(of.StatefulSet):
		return x.updateSet(field+".statefulSet", of.StatefulSet)
	case !isNull(of.DaemonSet):
		return x.updateDaemons(field+".daemonSet", of.DaemonSet, "rollOut")
	}
	r := &rollout{}
	if err := r.accept(x.s, x.scratch.View, field+".deployment", of.Deployment); err != nil {
		return nil, err
	}
	return func() error {
		r.d = x.d
		if err := r.read(x.ctx, x.s.View); err != nil {
			return fmt.Errorf("%s: %w", field, err)
		}
		r.Listed = true
		x.updates = append(x.updates, &update{&r.Update, r.assumed})
		return x.d.RollOut(r.Deployment)
	}, nil
}

// updateSet reads an event in which a StatefulSet is updated.
func (x *scheduling) updateSet(field string, raw json.RawMessage) (func() error, error) {
	o, like, err := x.s.Editor.statefulSet(x.scratch.View, field, raw)
	if err != nil {
		return nil, err
	}
	set := o.Value.(*appsv1.StatefulSet)
	return func() error {
		u, refused, err := x.d.UpdateSet(set, like, false)
		x.refusedAs(world.Moment{What: "rollOut", Owner: "StatefulSet/" + set.Name}, refused)
		if u != nil {
			x.updates = append(x.updates, &update{u, nil})
		}
		return err
	}, nil
}

// updateDaemons reads an event in which a DaemonSet is updated, or comes where it is applied. A
// template that it has already changes no pod.
func (x *scheduling) updateDaemons(field string, raw json.RawMessage, what string) (func() error, error) {
	o, like, err := x.s.Editor.daemonSet(x.scratch.View, field, raw)
	if err != nil {
		return nil, err
	}
	same := false
	if was, there := x.scratch.View.Object(o.Key); there {
		old, err := x.s.Editor.made(x.scratch.View, field, was)
		if err != nil {
			return nil, err
		}
		same = apiequality.Semantic.DeepEqual(old.Spec, like.Spec) && maps.Equal(old.Labels, like.Labels)
	}
	if x.scratch.View, err = x.scratch.View.Fork(x.ctx, nil, []object.Object{o}); err != nil {
		return nil, err
	}
	return func() error {
		u, refused, err := x.d.UpdateDaemons(o, like, what == "apply", same)
		x.refusedAs(world.Moment{What: what, Owner: "DaemonSet/" + o.Key.Name}, refused)
		if u != nil {
			x.updates = append(x.updates, &update{u, nil})
		}
		return err
	}, nil
}

// rolledOut sums up an update.
func (u *update) rolledOut() RolledOut {
	return RolledOut{u.Kind, u.Namespace, u.Name, u.Began, u.Done, u.DeadlineExceeded, u.LeastAvailable, u.MostPods, u.assumed}
}
