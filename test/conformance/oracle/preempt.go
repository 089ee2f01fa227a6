package oracle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	policylisters "k8s.io/client-go/listers/policy/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultpreemption"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	"k8s.io/kubernetes/pkg/scheduler/framework/preemption"
)

// tries bounds how often a two-way choice is repeated to see whether upstream
// leaves it to chance: a fair coin hides a side with probability 2^-64.
const tries = 64

// errDryRun is the error when a filter failed while victims were looked for, and that
// none were found elsewhere: then upstream has no answer but the error.
var errDryRun = errors.New("dry run")

// preempts reports whether DefaultPreemption is on where a pod fits nowhere: it may be on
// for the queue alone.
func (cl *cluster) preempts() bool {
	return slices.ContainsFunc(cl.framework.ListPlugins().PostFilter.Enabled, func(p config.Plugin) bool { return p.Name == names.DefaultPreemption })
}

// failsBefore reports whether the phase ends before DefaultPreemption: DynamicResources stands in
// front of it and has no PreFilter state, since it is off at PreFilter (framework.go
// RunPostFilterPlugins).
func (cl *cluster) failsBefore() bool {
	listed := cl.framework.ListPlugins()
	is := func(name string) func(config.Plugin) bool {
		return func(p config.Plugin) bool { return p.Name == name }
	}
	devices := slices.IndexFunc(listed.PostFilter.Enabled, is(names.DynamicResources))
	preemption := slices.IndexFunc(listed.PostFilter.Enabled, is(names.DefaultPreemption))
	return devices >= 0 && devices < preemption && !slices.ContainsFunc(listed.PreFilter.Enabled, is(names.DynamicResources))
}

// postFilter asks DefaultPreemption for every candidate. Only when there is
// none are the PostFilter plugins really run, for their text: with a candidate
// they would go on to delete pods.
func (cl *cluster) postFilter(ctx context.Context, v *Verdict, state fwk.CycleState, fit *framework.FitError) error {
	if plugin, ok := cl.plugins[names.DefaultPreemption].(*defaultpreemption.DefaultPreemption); ok && cl.preempts() && !cl.failsBefore() {
		// On a state of its own: what DynamicResources notes while evictions are
		// tried must not be there yet when its PostFilter runs.
		var own fwk.CycleState = framework.NewCycleState()
		if _, s, _ := cl.framework.RunPreFilterPlugins(ctx, own, cl.pod); !s.IsSuccess() {
			own = state
		}
		p, err := cl.dryRun(ctx, plugin, own, fit)
		if errors.Is(err, errDryRun) {
			v.Outcome, v.Message = Failed, err.Error()
			return nil
		}
		if err != nil {
			return err
		}
		if p == nil {
			v.Outcome, v.Message = Failed, "preemption fails"
			return nil
		}
		v.Preemption = p
		if len(p.Candidates) > 0 {
			return nil
		}
	}
	if !cl.framework.HasPostFilterPlugins() {
		return nil
	}
	_, s := cl.framework.RunPostFilterPlugins(ctx, state, cl.pod, fit.Diagnosis.NodeToStatus)
	v.PostFilter = s.Message()
	if s.Code() == fwk.Error && s.Plugin() != names.DefaultPreemption {
		v.Preemption = nil // a plugin before it failed, so it was not called
	}
	return nil
}

// dryRun covers all potential nodes: upstream samples them above a hundred.
func (cl *cluster) dryRun(ctx context.Context, plugin *defaultpreemption.DefaultPreemption, state fwk.CycleState, fit *framework.FitError) (*Preemption, error) {
	p := &Preemption{}
	statuses := fit.Diagnosis.NodeToStatus
	if p.Eligible, p.Reason = plugin.PodEligibleToPreemptOthers(ctx, cl.pod, statuses.Get(cl.pod.Status.NominatedNodeName)); !p.Eligible {
		return p, nil
	}
	potential, err := statuses.NodesForStatusCode(cl.snapshot, fwk.Unschedulable)
	if err != nil || len(potential) == 0 {
		return p, err
	}
	tame(plugin)
	plugin.Evaluator.Interface = everyNode{plugin.Evaluator.Interface}
	plugin.Evaluator.PdbLister = byName{plugin.Evaluator.PdbLister}
	pdbs, err := plugin.Evaluator.PdbLister.List(labels.Everything())
	if err != nil {
		return nil, err
	}
	// One more than there are nodes: the run stops early once it has enough.
	found, _, err := plugin.Evaluator.DryRunPreemption(ctx, state, cl.pod, potential, pdbs, 0, int32(len(potential)+1))
	if err != nil && len(found) == 0 {
		return nil, fmt.Errorf("%w: %w", errDryRun, err)
	}
	for _, c := range found {
		out := Candidate{Node: c.Name(), NumPDBViolations: c.Victims().NumPDBViolations}
		for _, victim := range c.Victims().Pods {
			out.Victims = append(out.Victims, victim.Namespace+"/"+victim.Name)
		}
		p.Candidates = append(p.Candidates, out)
	}
	slices.SortFunc(p.Candidates, func(a, b Candidate) int { return compareStrings(a.Node, b.Node) })
	p.Choices = choices(ctx, plugin.Evaluator, found)
	for _, node := range p.Choices {
		if err := cl.tell(ctx, plugin, statuses, node, p); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// tell notes what the message of a pod that is nominated to a node ends with: that of the plugin,
// where no other node may be evicted from. It evicts no pod (tame).
func (cl *cluster) tell(ctx context.Context, plugin *defaultpreemption.DefaultPreemption, statuses *framework.NodeToStatus, node string, p *Preemption) error {
	only := framework.NewDefaultNodeToStatus()
	only.Set(node, statuses.Get(node))
	var state fwk.CycleState = framework.NewCycleState()
	if _, s, _ := cl.framework.RunPreFilterPlugins(ctx, state, cl.pod); !s.IsSuccess() {
		return nil
	}
	r, s := plugin.PostFilter(ctx, state, cl.pod, only)
	switch {
	case r == nil || r.NominatingInfo == nil || r.NominatedNodeName == "":
		return fmt.Errorf("no node is nominated where %s alone is left: %s", node, s.Message())
	case r.NominatedNodeName != node || !s.IsSuccess():
		return fmt.Errorf("%s is nominated where %s alone is left: %s", r.NominatedNodeName, node, s.Message())
	case s.Message() == "":
		return nil
	}
	if p.Told == nil {
		p.Told = map[string]string{}
	}
	p.Told[node] = s.Message()
	return nil
}

// everyNode has preemption try every node, as berth does (docs/decisions/0001-exact-answers.md).
// Upstream's arguments minCandidateNodes* may let it try a part of them, which of one is none.
type everyNode struct{ preemption.Interface }

// GetOffsetAndNumCandidates returns that all of n nodes are wanted, from the first on.
func (everyNode) GetOffsetAndNumCandidates(n int32) (offset, wanted int32) { return 0, n }

// total makes an order of pods a total one: by namespace and name where two are equal. Upstream
// sorts by one that is not, so that victims that are equal may come in any order.
func total(before func(a, b *v1.Pod) bool) func(a, b *v1.Pod) bool {
	return func(a, b *v1.Pod) bool { return before(a, b) || !before(b, a) && named(a) < named(b) }
}

func named(p *v1.Pod) string { return p.Namespace + "\x00" + p.Name }

// startedBy returns the pod, or one that has started at a time where it has not.
func startedBy(p *v1.Pod, at metav1.Time) *v1.Pod {
	if p.Status.StartTime != nil {
		return p
	}
	other := *p
	other.Status.StartTime = &at
	return &other
}

// byName lists budgets by namespace and name. Upstream's lister goes over a map, and where several
// budgets are over one pod its order may decide, from v1.37 on.
type byName struct {
	policylisters.PodDisruptionBudgetLister
}

func (l byName) List(s labels.Selector) ([]*policyv1.PodDisruptionBudget, error) {
	list, err := l.PodDisruptionBudgetLister.List(s)
	slices.SortFunc(list, func(a, b *policyv1.PodDisruptionBudget) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return list, err
}

func compareStrings(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// choices are the winner of all candidates and everyone who can beat it when
// only the two are left.
func choices(ctx context.Context, ev *preemption.Evaluator, found []preemption.Candidate) []string {
	if len(found) == 0 {
		return nil
	}
	winner := ev.SelectCandidate(ctx, found)
	out := []string{winner.Name()}
	for _, c := range found {
		if c.Name() == winner.Name() {
			continue
		}
		for range tries {
			if ev.SelectCandidate(ctx, []preemption.Candidate{winner, c}).Name() == c.Name() {
				out = append(out, c.Name())
				break
			}
		}
	}
	slices.Sort(out)
	return out
}
