package scenario

import (
	"bytes"
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/kube/object/stored"
	"berth/internal/memory"
	"berth/internal/world"
)

// amounts are quantities by resource, cpu in thousandths.
type amounts map[corev1.ResourceName]float64

// PoolBound is the least that any choice costs that places as many pods.
type PoolBound struct {
	Cost float64 `json:"cost"`
	// Resource is the one that the bound comes from; absent where it rests on runs.
	Resource string `json:"resource,omitempty" example:"memory"`
	// Runs reports that cheaper choices which the requests allow were run and place fewer pods.
	Runs bool `json:"runs,omitempty"`
}

// demand is equal pods, as bounds count them.
type demand struct {
	pods  int
	wants amounts    // of one
	may   state.Bits // the nodes of the snapshot that do not reject it for what they are
	pools uint32     // those whose nodes do not either, a bit each
}

// measure counts what pods want and nodes have.
func (s *poolSearch) measure(ctx context.Context, first *poolRun) error {
	gated := waitingIn(first.out.Gated)
	var tried []*corev1.Pod
	for i := range s.arrivals {
		if !gated[world.NameOf(s.arrivals[i].Pod)] {
			tried = append(tried, s.arrivals[i].Pod)
		}
	}
	shapes, err := byShape(ctx, len(tried), func(i int) *corev1.Pod { return tried[i] })
	if err != nil {
		return err
	}
	each := make([]int, len(s.pools))
	for i := range each {
		each[i] = 1
	}
	one, err := s.begin(ctx, each)
	if err != nil {
		return err
	}
	if err := memory.Take(ctx, int64(len(shapes)*s.v.State.Nodes().Len()/8)); err != nil {
		return err
	}
	s.wanted, s.reasons = amounts{}, make([]string, len(s.pools))
	if len(first.out.Waiting) > 0 {
		err := judge(ctx, one.f, first.out.Waiting[0].Pod, func(r *engine.Result) {
			for i, name := range one.added {
				s.reasons[i], _, _ = r.ReasonOf(r.Nodes().Row(name))
			}
		})
		if bad := (*decision.Error)(nil); err != nil && !errors.As(err, &bad) {
			return err
		}
	}
	for _, e := range shapes {
		d, err := s.demand(ctx, one, e)
		if err != nil {
			return err
		}
		for name, n := range d.wants {
			s.wanted[name] += n * float64(e.pods)
		}
		s.demands = append(s.demands, d)
	}
	for i := range s.pools {
		r, err := s.begin(ctx, s.counts(i, 1))
		if err != nil {
			return err
		}
		offer, st := amounts{}, r.f.State().Under(s.o.Profiles[0].Counting)
		for name := range s.wanted {
			offer[name] = freeOf(st, st.Nodes().Row(r.added[0]), name)
		}
		s.offers = append(s.offers, offer)
	}
	return s.pack(ctx)
}

// forGood are the plugins that reject a node for what it is, when they call that unresolvable: no
// pod that comes or goes changes it.
var forGood = []string{"NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodeResourcesFit"}

// mayUse are the nodes that do not reject a pod for what they are. They are all nodes where no
// decision can be made about it.
func mayUse(ctx context.Context, f *world.Fork, pod *corev1.Pod) (state.Bits, error) {
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

// demand returns equal pods as bounds count them, in a run that has one node of each pool.
func (s *poolSearch) demand(ctx context.Context, one *poolRun, e *equals) (*demand, error) {
	d := &demand{pods: e.pods, wants: s.countedOf(e.pod), may: state.NewBits(s.v.State.Nodes().Len())}
	may, err := mayUse(ctx, one.f, e.pod)
	if err != nil {
		return nil, err
	}
	nodes := one.f.State().Nodes()
	for row := range may.All() {
		if old := s.v.State.Nodes().Row(nodes.Node(row).Name); old >= 0 {
			d.may.Set(old)
		}
	}
	for i, name := range one.added {
		if may.Has(nodes.Row(name)) {
			d.pools |= 1 << i
		}
	}
	return d, nil
}

// freeOf returns what a node has left of a resource.
func freeOf(st *state.State, row int, name corev1.ResourceName) float64 {
	nodes := st.Nodes()
	c, use := nodes.Capacity(row), st.Use(row)
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
	return float64(max(free, 0))
}

// countedOf is requestsOf without what a node need not have: resources that a profile ignores, or
// that devices provide.
func (s *poolSearch) countedOf(pod *corev1.Pod) amounts {
	out := requestsOf(pod)
	for _, p := range s.o.Profiles {
		fits := slices.ContainsFunc(p.Filter, func(i int) bool { return p.Rules[i].Name == "NodeResourcesFit" })
		ignores := bytes.Contains(p.Payload, []byte("ignoredResource")) // or ignoredResourceGroups
		for name := range out {
			if !fits || ignores && state.IsExtended(name) || s.v.State.ExtendedClass(name) != nil {
				delete(out, name)
			}
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
