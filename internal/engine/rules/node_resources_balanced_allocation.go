package rules

import (
	"math"

	"k8s.io/apimachinery/pkg/util/validation/field"
	configv1 "k8s.io/kube-scheduler/config/v1"

	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/semantics"
)

// NodeResourcesBalancedAllocation prefers nodes whose resources the pod would bring into balance.
// Where it scores the change, 75 stands for none (plugins/noderesources/balanced_allocation.go).
type NodeResourcesBalancedAllocation struct {
	Resources []ResourceWeight // the weights are not used
	change    bool             // score the change that the pod makes, and not the balance with it
	extended  bool             // devices may provide extended resources
}

var (
	_ engine.Scorer[engine.NoState] = (*NodeResourcesBalancedAllocation)(nil)
	_ engine.Local                  = (*NodeResourcesBalancedAllocation)(nil)
)

// nodeResourcesBalancedAllocationDescriptor is the rule's entry in the registry.
var nodeResourcesBalancedAllocationDescriptor = Descriptor{
	Plugin: "NodeResourcesBalancedAllocation", Phases: []string{phaseScore}, Weight: 1,
	Also: []string{phasePreScore},
	Judges: "Whether the pod brings the use of the node's resources into balance; 75 stands for no difference. " +
		"Pods that request none of the resources are not scored.",
	Upstream: "noderesources/balanced_allocation.go",
	Args:     codecOf(func(a *Args) { a.Balanced.Resources = cpuAndMemory() }, readBalancedArgs),
	build: func(a *Args, r *semantics.Release) (*engine.Plugin, error) {
		return engine.Adapt[engine.NoState](&NodeResourcesBalancedAllocation{
			Resources: a.Balanced.Resources, change: r.Balance == semantics.BalanceChange, extended: r.DRAExtendedResource,
		}), nil
	},
}

// Name is the plugin's name.
func (*NodeResourcesBalancedAllocation) Name() string { return "NodeResourcesBalancedAllocation" }

// Locality returns OwnRow: a node's resources are taken by its own pods.
func (*NodeResourcesBalancedAllocation) Locality(_ *engine.Query) engine.Locality {
	return engine.OwnRow
}

// Score skips pods that request none of the resources.
func (b *NodeResourcesBalancedAllocation) Score(q *engine.Query, _ engine.NoState, feasible state.Bits, out *engine.Scores) error {
	list := ask(q, b.Resources, false)
	idle := true
	for i := range list {
		idle = idle && list[i].want == 0
	}
	if idle {
		out.Skip()
		return nil
	}
	if plainPair(b.Resources) {
		b.scorePair(q, feasible, out.Raw)
		out.Same()
		return nil
	}
	after, before := make([]float64, 0, len(list)), make([]float64, 0, len(list))
	each(q, feasible, func(row int, c *state.Capacity, u *state.Use) {
		after, before = after[:0], before[:0]
		for i := range list {
			capacity, used := list[i].read.at(c, u, row)
			if capacity == 0 {
				continue
			}
			after = append(after, fraction(used+list[i].want, capacity))
			before = append(before, fraction(used, capacity))
		}
		out.Raw[row] = b.points(balance(after), balance(before))
	})
	out.Same()
	return nil
}

// scorePair is the default case, cpu and memory.
func (b *NodeResourcesBalancedAllocation) scorePair(q *engine.Query, feasible state.Bits, raw []int64) {
	pod, capacity := q.ScoringRequest(false), q.Nodes.Capacities()
	for from, to := range feasible.BlockRuns() {
		for k, u := range q.State.Uses(from, to) {
			c := &capacity[from+k]
			if c.CPU == 0 || c.Memory == 0 {
				raw[from+k] = b.points(engine.MaxScore, engine.MaxScore) // one resource is in balance
				continue
			}
			after := balanceOfPair(fraction(u.CPU+pod.CPU, c.CPU), fraction(u.Memory+pod.Memory, c.Memory))
			raw[from+k] = b.points(after, balanceOfPair(fraction(u.CPU, c.CPU), fraction(u.Memory, c.Memory)))
		}
	}
}

func balanceOfPair(a, b float64) int64 {
	return int64((1 - math.Abs((a-b)/2)) * float64(engine.MaxScore))
}

// points is a node's score for the balance with the pod and without it.
func (b *NodeResourcesBalancedAllocation) points(after, before int64) int64 {
	if !b.change {
		return after
	}
	return engine.MaxScore/2 + (engine.MaxScore/2+after-before)/2
}

func fraction(used, capacity int64) float64 {
	return min(float64(used)/float64(capacity), 1)
}

// balance is 100 less the standard deviation of the fractions. The products
// are rounded one by one, so that no machine fuses them into other bits.
func balance(fractions []float64) int64 {
	std := 0.0
	switch n := len(fractions); {
	case n == 2:
		std = math.Abs((fractions[0] - fractions[1]) / 2)
	case n > 2:
		var total float64
		for _, f := range fractions {
			total += f
		}
		mean := total / float64(n)
		var sum float64
		for _, f := range fractions {
			sum += float64((f - mean) * (f - mean))
		}
		std = math.Sqrt(sum / float64(n))
	}
	return int64((1 - std) * float64(engine.MaxScore))
}

// BalancedArgs is kubescheduler.config.k8s.io/v1
// NodeResourcesBalancedAllocationArgs.
type BalancedArgs struct {
	Resources []ResourceWeight `json:"resources"`
}

func readBalancedArgs(in *argsInput, a *configv1.NodeResourcesBalancedAllocationArgs, out *Args) {
	if len(a.Resources) == 0 {
		return
	}
	seen := map[string]bool{}
	var list []ResourceWeight
	for i, res := range a.Resources {
		at := in.at.Child("resources").Index(i)
		if seen[res.Name] {
			in.refuse(field.Duplicate(at.Child("name"), res.Name))
		}
		seen[res.Name] = true
		if res.Weight != 0 && res.Weight != 1 {
			in.refuse(field.Invalid(at.Child("weight"), res.Weight, "must be 1"))
		}
		list = append(list, ResourceWeight{Name: res.Name, Weight: 1})
	}
	out.Balanced.Resources = list
}
