package oracle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// Cycles is a scheduler over one cluster that runs the cycle of one pod again and again, to be
// measured. It looks at all nodes, with one goroutine.
type Cycles struct {
	cl   *cluster
	info *framework.PodInfo
	end  context.CancelFunc
}

// Open builds the scheduler under a configuration. It defaults the objects, which are its own from
// then on.
func Open(ctx context.Context, config json.RawMessage, list []any, pod *v1.Pod) (*Cycles, error) {
	o := &objects{pods: []*v1.Pod{pod}}
	for _, obj := range list {
		switch obj := obj.(type) {
		case *v1.Node:
			o.nodes = append(o.nodes, obj)
		case *v1.Pod:
			o.pods = append(o.pods, obj)
		case runtime.Object:
			o.other = append(o.other, obj)
		}
		if err := complete(obj.(runtime.Object)); err != nil {
			return nil, err
		}
	}
	for _, p := range o.pods {
		if err := o.resolvePriority(p); err != nil {
			return nil, err
		}
	}
	ctx, end := context.WithCancel(ctx)
	cl, err := newCluster(ctx, &Case{Pod: Key{Namespace: pod.Namespace, Name: pod.Name}, Config: config}, o)
	if err != nil {
		end()
		return nil, err
	}
	info, err := framework.NewPodInfo(pod)
	return &Cycles{cl, info, end}, err
}

// Close ends the scheduler.
func (c *Cycles) Close() {
	c.cl.sched.SchedulingQueue.Close()
	c.end()
}

// Schedule runs one cycle and returns the number of feasible nodes.
func (c *Cycles) Schedule(ctx context.Context) (int, error) {
	res, err := c.cl.cycle(ctx, framework.NewCycleState(), c.info)
	return res.FeasibleNodes, err
}

// Preempt runs one cycle that finds no node and tries all candidates for preemption. It returns
// the number of those with victims, and deletes nothing (framework/preemption Evaluator.Preempt,
// without prepareCandidate).
func (c *Cycles) Preempt(ctx context.Context) (int, error) {
	var state fwk.CycleState = framework.NewCycleState()
	_, err := c.cl.cycle(ctx, state, c.info)
	var fit *framework.FitError
	if !errors.As(err, &fit) {
		return 0, fmt.Errorf("the pod fits, or fails otherwise: %w", err)
	}
	plugin, ok := c.cl.plugins[names.DefaultPreemption].(*defaultpreemption.DefaultPreemption)
	if !ok {
		return 0, fmt.Errorf("the profile has no %s", names.DefaultPreemption)
	}
	potential, err := fit.Diagnosis.NodeToStatus.NodesForStatusCode(c.cl.snapshot, fwk.Unschedulable)
	if err != nil {
		return 0, err
	}
	var budgets []*policyv1.PodDisruptionBudget
	if budgets, err = c.cl.informers.Policy().V1().PodDisruptionBudgets().Lister().List(labels.Everything()); err != nil {
		return 0, err
	}
	found, _, err := plugin.Evaluator.DryRunPreemption(ctx, state, c.cl.pod, potential, budgets, 0, int32(len(potential)+1))
	if err != nil {
		return 0, err
	}
	plugin.Evaluator.SelectCandidate(ctx, found)
	return len(found), nil
}
