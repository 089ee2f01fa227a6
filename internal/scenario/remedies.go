package scenario

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/engine/explain/suggest"
	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/world"
)

// Remedy is a change that helps a drain, a loss or a rollout. It was tried: the question was run
// again with it, or the pod decided on.
type Remedy struct {
	// For is what it helps: a node, a workload or a pod.
	For string `json:"for" example:"pod shop/web-1"`
	// Pods is how many more pods wait for the same reason as the one that it was tried for.
	Pods int `json:"pods,omitempty"`
	// Change is the change in words, Command what people type for it; absent where no single
	// command does it.
	Change  string `json:"change" example:"scale Deployment/checkout to 5 first"`
	Command string `json:"command,omitempty" example:"kubectl scale deployment/checkout -n pay --replicas=5"`
	// Warning is what speaks against it.
	Warning string `json:"warning,omitempty"`
} // @name ScenarioRemedy

// Remedied is part of answers that have such changes, and no part of their digests.
type Remedied struct {
	// Remedies are what would help, each tried: for the first few reasons why nodes are not
	// drained, pods are without a node, or a rollout is stuck.
	Remedies []Remedy `json:"remedies,omitempty"`
}

const (
	// mostRemedied bounds the reasons for which remedies are looked for, mostOfOne the remedies of
	// one.
	mostRemedied = 3
	mostOfOne    = 2
)

// placing returns changes that would place pods that have no node at the end, other than those of
// some kinds: for the first pod of each message. lost are nodes that are dead.
func (d *disruption) placing(ctx context.Context, pods []*world.Replacement, lost []string, not ...string) (out []Remedy, err error) {
	if len(pods) == 0 {
		return nil, nil
	}
	waiting, _ := d.Waiting()
	byName := make(map[world.PodName]*corev1.Pod, len(waiting))
	for _, w := range waiting {
		byName[world.NameOf(w.Pod)] = w.Pod
	}
	var firsts []*world.Replacement
	equal := map[string]int{}
	for _, r := range pods {
		if byName[world.PodName{Namespace: r.Namespace, Name: r.Name}] == nil {
			continue // it is gated, or gone
		}
		if equal[r.Message]++; equal[r.Message] == 1 && len(firsts) < mostRemedied {
			firsts = append(firsts, r)
		}
	}
	for _, first := range firsts {
		pod := byName[world.PodName{Namespace: first.Namespace, Name: first.Name}]
		var list []suggest.Suggestion
		err := judge(ctx, d.Fork, pod, func(r *engine.Result) {
			list = suggest.Suggest(suggest.Question{State: d.State(), Pod: pod, Profile: r.Query.Profile, Options: r.Query.Options, Object: d.object}, r)
		})
		var bad *decision.Error
		if errors.As(err, &bad) {
			continue // it cannot be decided on
		}
		if err != nil {
			return nil, err
		}
		list = slices.DeleteFunc(list, func(s suggest.Suggestion) bool {
			return s.Outcome != engine.Scheduled || slices.Contains(not, s.Kind) || slices.ContainsFunc(s.Parts, func(k string) bool { return slices.Contains(not, k) })
		})
		for _, s := range list[:min(len(list), mostOfOne)] {
			helps, err := d.elsewhere(ctx, pod, &s, lost)
			if err != nil && !errors.As(err, &bad) {
				return nil, err
			}
			if !helps {
				continue
			}
			out = append(out, Remedy{For: "pod " + world.NameOf(pod).String(), Pods: equal[first.Message] - 1, Change: s.Change, Command: s.Command, Warning: s.Warning})
		}
	}
	return out, nil
}

// elsewhere reports whether a suggestion helps while nodes are dead. A copy of a node whose zone is
// dead is tried in another zone, which the suggestion then names.
func (d *disruption) elsewhere(ctx context.Context, pod *corev1.Pod, s *suggest.Suggestion, lost []string) (helps bool, err error) {
	if s.Like == "" || s.Zone != "" || len(lost) == 0 {
		return true, nil
	}
	dead := make(map[string]bool, len(lost))
	for _, n := range lost {
		dead[n] = true
	}
	zone := func(n *state.Node) string { return n.Labels[corev1.LabelTopologyZone] }
	nodes, live := d.State().Nodes(), map[string]bool{}
	for _, row := range nodes.Order() {
		if n := nodes.Node(int(row)); !dead[n.Name] {
			live[zone(n)] = true
		}
	}
	if row := nodes.Row(s.Like); row < 0 || live[zone(nodes.Node(row))] || len(live) == 0 {
		return true, nil
	}
	other := slices.Min(slices.Collect(maps.Keys(live)))
	v, err := d.Fork.View(ctx)
	if err != nil {
		return false, err
	}
	with := &Edited{View: v}
	if err := (&Editor{}).add(ctx, with, "", &AddNodes{Like: s.Like, NodeShape: NodeShape{Zone: other}, Count: new(1)}); err != nil {
		return false, err
	}
	if v, err = with.WithDaemons(ctx, *d.quiet()); err != nil {
		return false, err
	}
	err = judge(ctx, world.NewFork(v, *d.quiet()), pod, func(r *engine.Result) { helps = r.Outcome == engine.Scheduled })
	s.Change += ", in zone " + other
	return helps, err
}

// object returns an object as it is now, for suggestions.
func (d *disruption) object(kind, namespace, name string) []byte {
	if kind == "Node" {
		if n, err := d.Node(name); err == nil {
			js, _ := json.Marshal(n) // a Node has a JSON
			return js
		}
	}
	js, _ := d.Base().Object(object.Key{Kind: kind, Namespace: namespace, Name: name})
	return js
}

// unplaced returns the pods in whose place none has a node at the end.
func (d *disruption) unplaced() (out []*world.Replacement) {
	for _, l := range d.Log() {
		if r := l.Replacement; r != nil && r.Node == "" {
			out = append(out, inNamespace(l.Namespace, r))
		}
	}
	return out
}

// inNamespace returns a replacement that names its namespace.
func inNamespace(namespace string, r *world.Replacement) *world.Replacement {
	own := *r
	own.Namespace = namespace
	return &own
}

// remedy looks for what would have nodes drained that are not, and pods placed that have no node.
func (q *DrainQuestion) remedy(ctx context.Context, d *disruption, out *Drain) (err error) {
	known := map[string]bool{}
	for _, n := range out.Nodes {
		if len(known) == mostRemedied {
			break
		}
		if n.Outcome != NodeBlocked {
			continue
		}
		b, pod, err := d.holds(n)
		if err != nil {
			return err
		}
		if b == nil || known[b.Namespace+"/"+b.Name] {
			continue
		}
		known[b.Namespace+"/"+b.Name] = true
		list, err := q.ofBudget(ctx, d, n.Name, b, pod)
		if err != nil {
			return err
		}
		out.Remedies = append(out.Remedies, list...)
	}
	list, err := d.placing(ctx, d.unplaced(), nil, "uncordon")
	out.Remedies = append(out.Remedies, list...)
	return err
}

// ofBudget returns changes after which a node is drained that a budget keeps.
func (q *DrainQuestion) ofBudget(ctx context.Context, d *disruption, node string, b *policyv1.PodDisruptionBudget, pod *corev1.Pod) (out []Remedy, err error) {
	again := *q
	again.Nodes, again.Selector, again.Zone, again.Find, again.Timeline, again.Remove = []string{node}, "", "", 0, false, nil
	try := func(change func(*disruption) error) (drained bool, err error) {
		on, err := newDisruption(ctx, world.NewFork(d.Base(), *d.quiet()), q.StartSeconds, q.Rates)
		if err != nil {
			return false, err
		}
		if err := change(on); err != nil {
			return false, err
		}
		if err := on.Finish(); err != nil {
			return false, err
		}
		nodes, err := on.drainEach(again.Nodes, &again)
		return err == nil && nodes[0].Outcome == NodeDrained, err
	}
	name := b.Namespace + "/" + b.Name
	if kind, owner, n := d.ScaledBy(pod); n > 0 {
		drained, err := try(func(on *disruption) error {
			_, err := on.Scale(kind, pod.Namespace, owner, n+1)
			return err
		})
		if err != nil {
			return nil, err
		}
		if drained {
			out = append(out, Remedy{
				For: "node " + node, Change: fmt.Sprintf("scale %s/%s from %d to %d before the drain: budget %s then lets one go", kind, owner, n, n+1, name),
				Command: fmt.Sprintf("kubectl scale %s/%s -n %s --replicas=%d", lowerKind[kind], owner, pod.Namespace, n+1),
			})
		}
	}
	drained, err := try(func(on *disruption) error {
		_, err := on.SetBudget(b.Namespace, b.Name, nil, new(intstr.FromInt32(1)))
		return err
	})
	if err == nil && drained {
		out = append(out, Remedy{
			For: "node " + node, Change: "have budget " + name + " let one pod be missing at a time (maxUnavailable 1)",
			Command: fmt.Sprintf(`kubectl patch pdb %s -n %s --type=merge -p '{"spec":{"minAvailable":null,"maxUnavailable":1}}'`, b.Name, b.Namespace),
			Warning: "it holds for all disruptions until it is set back",
		})
	}
	return out, err
}

var lowerKind = map[string]string{"Deployment": "deployment", "ReplicaSet": "replicaset", "StatefulSet": "statefulset"}

// holds returns the budget that keeps a node from being drained, and the pod that it keeps; nil
// where it is something else.
func (d *disruption) holds(n *DrainedNode) (*policyv1.PodDisruptionBudget, *corev1.Pod, error) {
	for _, p := range n.Blocked {
		pod, err := d.Current(world.PodName{Namespace: p.Namespace, Name: p.Name})
		if err != nil {
			return nil, nil, err
		}
		if b := d.BudgetOf(pod); b != nil && pod.DeletionTimestamp == nil && p.Remedy == nil {
			return b, pod, nil
		}
	}
	return nil, nil, nil
}

// quiet are the options of runs that try a remedy: they report no progress and count no choices.
func (d *disruption) quiet() *world.Options {
	o := *d.Options()
	o.Watch, o.Chance = nil, nil
	return &o
}

// remedies looks for what would have a rollout complete that is stuck.
func (r *rollout) remedies(ctx context.Context, base *revision.View) error {
	update := r.Spec.Strategy.RollingUpdate
	if update == nil || r.out.Pending == 0 {
		return nil
	}
	recreate := appsv1.DeploymentStrategy{Type: appsv1.RecreateDeploymentStrategyType}
	fewer := r.Spec.Strategy
	fewer.RollingUpdate = &appsv1.RollingUpdateDeployment{MaxSurge: update.MaxSurge, MaxUnavailable: new(intstr.FromInt32(1))}
	for _, c := range []struct {
		possible               bool
		strategy               appsv1.DeploymentStrategy
		change, patch, warning string
	}{
		{r.Unavailable == 0, fewer, "spec.strategy.rollingUpdate.maxUnavailable: 1, so that an old pod goes first and leaves its room", `{"rollingUpdate":{"maxUnavailable":1}}`, ""},
		{true, recreate, "spec.strategy.type: Recreate, which ends all old pods first", `{"type":"Recreate","rollingUpdate":null}`, "none of its pods serves until the new ones are ready"},
	} {
		if !c.possible {
			continue
		}
		again := &rollout{pod: r.pod, sameReplicas: r.sameReplicas, start: r.start, rates: r.rates}
		spec := r.Spec.DeepCopy()
		spec.Strategy = c.strategy
		again.Deployment = &world.Deployment{Update: world.Update{Kind: "Deployment", Namespace: r.Namespace, Name: r.Name}, Spec: spec}
		if err := again.play(ctx, world.NewFork(base, *r.d.quiet()), false); err != nil {
			return err
		}
		if again.out.Outcome != RolloutComplete {
			continue
		}
		r.out.Try = c.change
		r.out.Remedies = append(r.out.Remedies, Remedy{
			For: "deployment " + r.Namespace + "/" + r.Name, Change: c.change, Warning: c.warning,
			Command: fmt.Sprintf(`kubectl patch deployment %s -n %s -p '{"spec":{"strategy":%s}}'`, r.Name, r.Namespace, c.patch),
		})
		break
	}
	list, err := r.d.placing(ctx, waitingOf(r.out, r.Namespace), nil)
	r.out.Remedies = append(r.out.Remedies, list...)
	return err
}

// waitingOf returns the pods that were created for an update and have no node.
func waitingOf(out *Rollout, namespace string) (list []*world.Replacement) {
	for _, c := range out.Created {
		if c.Node == "" {
			list = append(list, inNamespace(namespace, c))
		}
	}
	return list
}
