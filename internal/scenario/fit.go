package scenario

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/explain/suggest"
	"berth/internal/revision"
	"berth/internal/world"
)

// fitMax is how many replicas a fit counts unless more or fewer are asked for.
const fitMax = 10_000

// FitQuestion is how many more replicas of a pod fit.
type FitQuestion struct {
	// Pod is the v1.Pod to count, or a workload (Deployment, StatefulSet, Job and so on) whose pod
	// is counted.
	Pod json.RawMessage `json:"pod" swaggertype:"object"`
	// Max ends the count; 10000 if absent.
	Max *int `json:"max,omitempty" example:"10000"`
	// By counts the values of a node label apart: zone, region, node, pool, or the label itself.
	By string `json:"by,omitempty" example:"zone"`
	// Sensitivity false leaves out the counts with one more node and with smaller requests.
	Sensitivity *bool `json:"sensitivity,omitempty" default:"true"`
	// Placements true lists the node of each replica.
	Placements bool `json:"placements,omitempty"`
	// Each adds how many replicas each node takes by itself, up to Max.
	Each string `json:"each,omitempty" enums:"node"`
	// Leader is a v1.Pod, or a workload whose pod is meant: Each adds whether it fits on the node,
	// and how many replicas fit beside it.
	Leader json.RawMessage `json:"leader,omitempty" swaggertype:"object"`
}

// Fit is how many more replicas of a pod a cluster has room for, each decided and bound after the
// one before it.
type Fit struct {
	Snapshot string          `json:"snapshot" example:"prod@1042"`
	Profile  string          `json:"profile"`
	Pod      decision.PodRef `json:"pod"`
	Count    int             `json:"count"`
	// More reports that the count ended at its maximum, not for want of room.
	More bool `json:"more,omitempty"`
	// Nodes is how many nodes got at least one.
	Nodes int `json:"nodes"`
	// By is the label whose values the domains are.
	By      string      `json:"by,omitempty" example:"topology.kubernetes.io/zone"`
	Domains []FitDomain `json:"domains,omitempty"`
	// Placements are the nodes of the replicas, in order; absent unless asked for.
	Placements []string `json:"placements,omitempty"`
	// Each is what each node takes by itself, in the order of their names; absent unless asked for.
	Each []FitNode `json:"each,omitempty"`
	// LimitedBy is the decision about the next replica; absent with more.
	LimitedBy *Limit `json:"limitedBy,omitempty"`
	// Sensitivity is the count after one change each.
	Sensitivity []Sensitivity `json:"sensitivity,omitempty"`
	// Waiting are the pods of the snapshot that wait for a node, for which no room was kept.
	Waiting  int      `json:"waiting"`
	Notes    []string `json:"notes,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	// Digest is over the nodes of all replicas, in order, and the last decision.
	Digest string `json:"digest"`
} // @name Fit

// FitDomain counts the replicas in one domain.
type FitDomain struct {
	// Domain is the label's value; empty for nodes without the label.
	Domain string `json:"domain"`
	Nodes  int    `json:"nodes"`
	Count  int    `json:"count"`
} // @name FitDomain

// Limit is why a pod gets no node, as an ordinary decision has it.
type Limit struct {
	Outcome engine.Outcome `json:"outcome" enums:"Unschedulable,Gated,Error" swaggertype:"string"`
	// Message is kube-scheduler's summary.
	Message string          `json:"message"`
	Groups  []suggest.Group `json:"groups,omitempty"`
	// Narrowed is which nodes the pod wants, and what those have against it.
	Narrowed *suggest.Narrowed `json:"narrowed,omitempty"`
} // @name FitLimit

// Sensitivity is the count after a change.
type Sensitivity struct {
	Change string `json:"change" example:"one more node like node-a1"`
	Count  int    `json:"count"`
	// Gain is the difference to the count without the change.
	Gain int `json:"gain"`
} // @name FitSensitivity

// Answer implements Question.
func (q *FitQuestion) Answer(ctx context.Context, s *Stage) (any, error) {
	most := min(fitMax, s.Bounds.Pods)
	if q.Max != nil {
		most = *q.Max
	}
	if most < 1 || most > s.Bounds.Pods {
		return nil, decision.Errorf(decision.Invalid, "max", "want a number from 1 to %d", s.Bounds.Pods)
	}
	if isNull(q.Pod) {
		return nil, decision.Errorf(decision.Malformed, "pod", "want a pod, or a workload with a pod template")
	}
	_, one := ReplicasIn(q.Pod) // the answer is how many of them
	pod, err := s.Editor.Pod(s.View, "pod", one)
	if err != nil {
		return nil, err
	}
	leader, err := q.checkEach(s)
	if err != nil {
		return nil, err
	}
	v, err := s.WithDaemons(ctx, s.Options)
	if err != nil {
		return nil, err
	}
	out, err := q.Count(ctx, v, s.Options, pod, most)
	if err == nil && q.Each != "" {
		if out.Each, err = EachOf(ctx, v, s.Options, pod, leader, most); err == nil {
			out.Digest = digestOfEach(out.Digest, out.Each)
		}
	}
	if err != nil {
		return nil, err
	}
	out.Warnings = s.warnings()
	if q.By != "" && firstLabel(v.State.Nodes(), []string{out.By}) == "" {
		out.Warnings = append(out.Warnings, "by: no node has the label "+out.By)
	}
	return out, nil
}

// Count counts replicas of a pod, up to a number. No pod is evicted for one.
func (q *FitQuestion) Count(ctx context.Context, v *revision.View, o world.Options, of *corev1.Pod, most int) (*Fit, error) {
	o.NoPreemption = true
	pod := *of
	out := &Fit{Snapshot: v.ID(), Pod: decision.PodRef{Namespace: pod.Namespace, Name: pod.Name, UID: string(pod.UID)}, By: labelOf(v.State.Nodes(), q.By)}
	if len(pod.Spec.SchedulingGates) > 0 {
		pod.Spec.SchedulingGates = nil
		out.Notes = append(out.Notes, "its scheduling gates count as removed")
	}
	profile, err := o.Profile(&pod)
	if err != nil {
		return nil, err
	}
	out.Profile = profile.Name
	active, _, _ := v.State.Waiting(decision.RunsOf(o.Profiles))
	out.Waiting = active
	c, err := count(ctx, v, o, &pod, most)
	if err != nil {
		return nil, err
	}
	out.Count, out.More, out.LimitedBy, out.Nodes, out.Digest = c.n, c.n == most, c.limit, len(c.byNode), c.sum.text()
	if q.Placements {
		out.Placements = c.placements
	}
	if q.By != "" {
		out.Domains = c.domains(v, out.By)
	}
	if (q.Sensitivity == nil || *q.Sensitivity) && !out.More {
		out.Sensitivity, err = c.sensitivity(ctx, v, o, &pod, most)
	}
	return out, err
}

// counted is a count of replicas.
type counted struct {
	n          int
	byNode     map[string]int
	limit      *Limit
	placements []string // the nodes in order
	sum        sum
}

// count binds replicas until one gets no node.
func count(ctx context.Context, v *revision.View, o world.Options, pod *corev1.Pod, most int) (*counted, error) {
	f, replicas := world.NewFork(v, o), ReplicasOf(pod)
	c := &counted{byNode: map[string]int{}, sum: newSum("berth-fit-1")}
	for i := 0; c.n < most; i++ {
		p := replicas.Pod(i)
		if v.State.Pod(p.Namespace, p.Name) != nil {
			continue // a StatefulSet's pods, or those of an earlier question, have such names
		}
		p, err := f.CreateClaims(p)
		if err != nil {
			return nil, err
		}
		at, err := f.Attempt(ctx, p)
		if err != nil {
			return nil, err
		}
		if at.Outcome != engine.Scheduled {
			if c.limit, err = why(ctx, f, at.Pod, func(*Limit) bool { return true }); err != nil {
				return nil, err
			}
			if at.Outcome == world.Failed { // by the bind of a pod that fits
				c.limit.Outcome, c.limit.Message = world.Failed, at.Message
			}
			c.sum.add(string(c.limit.Outcome), c.limit.Message)
			return c, nil
		}
		c.sum.add(at.Node)
		c.placements = append(c.placements, at.Node)
		c.byNode[at.Node]++
		c.n++
		o.Watch.Progressed("replicas", c.n, 0)
	}
	return c, nil
}

// why decides about a pod that got no node once more, and groups the nodes by what rejects them
// where the message is one to explain.
func why(ctx context.Context, f *world.Fork, pod *corev1.Pod, wanted func(*Limit) bool) (*Limit, error) {
	out := &Limit{}
	err := judge(ctx, f, pod, func(r *engine.Result) {
		if out.Outcome, out.Message = r.Outcome, explain.Message(r); wanted(out) {
			out.Groups, out.Narrowed = suggest.Groups(r, suggest.DefaultSample)
		}
	})
	var bad *decision.Error
	if errors.As(err, &bad) {
		return &Limit{Outcome: world.Failed, Message: bad.Detail}, nil
	}
	return out, err
}

// judge decides about a pod once more, and reads the result.
func judge(ctx context.Context, f *world.Fork, pod *corev1.Pod, read func(*engine.Result)) error {
	pod, _, err := decision.ResolvePriority(f.State(), pod, f.Options().Class)
	if err != nil {
		return err
	}
	r, err := f.Decide(ctx, pod)
	if err != nil {
		return err
	}
	defer r.Release()
	return r.Within(ctx, func() { read(r) })
}

// domains sums the count up by a label of the nodes.
func (c *counted) domains(v *revision.View, key string) []FitDomain {
	set := v.State.Nodes()
	byValue := map[string]*FitDomain{}
	for _, row := range set.Order() {
		n := set.Node(int(row))
		value := n.Labels[key]
		d := byValue[value]
		if d == nil {
			d = &FitDomain{Domain: value}
			byValue[value] = d
		}
		d.Nodes++
		d.Count += c.byNode[n.Name]
	}
	out := make([]FitDomain, 0, len(byValue))
	for _, d := range byValue {
		out = append(out, *d)
	}
	slices.SortFunc(out, func(a, b FitDomain) int { return cmp.Or(b.Count-a.Count, cmp.Compare(a.Domain, b.Domain)) })
	return out
}

// sensitivity counts again after single changes.
func (c *counted) sensitivity(ctx context.Context, v *revision.View, o world.Options, pod *corev1.Pod, most int) ([]Sensitivity, error) {
	var out []Sensitivity
	add := func(change string, v *revision.View, pod *corev1.Pod) error {
		with, err := count(ctx, v, o, pod, most)
		if err == nil {
			out = append(out, Sensitivity{change, with.n, with.n - c.n})
		}
		return err
	}
	if like := c.best(); like != "" {
		out := &Edited{View: v}
		if err := (&Editor{}).add(ctx, out, "", &AddNodes{Like: like, Count: new(1)}); err != nil {
			return nil, err
		}
		with, err := out.WithDaemons(ctx, o)
		if err != nil {
			return nil, err
		}
		if err := add("one more node like "+like, with, pod); err != nil {
			return nil, err
		}
	}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		if less := lessOf(pod, name); less != nil {
			if err := add("10 % less "+string(name), v, less); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// best returns the node that got most replicas, of several the first by name; empty without any.
func (c *counted) best() (best string) {
	for name, n := range c.byNode {
		if most := c.byNode[best]; n > most || n == most && name < best {
			best = name
		}
	}
	return best
}

// lessOf returns the pod with a tenth less of a resource in each request; nil where it has none.
func lessOf(pod *corev1.Pod, name corev1.ResourceName) *corev1.Pod {
	p, any := pod.DeepCopy(), false
	lower := func(list corev1.ResourceList) {
		if q, ok := list[name]; ok && !q.IsZero() {
			list[name] = *resource.NewMilliQuantity(q.MilliValue()/10*9+q.MilliValue()%10*9/10, q.Format)
			any = true
		}
	}
	for _, list := range [][]corev1.Container{p.Spec.InitContainers, p.Spec.Containers} {
		for i := range list {
			lower(list[i].Resources.Requests)
		}
	}
	if p.Spec.Resources != nil {
		lower(p.Spec.Resources.Requests)
	}
	if !any {
		return nil
	}
	return p
}
