package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/kubectl/pkg/drain"
)

// happening is an event of a request: one of its fields, as SimulationEvent has them.
type happening struct {
	At                                 metav1.Duration
	Create                             *struct{ Pod json.RawMessage }
	Delete, Evict                      *named
	Ungate                             *named
	Scale                              *named
	RollOut                            map[string]json.RawMessage
	Drain, Cordon, Uncordon            *chosen
	NodesDie, NodesReturn, RemoveNodes *chosen
	Taint, Untaint                     *chosen
	StartsIn, EndsIn                   *named
	ContainerExits                     *named
	SetQuota                           *named
	SetBudget                          *named
	Apply                              json.RawMessage
}

// named is an object that an event is about, with what becomes of it.
type named struct {
	Kind, Namespace, Name        string
	Replicas                     *int
	Seconds                      *int64
	ExitCode                     *int32
	Hard                         map[string]string
	MinAvailable, MaxUnavailable any
}

// chosen are nodes that an event is about.
type chosen struct {
	Nodes              []string
	Key, Value, Effect string
	Force              bool
	RespectBudgets     *bool
	GracePeriodSeconds *int64
}

// play does to the cluster what the request's events say.
func (f *future) play(ctx context.Context, start time.Time) error {
	var list []happening
	if err := json.Unmarshal(f.Request["events"], &list); err != nil {
		return err
	}
	slices.SortStableFunc(list, func(a, b happening) int { return cmp.Compare(a.At.Duration, b.At.Duration) })
	for i := range list {
		at := start.Add(list[i].At.Duration)
		if late := time.Since(at); late > time.Second {
			return fmt.Errorf("event %d is %s late", i, late)
		}
		time.Sleep(time.Until(at))
		if err := f.happen(ctx, &list[i]); err != nil {
			return fmt.Errorf("event %d: %w", i, err)
		}
	}
	return nil
}

func (f *future) happen(ctx context.Context, h *happening) error {
	pods := func(n *named) string { return cmp.Or(n.Namespace, "default") }
	switch {
	case h.Create != nil:
		return f.applyRaw(ctx, h.Create.Pod)
	case h.Apply != nil:
		return f.applyRaw(ctx, h.Apply)
	case h.Delete != nil:
		return f.p.client.CoreV1().Pods(pods(h.Delete)).Delete(ctx, h.Delete.Name, metav1.DeleteOptions{})
	case h.Evict != nil:
		// A budget may refuse: then the pod stays, as berth's answer has it.
		_ = f.p.client.PolicyV1().Evictions(pods(h.Evict)).Evict(ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: h.Evict.Name, Namespace: pods(h.Evict)}})
		return nil
	case h.Ungate != nil:
		return f.patch(ctx, "v1", "Pod", h.Ungate, map[string]any{"spec": map[string]any{"schedulingGates": nil}})
	case h.Scale != nil:
		return f.patch(ctx, "apps/v1", h.Scale.Kind, h.Scale, map[string]any{"spec": map[string]any{"replicas": *h.Scale.Replicas}})
	case h.SetQuota != nil:
		return f.patch(ctx, "v1", "ResourceQuota", h.SetQuota, map[string]any{"spec": map[string]any{"hard": h.SetQuota.Hard}})
	case h.SetBudget != nil:
		return f.patch(ctx, "policy/v1", "PodDisruptionBudget", h.SetBudget, map[string]any{"spec": map[string]any{"minAvailable": h.SetBudget.MinAvailable, "maxUnavailable": h.SetBudget.MaxUnavailable}})
	case h.StartsIn != nil:
		f.k.take("startsIn", h.StartsIn)
	case h.EndsIn != nil:
		f.k.take("endsIn", h.EndsIn)
	case h.ContainerExits != nil:
		return f.exits(h.ContainerExits)
	case h.NodesDie != nil:
		return f.k.die(h.NodesDie.Nodes, true)
	case h.NodesReturn != nil:
		return f.k.die(h.NodesReturn.Nodes, false)
	case h.Drain != nil:
		go f.drain(ctx, h.Drain)
	case h.RollOut != nil:
		for _, raw := range h.RollOut {
			return f.applyRaw(ctx, raw)
		}
	case h.RemoveNodes != nil:
		return eachNode(h.RemoveNodes, func(n string) error { return f.p.client.CoreV1().Nodes().Delete(ctx, n, metav1.DeleteOptions{}) })
	case h.Cordon != nil:
		return eachNode(h.Cordon, func(n string) error { return f.spec(ctx, n, map[string]any{"unschedulable": true}) })
	case h.Uncordon != nil:
		return eachNode(h.Uncordon, func(n string) error { return f.spec(ctx, n, map[string]any{"unschedulable": nil}) })
	case h.Taint != nil, h.Untaint != nil:
		return f.taint(ctx, cmp.Or(h.Taint, h.Untaint), h.Taint != nil)
	default:
		return fmt.Errorf("the suite cannot do what it asks: %+v", *h)
	}
	return nil
}

func eachNode(c *chosen, do func(string) error) error {
	for _, n := range c.Nodes {
		if err := do(n); err != nil {
			return err
		}
	}
	return nil
}

func (f *future) spec(ctx context.Context, node string, spec any) error {
	js, err := json.Marshal(map[string]any{"spec": spec})
	if err == nil {
		_, err = f.p.client.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, js, metav1.PatchOptions{})
	}
	return err
}

func (f *future) taint(ctx context.Context, c *chosen, on bool) error {
	t := corev1.Taint{Key: c.Key, Value: c.Value, Effect: corev1.TaintEffect(c.Effect)}
	return eachNode(c, func(n string) error {
		node, err := f.p.client.CoreV1().Nodes().Get(ctx, n, getNow)
		if err != nil {
			return err
		}
		rest := slices.DeleteFunc(node.Spec.Taints, func(o corev1.Taint) bool { return o.MatchTaint(&t) })
		if on {
			rest = append(rest, t)
		}
		return f.spec(ctx, n, map[string]any{"taints": rest})
	})
}

// applyRaw applies an object, which may begin an update of a workload.
func (f *future) applyRaw(ctx context.Context, raw json.RawMessage) error {
	o := &unstructured.Unstructured{}
	if err := json.Unmarshal(raw, &o.Object); err != nil {
		return err
	}
	if err := f.p.apply(ctx, o); err != nil {
		return err
	}
	if k := o.GetKind(); k == "Deployment" || k == "StatefulSet" {
		r, err := f.p.resource(o)
		if err != nil {
			return err
		}
		now, err := r.Get(ctx, o.GetName(), getNow)
		if err != nil {
			return err
		}
		f.seen.rolls(k+"/"+o.GetName(), now.GetGeneration())
	}
	return nil
}

func (f *future) patch(ctx context.Context, version, kind string, n *named, change any) error {
	o := &unstructured.Unstructured{}
	o.SetAPIVersion(version)
	o.SetKind(kind)
	o.SetNamespace(n.Namespace)
	r, err := f.p.resource(o)
	if err != nil {
		return err
	}
	js, err := json.Marshal(change)
	if err == nil {
		_, err = r.Patch(ctx, n.Name, types.MergePatchType, js, metav1.PatchOptions{FieldManager: "suite"})
	}
	return err
}

// take has pods of a workload take so long from now on.
func (k *nodelets) take(what string, n *named) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.takes[what+" "+n.Kind+"/"+n.Name] = time.Duration(*n.Seconds) * time.Second
}

func (f *future) exits(n *named) error {
	f.k.mu.Lock()
	var pod *corev1.Pod
	for _, p := range f.k.pods {
		if p.Name == n.Name {
			pod = p
		}
	}
	f.k.mu.Unlock()
	if pod == nil || pod.Spec.RestartPolicy != corev1.RestartPolicyNever {
		return fmt.Errorf("no pod %s whose containers do not start again", n.Name)
	}
	f.k.exit(pod, *n.ExitCode)
	return nil
}

// drain does what kubectl drain does, with its code: all nodes are cordoned, then drained in turn.
func (f *future) drain(ctx context.Context, c *chosen) {
	h := func(n string) *drain.Helper {
		h := &drain.Helper{
			Ctx: ctx, Client: f.p.client, IgnoreAllDaemonSets: true, DeleteEmptyDirData: true, Force: c.Force, GracePeriodSeconds: -1,
			DisableEviction: c.RespectBudgets != nil && !*c.RespectBudgets, EvictErrorRetryDelay: 5 * time.Second, Out: io.Discard, ErrOut: io.Discard,
		}
		if c.GracePeriodSeconds != nil {
			h.GracePeriodSeconds = int(*c.GracePeriodSeconds)
		}
		return h
	}
	for _, n := range c.Nodes {
		node, err := f.p.client.CoreV1().Nodes().Get(ctx, n, getNow)
		if err == nil {
			err = drain.RunCordonOrUncordon(h(n), node, true)
		}
		f.seen.failed(err)
	}
	for _, n := range c.Nodes {
		if err := drain.RunNodeDrain(h(n), n); err != nil {
			f.seen.failed(err)
			return
		}
		f.seen.noted("drainEnds", "", n)
	}
}
