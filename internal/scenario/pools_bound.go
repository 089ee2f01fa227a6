package scenario

import (
	"context"
	"errors"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/engine/state"
	"berth/internal/kube/object/stored"
)

// amounts are quantities by resource, cpu in thousandths.
type amounts map[corev1.ResourceName]float64

// PoolBound is the least that a choice costs, whatever rules pods have beside their requests.
type PoolBound struct {
	Cost float64 `json:"cost"`
	// Resource is the one that the bound comes from; absent where nothing is missing.
	Resource string `json:"resource,omitempty" example:"memory"`
}

// measure sums up what pods want and nodes have.
func (s *poolSearch) measure(ctx context.Context) error {
	s.wanted = requests(s.arrivals, nil)
	usable, err := s.usable(ctx)
	if err != nil {
		return err
	}
	s.free = amounts{}
	counts := s.o.Profiles[0].Counting
	for row := range usable.All() {
		s.free.add(s.freeOf(s.v.State.Under(counts), row))
	}
	for i := range s.pools {
		r, err := s.begin(ctx, s.counts(i, 1))
		if err != nil {
			return err
		}
		offer, nodes := amounts{}, r.f.State().Nodes()
		for row := range nodes.Alive().All() {
			if s.v.State.Nodes().Row(nodes.Node(row).Name) < 0 {
				offer.add(s.freeOf(r.f.State().Under(counts), row))
			}
		}
		s.offers = append(s.offers, offer)
	}
	return nil
}

// forGood are the plugins that reject a node for what it is, when they call that unresolvable: no
// pod that comes or goes changes it.
var forGood = []string{"NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodeResourcesFit"}

// usable are the nodes of the snapshot that some arrival may use.
func (s *poolSearch) usable(ctx context.Context) (state.Bits, error) {
	f, out := NewFork(s.v, s.o), state.NewBits(s.v.State.Nodes().Len())
	shapes, err := byShape(ctx, len(s.arrivals), func(i int) *corev1.Pod { return s.arrivals[i].Pod })
	if err != nil {
		return nil, err
	}
	for _, e := range shapes {
		may, err := f.mayUse(ctx, e.pod)
		if err != nil {
			return nil, err
		}
		out.Or(may)
	}
	return out, nil
}

// mayUse are the nodes that do not reject a pod for what they are. They are all nodes where no
// decision can be made about it.
func (f *Fork) mayUse(ctx context.Context, pod *corev1.Pod) (state.Bits, error) {
	out := slices.Clone(f.State().Nodes().Alive())
	r, err := f.Decide(ctx, pod)
	var bad *decision.Error
	switch {
	case errors.As(err, &bad):
		return out, nil
	case err != nil:
		return nil, err
	}
	defer r.Release()
	for i := range r.Rejected {
		if rej := &r.Rejected[i]; slices.Contains(forGood, rej.Plugin) {
			out.AndNot(rej.Unresolvable)
		}
	}
	return out, nil
}

// freeOf returns what a node has left of the resources that arrivals want.
func (s *poolSearch) freeOf(st *state.State, row int) amounts {
	nodes := st.Nodes()
	c, use := nodes.Capacity(row), st.Use(row)
	out := amounts{}
	for name := range s.wanted {
		var free int64
		switch name {
		case corev1.ResourceCPU:
			free = c.CPU - use.CPU
		case corev1.ResourceMemory:
			free = c.Memory - use.Memory
		case corev1.ResourceEphemeralStorage:
			free = c.Ephemeral - use.Ephemeral
		case corev1.ResourcePods:
			free = c.Pods - int64(use.Pods)
		default:
			if id, known := st.ScalarID(string(name)); known {
				free, _ = nodes.Offers(id, row)
				if used := st.Requested(id); used != nil {
					free -= used.At(row)
				}
			}
		}
		out[name] = float64(max(free, 0))
	}
	return out
}

// requests sums up what pods want. Those of a set are left out.
func requests(list []Arrival, without map[podName]bool) amounts {
	out := amounts{}
	for i := range list {
		if !without[nameOf(list[i].Pod)] {
			out.add(requestsOf(list[i].Pod))
		}
	}
	return out
}

// requestsOf is what a pod takes of a node at least, as far as the scheduler counts it: once it is
// bound, a status that it has counts as well (framework/types.go PodInfo.CalculateResource).
func requestsOf(pod *corev1.Pod) amounts {
	out := amounts{corev1.ResourcePods: 1}
	list := stored.Sum{}.Of(pod)
	if stored.HasResizes(pod) {
		for c := range state.Countings { // whichever counts
			bound := c.Held(pod)
			for name, q := range list {
				if least := bound[name]; least.Cmp(q) < 0 {
					list[name] = least
				}
			}
		}
	}
	for name, q := range list {
		switch {
		case q.Sign() <= 0:
		case name == corev1.ResourceCPU:
			out[name] = float64(q.MilliValue())
		case name == corev1.ResourceMemory || name == corev1.ResourceEphemeralStorage || state.IsScalar(name):
			out[name] = float64(q.Value())
		}
	}
	return out
}

func (a amounts) add(b amounts) {
	for name, n := range b {
		a[name] += n
	}
}

// missing is what is wanted and not free.
func (s *poolSearch) missing(wanted amounts) amounts {
	out := amounts{}
	for name, n := range wanted {
		if n > s.free[name] {
			out[name] = n - s.free[name]
		}
	}
	return out
}

// nodesFor returns how many nodes of a pool the missing resources take at least; one more than its
// maximum where it has none of one.
func (s *poolSearch) nodesFor(pool int) int {
	most := *s.pools[pool].Max + 1
	n := 0
	for name, missing := range s.missing(s.wanted) {
		if each := s.offers[pool][name]; each*float64(most-1) < missing {
			n = most
		} else {
			n = max(n, int(math.Ceil(missing/each)))
		}
	}
	return n
}

// bound is the cost of the cheapest way to get what is missing of the one resource that costs most.
func (s *poolSearch) bound(wanted amounts) PoolBound {
	var out PoolBound
	for name, missing := range s.missing(wanted) {
		least := math.Inf(1)
		for i, p := range s.pools {
			if each := s.offers[i][name]; each > 0 {
				least = min(least, *p.Cost*(missing/each))
			}
		}
		least = math.Floor(least*1000) / 1000
		if least > out.Cost && !math.IsInf(least, 1) || least == out.Cost && least > 0 && string(name) < out.Resource {
			out = PoolBound{least, string(name)}
		}
	}
	return out
}
