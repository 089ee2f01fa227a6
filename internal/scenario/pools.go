package scenario

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	kjson "sigs.k8s.io/json"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/revision"
	"berth/internal/world"
)

// NodePool is a kind of node that may be added.
type NodePool struct {
	// Name is the pool's name in the answer; that of its node, if absent.
	Name string `json:"name,omitempty" example:"large"`
	AddNodes
	// Max is how many nodes the pool may get.
	Max *int `json:"max,omitempty" default:"50"`
	// Cost of a node, in any unit.
	Cost *float64 `json:"cost,omitempty" default:"1"`
} // @name NodePool

// PoolsQuestion is how many nodes of which pools pods need.
type PoolsQuestion struct {
	// For is the pods that have to fit: "pending", the pods of the snapshot that wait, or
	// {"workloads":[{"pod":{…},"count":3}]}, where pod is a v1.Pod or a workload. Without a count
	// it is the workload's replicas, or 1.
	For json.RawMessage `json:"for,omitempty" swaggertype:"object"`
	// Pools are the kinds of nodes that may be added.
	Pools []NodePool `json:"pools"`
}

// Workloads are pods that arrive, in this order.
type Workloads struct {
	Workloads []Workload `json:"workloads"`
}

// Pools is how many nodes of which pools pods need to fit. Every figure is the result of a run: all
// pods arrive, in the order of the queue, at the snapshot with the nodes added.
type Pools struct {
	Snapshot string `json:"snapshot" example:"prod@1042"`
	// Pods is how many pods the question is about. Already are those that fit without any new node,
	// Waiting those that do not, and Gated those that wait for their gates and are not tried.
	Pods    int `json:"pods"`
	Already int `json:"already"`
	Waiting int `json:"waiting"`
	Gated   int `json:"gated,omitempty"`
	// Pools has what each pool alone can do.
	Pools []PoolAlone `json:"pools"`
	// Choice is the cheapest that was found over all pools.
	Choice PoolChoice `json:"choice"`
	// Bound is a lower bound on what any choice costs that places as many pods; absent where none
	// within a tenth of the choice is known, or the choice has no node.
	Bound *PoolBound `json:"bound,omitempty"`
	// Unplaced are the pods that wait after the choice, equal pods together.
	Unplaced []Unplaced `json:"unplaced,omitempty"`
	// Omitted are pods that wait after the choice and are in no entry of unplaced.
	Omitted  int      `json:"omitted,omitempty"`
	Notes    []string `json:"notes,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	// Digest is over the nodes of all pods after the choice.
	Digest string `json:"digest"`
} // @name Pools

// PoolAlone is what one pool can do alone.
type PoolAlone struct {
	Name string `json:"name"`
	// Like is the node that the pool's nodes are copies of; absent for a template.
	Like string  `json:"like,omitempty"`
	Max  int     `json:"max"`
	Cost float64 `json:"cost"`
	// Fits reports that all pods fit with nodes of this pool.
	Fits bool `json:"fits"`
	// Nodes is the smallest count found with which all pods fit, or else as many as with any.
	Nodes int `json:"nodes"`
	// Placed counts the pods that then fit, of those that did not fit before.
	Placed int `json:"placed"`
	// Smallest is proven where a run was made with each smaller count, from the bound of resources
	// on; bisected where only some were, among them the next smaller one.
	Smallest string `json:"smallest" enums:"proven,bisected"`
	// Bound is how many nodes of this pool all pods take at least; absent where they do not fit, or
	// none within a tenth of Nodes is known.
	Bound int `json:"bound,omitempty"`
	// Reason is why an empty node of the pool rejects the first of the pods, where it places none.
	Reason string `json:"reason,omitempty"`
	// Tried are all counts that runs were made with, and how many pods each placed.
	Tried []PoolTry `json:"tried"`
} // @name PoolAlone

// PoolTry is a run with a count of nodes.
type PoolTry struct {
	Nodes  int `json:"nodes"`
	Placed int `json:"placed"`
} // @name PoolTry

// PoolChoice is nodes of one or several pools.
type PoolChoice struct {
	Pools []PoolCount `json:"pools"`
	Cost  float64     `json:"cost"`
	Fits  bool        `json:"fits"`
	// Placed counts the pods that fit, of those that did not fit before.
	Placed int `json:"placed"`
	// Minimal reports that runs with one node fewer, of each pool in turn, placed fewer pods.
	Minimal bool `json:"minimal"`
	// Daemons counts the daemon pods of the new nodes. Crowded are those among them that would find
	// no room, because kube-scheduler takes older pods of equal or higher priority first.
	Daemons int `json:"daemons"`
	Crowded int `json:"crowded,omitempty"`
} // @name PoolChoice

// PoolCount is how many nodes of a pool.
type PoolCount struct {
	Name  string `json:"name"`
	Nodes int    `json:"nodes"`
} // @name PoolCount

// Unplaced are equal pods that fit nowhere.
type Unplaced struct {
	// Pod is the first of them, in the order of the queue.
	Pod  decision.PodRef `json:"pod"`
	Pods int             `json:"pods"`
	// Outcome and Message are those of its decision after the choice.
	Outcome engine.Outcome `json:"outcome" swaggertype:"string"`
	Message string         `json:"message"`
	// More has what one more node of each pool would do for it.
	More []OneMore `json:"more"`
} // @name Unplaced

// OneMore is what one more node of a pool does for a pod.
type OneMore struct {
	Pool string `json:"pool"`
	// Helps reports that the pod fits then, also where the pool has its maximum.
	Helps bool `json:"helps"`
	// Reason is why the new node rejects the pod.
	Reason string `json:"reason,omitempty"`
} // @name OneMore

// Answer implements Question.
func (q *PoolsQuestion) Answer(ctx context.Context, s *Stage) (any, error) {
	f, err := s.fork(ctx)
	if err != nil {
		return nil, err
	}
	pending := isNull(q.For) || string(q.For) == `"pending"`
	var arrivals []world.Arrival
	if pending {
		arrivals, err = f.Pending(ctx)
	} else {
		arrivals, err = q.workloads(ctx, s, f.Base())
	}
	if err != nil {
		return nil, err
	}
	if len(arrivals) > s.Bounds.Pods {
		return nil, decision.Errorf(decision.Invalid, "for", "%d pods, want %d at most", len(arrivals), s.Bounds.Pods)
	}
	out, err := s.Editor.CountPools(ctx, f.Base(), s.Options, arrivals, q.Pools)
	if err != nil {
		return nil, err
	}
	if active, _, _ := f.Base().State.Waiting(decision.RunsOf(s.Options.Profiles)); active > 0 && !pending {
		out.Notes = append(out.Notes, fmt.Sprintf("no room is kept for the pods of the snapshot that wait: %d", active))
	}
	if slices.ContainsFunc(q.Pools, func(p NodePool) bool { return p.Like == "" }) {
		out.Notes = append(out.Notes, "no daemon pods are counted on nodes of a template: those of a node are known where a pool is like it")
	}
	out.Warnings = s.warnings()
	return out, nil
}

// workloads reads the pods of the question.
func (q *PoolsQuestion) workloads(ctx context.Context, s *Stage, v *revision.View) ([]world.Arrival, error) {
	var list Workloads
	strict, err := kjson.UnmarshalStrict(q.For, &list, kjson.DisallowUnknownFields, kjson.DisallowDuplicateFields)
	if err != nil || len(strict) > 0 || len(list.Workloads) == 0 {
		return nil, decision.Errorf(decision.Malformed, "for", `want "pending" or {"workloads":[{"pod":{…},"count":3}]}`)
	}
	return s.Editor.arrive(ctx, v, "for.workloads", list.Workloads, s.Bounds.Pods, nil)
}

// CountPools counts the nodes that pods need. No pod is evicted for another one.
func (d *Editor) CountPools(ctx context.Context, v *revision.View, o world.Options, arrivals []world.Arrival, pools []NodePool) (*Pools, error) {
	if err := d.checkPools(v, pools); err != nil {
		return nil, err
	}
	o.NoPreemption = true
	s := &poolSearch{d: d, v: v, o: o, arrivals: arrivals, pools: pools, ran: map[string]int{}}
	first, err := s.run(ctx, make([]int, len(pools)))
	if err != nil {
		return nil, err
	}
	waiting := len(first.out.Waiting)
	s.already, s.gated = first.out.Placed, len(first.out.Gated)
	out := &Pools{Snapshot: v.ID(), Pods: len(arrivals), Already: s.already, Waiting: waiting, Gated: s.gated, Pools: []PoolAlone{}}
	if err := s.measure(ctx, first); err != nil {
		return nil, err
	}
	for i := range pools {
		alone, err := s.alone(ctx, i)
		if err != nil {
			return nil, err
		}
		out.Pools = append(out.Pools, *alone)
	}
	counts, err := s.choose(ctx, out.Pools)
	if err != nil {
		return nil, err
	}
	if counts, out.Bound, err = s.prove(ctx, counts); err != nil {
		return nil, err
	}
	err = s.tell(ctx, out, counts)
	return out, err
}

// checkPools fills in defaults, and names what of the pools cannot be meant.
func (d *Editor) checkPools(v *revision.View, pools []NodePool) error {
	if len(pools) == 0 || len(pools) > maxPools {
		return decision.Errorf(decision.Invalid, "pools", "want 1 to %d pools", maxPools)
	}
	names, sum := map[string]bool{}, 0
	for i := range pools {
		p, at := &pools[i], poolField(i)
		if p.Max == nil {
			p.Max = new(defaultPoolMax)
		}
		if p.Cost == nil {
			p.Cost = new(1.0)
		}
		most := d.MaxNodes
		if most == 0 {
			most = math.MaxInt32
		}
		switch {
		case *p.Max < 1 || *p.Max > most:
			return decision.Errorf(decision.Invalid, at+".max", "want a number from 1 to %d", most)
		case sum+*p.Max > most:
			return decision.Errorf(decision.Invalid, at+".max", "the pools may get %d nodes together, want %d at most", sum+*p.Max, most)
		case !(*p.Cost > 0 && *p.Cost <= maxCost):
			return decision.Errorf(decision.Invalid, at+".cost", "want a number above 0, at most %d", int(maxCost))
		case p.Count != nil:
			return decision.Errorf(decision.Malformed, at+".count", "the count is what is searched for; max bounds it")
		}
		sum += *p.Max
		if err := p.of(at); err != nil {
			return err
		}
		p.name = fmt.Sprintf("pool-%d", i+1)
		n, err := d.model(v, at, &p.AddNodes)
		if err != nil {
			return err
		}
		if p.Name == "" {
			if p.Name = n.Name; p.Zone != "" {
				p.Name += " in " + p.Zone
			}
		}
		if names[p.Name] {
			return decision.Errorf(decision.Invalid, at+".name", "there are two pools %.253q", p.Name)
		}
		names[p.Name] = true
		if j := slices.IndexFunc(pools[:i], func(b NodePool) bool { return b.Like != "" && b.Like == p.Like && b.empty() && p.empty() }); j >= 0 {
			return decision.Errorf(decision.Invalid, at+".like", "%s is like the same node", poolField(j))
		}
	}
	return nil
}

func poolField(i int) string { return fmt.Sprintf("pools[%d]", i) }

const (
	maxPools       = 16
	defaultPoolMax = 50
	maxCost        = 1e9
)
