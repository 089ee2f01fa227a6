package scenario

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/decision"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/world"
)

// Event is what happens at a time of a scenario with a clock: one thing.
type Event struct {
	// At is from the start, in whole seconds; the start if absent.
	At *metav1.Duration `json:"at,omitempty" swaggertype:"string" example:"1m30s"`
	// Create has pods come: a v1.Pod, under its own name where there is no count, or the pods of a
	// workload.
	Create *Workload `json:"create,omitempty"`
	// Delete and Evict name a pod. An eviction may be refused by a budget, once.
	Delete *PodNamed `json:"delete,omitempty"`
	Evict  *PodNamed `json:"evict,omitempty"`
	// Ungate takes scheduling gates off a pod.
	Ungate *UngateOf `json:"ungate,omitempty"`
	// Scale has a workload want another number of pods.
	Scale *ScaleTo `json:"scale,omitempty"`
	// RollOut has a workload get another template, and so new pods in the place of its old ones.
	RollOut *RollOutOf `json:"rollOut,omitempty"`
	// Drain drains nodes one after the other, as kubectl drain does.
	Drain *DrainOf `json:"drain,omitempty"`
	// Cordon and Uncordon change whether pods may come to nodes.
	Cordon   *NodeChoice `json:"cordon,omitempty"`
	Uncordon *NodeChoice `json:"uncordon,omitempty"`
	// NodesDie has the kubelets of nodes stop, NodesReturn answer again, with their containers
	// still running. RemoveNodes deletes the Node objects.
	NodesDie    *NodeChoice `json:"nodesDie,omitempty"`
	NodesReturn *NodeChoice `json:"nodesReturn,omitempty"`
	RemoveNodes *NodeChoice `json:"removeNodes,omitempty"`
	// ContainerExits ends a container, ProbeFails has a probe fail for some time. StartsIn and
	// EndsIn are how long a pod takes to start or to end, as with a slow image or hook.
	ContainerExits *ContainerExit `json:"containerExits,omitempty"`
	ProbeFails     *ProbeFailure  `json:"probeFails,omitempty"`
	StartsIn       *PodTakes      `json:"startsIn,omitempty"`
	EndsIn         *PodTakes      `json:"endsIn,omitempty"`
	// RebootNodes has nodes stop and start again, with all containers.
	RebootNodes *RebootOf `json:"rebootNodes,omitempty"`
	// AddNodes has nodes come that are Ready, with their daemon pods.
	AddNodes *AddNodes `json:"addNodes,omitempty"`
	// Taint adds a taint to nodes, Untaint takes it off.
	Taint   *TaintOf `json:"taint,omitempty"`
	Untaint *TaintOf `json:"untaint,omitempty"`
	// Apply has an object stored as an API server stores it: a DaemonSet, Job or CronJob, which
	// comes or has another spec (such as suspend), or one of a kind without an event of its own.
	Apply json.RawMessage `json:"apply,omitempty" swaggertype:"object"`
	// SetQuota changes hard limits of a ResourceQuota, SetBudget what a PodDisruptionBudget wants.
	SetQuota  *QuotaOf  `json:"setQuota,omitempty"`
	SetBudget *BudgetOf `json:"setBudget,omitempty"`
} // @name SimulationEvent

// UngateOf is a pod and the gates that it loses.
type UngateOf struct {
	PodNamed
	// Gates are their names; all if absent.
	Gates []string `json:"gates,omitempty"`
} // @name SimulationUngate

// ScaleTo is a number of pods for a workload.
type ScaleTo struct {
	Kind      string `json:"kind" enums:"Deployment,ReplicaSet,StatefulSet,Job"`
	Namespace string `json:"namespace,omitempty" example:"shop"`
	Name      string `json:"name" example:"web"`
	// Replicas is the number; of a Job it is its parallelism.
	Replicas *int `json:"replicas"`
} // @name SimulationScale

// DrainOf is a drain of nodes. Pods of DaemonSets stay, and local data is lost.
type DrainOf struct {
	NodeChoice
	// RespectBudgets false deletes pods instead of evicting them.
	RespectBudgets *bool `json:"respectBudgets,omitempty" default:"true"`
	// GracePeriodSeconds is used instead of the pods' own.
	GracePeriodSeconds *int64 `json:"gracePeriodSeconds,omitempty"`
	// Force takes pods that no controller manages, which do not come back.
	Force bool `json:"force,omitempty"`
} // @name SimulationDrain

// TaintOf is a taint of nodes.
type TaintOf struct {
	NodeChoice
	Key    string `json:"key" example:"maintenance"`
	Value  string `json:"value,omitempty"`
	Effect string `json:"effect" enums:"NoSchedule,PreferNoSchedule,NoExecute"`
} // @name SimulationTaint

// scheduling reads the events of a scenario.
type scheduling struct {
	*clocked
	ctx  context.Context
	s    *Stage
	most int
	// scratch has the nodes that earlier events add.
	scratch *Edited
	pods    []world.Arrival // of all events so far
}

// schedule has the pods of a scenario arrive and its events happen.
func (r *clocked) schedule(ctx context.Context, s *Stage, q *Request, v *revision.View) error {
	from := q.Arrivals
	from.Pending = false // they wait in the world from the start
	_, arrivals, err := from.resolve(ctx, s.Editor, v, s.Options, s.Bounds.Pods)
	if err != nil {
		return err
	}
	x := &scheduling{clocked: r, ctx: ctx, s: s, most: s.Bounds.Pods, scratch: &Edited{View: v}, pods: arrivals}
	for i := range arrivals {
		x.arrives(int64(arrivals[i].At/time.Second), eventKey(-1-len(arrivals)+i), arrivals[i])
	}
	for i := range q.Events {
		field, e := fmt.Sprintf("events[%d]", i), &q.Events[i]
		at := time.Duration(0)
		if e.At != nil {
			at = e.At.Duration
		}
		if at < 0 || at > mostSeconds*time.Second || at%time.Second != 0 {
			return decision.Errorf(decision.Invalid, field+".at", "want whole seconds from 0s to %ds, such as 1m30s", int64(mostSeconds))
		}
		do, err := x.event(field, e, int64(at/time.Second), eventKey(i))
		if err != nil {
			return err
		}
		if do != nil {
			r.d.At(int64(at/time.Second), eventKey(i), do)
		}
	}
	return nil
}

// eventKey puts a scenario's own events of an instant before all others, in their order.
func eventKey(i int) string { return fmt.Sprintf("!%010d", i+math.MaxInt32) }

// arrives has a pod arrive.
func (x *scheduling) arrives(second int64, key string, a world.Arrival) {
	x.arrivals = append(x.arrivals, world.NameOf(a.Pod))
	x.d.At(second, key, func() error {
		why, err := x.d.Arrive(a.Pod, a.Duration)
		x.refusedAs(world.Moment{What: "create", Pod: world.NameOf(a.Pod).String()}, why)
		return err
	})
}

// event returns what an event does; nil where it is scheduled already.
func (x *scheduling) event(field string, e *Event, second int64, key string) (do func() error, err error) {
	var actions []func() (func() error, error)
	add := func(given bool, read func() (func() error, error)) {
		if given {
			actions = append(actions, read)
		}
	}
	add(e.Create != nil, func() (func() error, error) { return x.create(field+".create", e.Create, second, key) })
	add(e.Delete != nil, func() (func() error, error) { return x.onPod(field+".delete", "delete", e.Delete, x.d.DeletePod) })
	add(e.Evict != nil, func() (func() error, error) { return x.onPod(field+".evict", "evict", e.Evict, x.d.EvictPod) })
	add(e.Ungate != nil, func() (func() error, error) {
		return x.onPod(field+".ungate", "ungate", &e.Ungate.PodNamed, func(n world.PodName) (string, error) { return x.d.Ungate(n, e.Ungate.Gates) })
	})
	add(e.Scale != nil, func() (func() error, error) { return x.scale(field+".scale", e.Scale) })
	add(e.RollOut != nil, func() (func() error, error) { return x.rollOut(field+".rollOut", e.RollOut) })
	add(e.Drain != nil, func() (func() error, error) { return x.drain(field+".drain", e.Drain) })
	add(e.AddNodes != nil, func() (func() error, error) { return x.addNodes(field, e.AddNodes) })
	x.onKubelets(field, e, add)
	for _, on := range []struct {
		name string
		c    *NodeChoice
		do   func(nodes []string) error
	}{
		{"cordon", e.Cordon, each(func(n string) error { return x.d.CordonNode(n, true) })},
		{"uncordon", e.Uncordon, each(func(n string) error { return x.d.CordonNode(n, false) })},
		{"nodesDie", e.NodesDie, each(x.d.Die)},
		{"nodesReturn", e.NodesReturn, x.d.Return},
		{"removeNodes", e.RemoveNodes, x.d.RemoveObjects},
	} {
		add(on.c != nil, func() (func() error, error) { return x.onNodes(field+"."+on.name, on.c, on.do) })
	}
	for _, on := range []struct {
		name  string
		t     *TaintOf
		there bool
	}{{"taint", e.Taint, true}, {"untaint", e.Untaint, false}} {
		add(on.t != nil, func() (func() error, error) { return x.taint(field+"."+on.name, on.t, on.there) })
	}
	add(!isNull(e.Apply), func() (func() error, error) { return x.apply(field, e.Apply) })
	add(e.SetQuota != nil, func() (func() error, error) { return x.setQuota(field+".setQuota", e.SetQuota) })
	add(e.SetBudget != nil, func() (func() error, error) { return x.setBudget(field+".setBudget", e.SetBudget) })
	if len(actions) != 1 {
		return nil, decision.Errorf(decision.Malformed, field, "want one of create, delete, evict, ungate, scale, rollOut, drain, cordon, uncordon, nodesDie, nodesReturn, removeNodes, addNodes, containerExits, probeFails, startsIn, endsIn, rebootNodes, taint, untaint, apply, setQuota and setBudget; it has %d", len(actions))
	}
	return actions[0]()
}

// create has the pods of a workload come: those of a StatefulSet in its order.
func (x *scheduling) create(field string, w *Workload, second int64, key string) (func() error, error) {
	had := len(x.pods)
	var err error
	if x.pods, err = x.s.Editor.podsOf(x.ctx, x.scratch.View, field, w, x.most, x.pods); err != nil {
		return nil, err
	}
	fresh := x.pods[had:]
	var head struct {
		Kind     string
		Metadata struct{ Name string }
	}
	_ = json.Unmarshal(w.Pod, &head)                                                           // it was read
	if w.Count == nil && head.Metadata.Name != "" && (head.Kind == "" || head.Kind == "Pod") { // one pod, which later events name
		fresh[0].Pod.Name = head.Metadata.Name
		fresh[0].Pod.UID = object.DerivedUID(object.Key{Kind: "Pod", Namespace: fresh[0].Pod.Namespace, Name: head.Metadata.Name})
	}
	if head.Kind != "StatefulSet" {
		for i, a := range fresh {
			x.arrives(second, fmt.Sprintf("%s/%06d", key, i), a)
		}
		return nil, nil
	}
	o, err := x.s.Editor.ofKind(field+".pod", w.Pod, "StatefulSet")
	if err != nil {
		return nil, err
	}
	set := o.Value.(*appsv1.StatefulSet)
	for i := range fresh {
		x.arrivals = append(x.arrivals, world.PodName{Namespace: fresh[i].Pod.Namespace, Name: world.OrdinalName(set, i)})
	}
	return func() error {
		if len(fresh) == 0 {
			return nil
		}
		return x.d.CreateSet(set, fresh[0].Pod, len(fresh))
	}, nil
}

// onPod reads an event about a pod.
func (x *scheduling) onPod(field, what string, p *PodNamed, do func(world.PodName) (string, error)) (func() error, error) {
	n, err := podOf(field, p)
	if err != nil {
		return nil, err
	}
	return func() error {
		why, err := do(n)
		x.refusedAs(world.Moment{What: what, Pod: n.String()}, why)
		return err
	}, nil
}

func (x *scheduling) scale(field string, s *ScaleTo) (func() error, error) {
	switch {
	case !slices.Contains([]string{"Deployment", "ReplicaSet", "StatefulSet", "Job"}, s.Kind):
		return nil, decision.Errorf(decision.Invalid, field+".kind", "want Deployment, ReplicaSet, StatefulSet or Job")
	case s.Name == "":
		return nil, decision.Errorf(decision.Malformed, field+".name", "want the name of the %s", s.Kind)
	case s.Replicas == nil || *s.Replicas < 0 || *s.Replicas > x.most:
		return nil, decision.Errorf(decision.Invalid, field+".replicas", "want a number from 0 to %d", x.most)
	}
	ns := cmp.Or(s.Namespace, corev1.NamespaceDefault)
	return func() error {
		why, err := x.d.Scale(s.Kind, ns, s.Name, *s.Replicas)
		x.refusedAs(world.Moment{What: "scale", Owner: s.Kind + "/" + s.Name}, why)
		return err
	}, nil
}

// chosen reads the nodes of an event, among which may be some that earlier events add.
func (x *scheduling) chosen(field string, c *NodeChoice) ([]string, error) {
	names, err := c.names(x.scratch.View)
	if err == nil && len(names) == 0 {
		err = decision.Errorf(decision.Malformed, "nodes", "want nodes, a selector or a zone")
	}
	return names, inList(err, field)
}

func (x *scheduling) onNodes(field string, c *NodeChoice, do func([]string) error) (func() error, error) {
	names, err := x.chosen(field, c)
	if err != nil {
		return nil, err
	}
	return func() error {
		there := make([]string, 0, len(names))
		for _, n := range names {
			if _, err := x.d.Node(n); err != nil {
				x.refusedAs(world.Moment{What: "change", Node: n}, fmt.Sprintf("nodes %q not found", n))
				continue
			}
			there = append(there, n)
		}
		return do(there)
	}, nil
}

// each does something to one node after the other.
func each(do func(string) error) func([]string) error {
	return func(names []string) error {
		for _, n := range names {
			if err := do(n); err != nil {
				return err
			}
		}
		return nil
	}
}

func (x *scheduling) taint(field string, t *TaintOf, there bool) (func() error, error) {
	effects := []string{string(corev1.TaintEffectNoSchedule), string(corev1.TaintEffectPreferNoSchedule), string(corev1.TaintEffectNoExecute)}
	switch {
	case t.Key == "":
		return nil, decision.Errorf(decision.Malformed, field+".key", "want the key of a taint")
	case !slices.Contains(effects, t.Effect):
		return nil, decision.Errorf(decision.Invalid, field+".effect", "want NoSchedule, PreferNoSchedule or NoExecute")
	}
	taint := corev1.Taint{Key: t.Key, Value: t.Value, Effect: corev1.TaintEffect(t.Effect)}
	return x.onNodes(field, &t.NodeChoice, each(func(n string) error { return x.d.TaintNode(n, taint, there) }))
}

func (x *scheduling) drain(field string, of *DrainOf) (func() error, error) {
	names, err := x.chosen(field, &of.NodeChoice)
	if err != nil {
		return nil, err
	}
	if of.GracePeriodSeconds != nil && *of.GracePeriodSeconds < 0 {
		return nil, decision.Errorf(decision.Invalid, field+".gracePeriodSeconds", "want 0 or more")
	}
	d := &draining{d: x.d, names: names, q: &DrainQuestion{
		RespectBudgets: of.RespectBudgets, GracePeriodSeconds: of.GracePeriodSeconds, DeleteEmptyDirData: true, Force: of.Force,
	}}
	x.d.drains = append(x.d.drains, d)
	return d.begin, nil
}

// inList puts the place of an event before the field that an error names.
func inList(err error, field string) error {
	if e, ok := err.(*decision.Error); ok { //nolint:errorlint // it is made here
		c := *e
		c.Field = field + "." + c.Field
		return &c
	}
	return err
}
