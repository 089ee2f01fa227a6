package scenario

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"berth/internal/memory"
	"berth/internal/revision"
	"berth/internal/world"
)

// poolSearch looks for the smallest counts of nodes by runs.
type poolSearch struct {
	d        *Editor
	v        *revision.View
	o        world.Options
	arrivals []world.Arrival
	pools    []NodePool
	// already and gated count the arrivals that need no new node, and those that are not tried.
	already, gated int
	ran            map[string]int // by counts: how many pods the run placed
	demands        []*demand      // the arrivals that are tried
	wanted         amounts        // by all of them
	offers         []amounts      // of a node of each pool, beside its daemon pods
	reasons        []string       // why a node of each pool rejects the first pod that waits
	packings       []packing
}

// poolRun is a run with some counts of nodes.
type poolRun struct {
	f     *world.Fork
	view  *revision.View // before any pod arrived
	added []string       // the names of the new nodes
	// daemons arrived before all others, as room for them is part of a node's size.
	daemons []world.Arrival
	out     *world.Outcome
}

// run adds nodes and has all pods arrive.
func (s *poolSearch) run(ctx context.Context, counts []int) (*poolRun, error) {
	s.o.Watch.Progressed("counts of nodes", len(s.ran), 0)
	r, err := s.begin(ctx, counts)
	if err != nil {
		return nil, err
	}
	if r.out, err = r.f.Run(ctx, s.arrivals, world.Limits{}, nil); err != nil {
		return nil, err
	}
	s.ran[key(counts)] = r.out.Placed
	return r, nil
}

// begin adds nodes and places their daemon pods.
func (s *poolSearch) begin(ctx context.Context, counts []int) (*poolRun, error) {
	e := &Edited{View: s.v}
	for i, n := range counts {
		if n == 0 {
			continue
		}
		a := s.pools[i].AddNodes
		a.Count = &n
		if err := s.d.add(ctx, e, poolField(i), &a); err != nil {
			return nil, err
		}
	}
	r := &poolRun{f: world.NewFork(e.View, s.o), view: e.View, added: e.Added}
	out, err := r.f.Run(ctx, e.Daemons, world.Limits{}, nil)
	if err != nil {
		return nil, err
	}
	// A DaemonSet makes none for nodes that its pods do not fit on.
	alone := waitingIn(out.Waiting)
	r.daemons = slices.DeleteFunc(slices.Clone(e.Daemons), func(a world.Arrival) bool { return alone[world.NameOf(a.Pod)] })
	return r, nil
}

// placed returns how many pods a run places, and forgets the run.
func (s *poolSearch) placed(ctx context.Context, counts []int) (int, error) {
	if n, known := s.ran[key(counts)]; known {
		return n, nil
	}
	working, free := memory.Within(ctx)
	defer free()
	r, err := s.run(working, counts)
	if err != nil {
		return 0, err
	}
	return r.out.Placed, nil
}

// all is how many pods can be placed at most.
func (s *poolSearch) all() int { return len(s.arrivals) - s.gated }

// maxProof is how many counts are run to prove that none of them is enough.
const maxProof = 64

// alone finds the smallest count of one pool that places all pods, or else as many as any count
// that was run.
//
// More nodes need not place more pods: a new node may be a domain that a spread constraint counts,
// or draw a pod away from the one node that another pod needs. So the first run is with the
// maximum, then counts are doubled until one places as many, and bisected down to one whose next
// smaller count does not. All smaller ones that are left are then run as well, from the smallest
// on, unless they are too many.
func (s *poolSearch) alone(ctx context.Context, pool int) (*PoolAlone, error) {
	p := &s.pools[pool]
	out := &PoolAlone{Name: p.Name, Like: p.Like, Max: *p.Max, Cost: *p.Cost, Smallest: "proven", Tried: []PoolTry{}}
	tried := map[int]int{0: s.already}
	try := func(n int) (int, error) {
		if had, known := tried[n]; known {
			return had, nil
		}
		placed, err := s.placed(ctx, s.counts(pool, n))
		tried[n] = placed
		return placed, err
	}
	if s.already < s.all() {
		target, err := try(*p.Max)
		if err != nil {
			return nil, err
		}
		for {
			from, most := max(s.nodesFor(pool, target), 1), *p.Max
			for n, placed := range tried {
				if placed >= target {
					most = min(most, n)
				}
			}
			if out.Nodes, out.Smallest, err = smallest(min(from, most), most, target, try); err != nil {
				return nil, err
			}
			best := slices.Max(slices.Collect(maps.Values(tried)))
			if best <= target {
				break
			}
			target = best
		}
	}
	delete(tried, 0)
	for n, placed := range tried {
		out.Tried = append(out.Tried, PoolTry{n, placed - s.already})
	}
	slices.SortFunc(out.Tried, func(a, b PoolTry) int { return a.Nodes - b.Nodes })
	placed := s.already
	if out.Nodes > 0 {
		placed, _ = try(out.Nodes) // it was run
	}
	out.Placed, out.Fits = placed-s.already, placed == s.all()
	if out.Fits {
		out.Bound = s.boundAlone(pool, out)
	}
	if out.Placed == 0 && s.already < s.all() {
		out.Reason = s.reasons[pool]
	}
	return out, nil
}

// smallest looks for the smallest count from one to another, which is known to be enough, with
// which try returns the target.
func smallest(from, most, target int, try func(int) (int, error)) (n int, how string, err error) {
	if none, err := try(0); err != nil || none >= target {
		return 0, "proven", err
	}
	low, high := from-1, from
	for ; high < most; low, high = high, min(2*high, most) {
		placed, err := try(high)
		if err != nil {
			return 0, "", err
		}
		if placed >= target {
			break
		}
	}
	for high-low > 1 {
		mid := low + (high-low)/2
		placed, err := try(mid)
		if err != nil {
			return 0, "", err
		}
		if placed >= target {
			high = mid
		} else {
			low = mid
		}
	}
	if high-from > maxProof {
		return high, "bisected", nil
	}
	for n := from; n < high; n++ {
		placed, err := try(n)
		if err != nil {
			return 0, "", err
		}
		if placed >= target {
			return n, "proven", nil
		}
	}
	return high, "proven", nil
}

// counts are n nodes of one pool.
func (s *poolSearch) counts(pool, n int) []int {
	out := make([]int, len(s.pools))
	out[pool] = n
	return out
}

// key is counts as a key of a map.
func key(counts []int) string { return fmt.Sprint(counts) }
