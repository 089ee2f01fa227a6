package oracle

import (
	"context"
	"errors"
	"fmt"
	"slices"

	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// Judge gives upstream's verdict on a case. An error means that the case
// could not be put to upstream at all, never that the pod doesn't fit.
func Judge(ctx context.Context, c *Case) (*Verdict, error) {
	o, err := decode(c.Objects)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cl, err := newCluster(ctx, c, o)
	if err != nil {
		return nil, err
	}
	defer cl.sched.SchedulingQueue.Close()
	all, err := cl.snapshot.List()
	if err != nil {
		return nil, err
	}
	v := &Verdict{Nodes: len(all)}
	if cl.gated(ctx, v) {
		return v, nil
	}
	// The real cycle first: its result is what everything below must agree with.
	info, err := framework.NewPodInfo(cl.pod)
	if err != nil {
		return nil, err
	}
	state := framework.NewCycleState()
	result, err := cl.cycle(ctx, state, info)
	var fit *framework.FitError
	switch {
	case err == nil:
		v.Outcome = Scheduled
		if err := cl.scheduled(ctx, v, result); errors.Is(err, errPanics) {
			return &Verdict{Outcome: Failed, Message: err.Error(), Nodes: v.Nodes}, nil
		} else if err != nil {
			return v, err
		}
		return v, nil
	case errors.Is(err, scheduler.ErrNoNodesAvailable):
		v.Outcome, v.Message = Unschedulable, err.Error()
		return v, nil
	case errors.As(err, &fit):
		v.Outcome, v.Message = Unschedulable, fit.Error()
		v.Failures = cl.failures(fit.Diagnosis.NodeToStatus.Get, nil)
		return v, cl.postFilter(ctx, v, state, fit)
	default:
		v.Outcome, v.Message = Failed, err.Error()
		return v, nil
	}
}

// Invalid lists what upstream's validation would refuse in the case's pods
// and nodes; such a case can't exist in a cluster.
func Invalid(c *Case) ([]string, error) {
	o, err := decode(c.Objects)
	if err != nil {
		return nil, err
	}
	return o.invalid, nil
}

// gated runs the PreEnqueue plugins, in the queue's place.
func (cl *cluster) gated(ctx context.Context, v *Verdict) bool {
	for _, pl := range cl.framework.PreEnqueuePlugins() {
		if s := pl.PreEnqueue(ctx, cl.pod); !s.IsSuccess() && pl.Name() == "SchedulingGates" {
			v.Outcome, v.Message = Gated, s.Message()
			for _, g := range cl.pod.Spec.SchedulingGates {
				v.Gates = append(v.Gates, g.Name)
			}
			return true
		}
		if s := pl.PreEnqueue(ctx, cl.pod); !s.IsSuccess() && pl.Name() == names.DynamicResources {
			v.Outcome, v.Message = Gated, s.Message()
			return true
		}
	}
	return false
}

// scheduled fills in who failed and who scored what, for a cycle that found a
// node. The cycle keeps neither, so its steps are taken again one by one.
func (cl *cluster) scheduled(ctx context.Context, v *Verdict, result scheduler.ScheduleResult) error {
	state := framework.NewCycleState()
	pre, status, plugins := cl.framework.RunPreFilterPlugins(ctx, state, cl.pod)
	if !status.IsSuccess() {
		return fmt.Errorf("PreFilter now says %v, but the cycle chose %s", status, result.SuggestedHost)
	}
	// A nominated node is judged first, even one that PreFilter has left out; a
	// failure keeps its own status and joins the plugins of the leftOut text.
	statuses := map[string]*fwk.Status{}
	if nominated := cl.pod.Status.NominatedNodeName; nominated != "" {
		if n, err := cl.snapshot.Get(nominated); err == nil {
			s := cl.framework.RunFilterPluginsWithNominatedPods(ctx, state, cl.pod, n)
			if s.IsSuccess() {
				v.Nominated = true
				v.Feasible, v.Best = []string{nominated}, []string{nominated}
				return cl.allotted(ctx, state, v)
			}
			statuses[nominated] = s
			if plugins != nil {
				plugins.Insert(s.Plugin())
			}
		}
	}
	all, err := cl.snapshot.List()
	if err != nil {
		return err
	}
	var feasible []fwk.NodeInfo
	for _, n := range all {
		name := n.Node().Name
		if !pre.AllNodes() && !pre.NodeNames.Has(name) {
			if statuses[name] == nil {
				statuses[name] = fwk.NewStatus(fwk.UnschedulableAndUnresolvable, leftOut(plugins.UnsortedList()))
			}
			continue
		}
		s := cl.framework.RunFilterPluginsWithNominatedPods(ctx, state, cl.pod, n)
		if s.IsSuccess() {
			feasible = append(feasible, n)
			v.Feasible = append(v.Feasible, name)
		} else {
			statuses[name] = s
		}
	}
	slices.Sort(v.Feasible)
	v.Failures = cl.failures(func(n string) *fwk.Status { return statuses[n] }, v.Feasible)
	if len(feasible) == 1 {
		v.Best = v.Feasible
	} else if err := cl.score(ctx, state, v, feasible); err != nil {
		return err
	}
	// Where nothing scores the cycle stops at the first node that it finds.
	first := result.FeasibleNodes == 1 && !cl.framework.HasScorePlugins()
	if len(feasible) != result.FeasibleNodes && !first || !slices.Contains(v.Best, result.SuggestedHost) {
		return fmt.Errorf("the oracle disagrees with itself: cycle chose %s of %d, steps found best %v of %v",
			result.SuggestedHost, result.FeasibleNodes, v.Best, v.Feasible)
	}
	return cl.allotted(ctx, state, v)
}

// leftOut is the text of a node that PreFilter narrowed away, as a successful
// cycle would have recorded it.
func leftOut(plugins []string) string {
	slices.Sort(plugins)
	return fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", plugins)
}

// failures groups the nodes by their status, leaving out the feasible ones.
func (cl *cluster) failures(of func(string) *fwk.Status, feasible []string) []Failure {
	all, err := cl.snapshot.List()
	if err != nil {
		return nil
	}
	groups := map[string]*Failure{}
	var keys []string
	for _, n := range all {
		name := n.Node().Name
		if slices.Contains(feasible, name) {
			continue
		}
		s := of(name)
		f := Failure{Plugin: s.Plugin(), Code: s.Code().String(), Reasons: slices.Sorted(slices.Values(s.Reasons()))}
		key := fmt.Sprintf("%s\n%s\n%q", f.Plugin, f.Code, f.Reasons)
		if groups[key] == nil {
			groups[key] = &f
			keys = append(keys, key)
		}
		groups[key].Nodes = append(groups[key].Nodes, name)
	}
	slices.Sort(keys)
	out := make([]Failure, 0, len(keys))
	for _, k := range keys {
		slices.Sort(groups[k].Nodes)
		out = append(out, *groups[k])
	}
	return out
}
