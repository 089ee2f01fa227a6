package scenario

import (
	"cmp"
	"context"
	"errors"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/memory"
	"berth/internal/revision"
	"berth/internal/world"
)

// chunks is into how many parts a large choice is divided while it grows.
const chunks = 16

// choose looks for the cheapest counts over all pools. It begins with no node and adds some of the
// pool that places most for its cost, as long as more pods are placed; then it takes nodes away
// again, of the dearest pool first, while as many are placed. One pool alone is chosen where that
// costs less, or places more. Where not all pods fit, it begins once more with all nodes that there
// may be.
func (s *poolSearch) choose(ctx context.Context, alone []PoolAlone) ([]int, error) {
	best, bestPlaced, chunk := make([]int, len(alone)), s.already, 0
	for i := range alone {
		a := &alone[i]
		if a.Placed == 0 {
			continue
		}
		if counts := s.counts(i, a.Nodes); s.better(counts, s.already+a.Placed, best, bestPlaced) {
			best, bestPlaced = counts, s.already+a.Placed
		}
		if n := max(a.Nodes/chunks, 1); chunk == 0 || n < chunk {
			chunk = n
		}
	}
	if chunk == 0 || len(alone) == 1 {
		return best, nil
	}
	counts, placed, err := s.grow(ctx, chunk)
	if err != nil {
		return nil, err
	}
	if placed >= bestPlaced {
		if err := s.shrink(ctx, counts, placed); err != nil {
			return nil, err
		}
	}
	if s.better(counts, placed, best, bestPlaced) {
		best, bestPlaced = counts, placed
	}
	if bestPlaced == s.all() {
		return best, nil
	}
	counts = make([]int, len(alone))
	for i := range counts {
		counts[i] = *s.pools[i].Max
	}
	if placed, err = s.placed(ctx, counts); err != nil || placed <= bestPlaced {
		return best, err
	}
	return counts, s.shrink(ctx, counts, placed)
}

// better reports whether counts place more than others, or as many for less.
func (s *poolSearch) better(a []int, placed int, b []int, than int) bool {
	return cmp.Or(cmp.Compare(than, placed), cmp.Compare(s.cost(a), s.cost(b))) < 0
}

func (s *poolSearch) cost(counts []int) (sum float64) {
	for i, n := range counts {
		sum += *s.pools[i].Cost * float64(n)
	}
	return sum
}

// grow adds nodes of the pool that places most for its cost until no pool places more. A pod counts
// by the largest share that it has in what all want of a resource.
func (s *poolSearch) grow(ctx context.Context, chunk int) (counts []int, placed int, err error) {
	counts, placed = make([]int, len(s.pools)), s.already
	left, err := s.left(ctx, counts)
	if err != nil {
		return nil, 0, err
	}
	for placed < s.all() {
		pool, gain, rest := -1, 0.0, left
		for i, p := range s.pools {
			n := min(chunk, *p.Max-counts[i])
			if n == 0 {
				continue
			}
			with := slices.Clone(counts)
			with[i] += n
			after, err := s.left(ctx, with)
			if err != nil {
				return nil, 0, err
			}
			if g := (left - after) / (*p.Cost * float64(n)); g > gain && s.ran[key(with)] > placed {
				pool, gain, rest = i, g, after
			}
		}
		if pool < 0 {
			break
		}
		counts[pool] += min(chunk, *s.pools[pool].Max-counts[pool])
		left, placed = rest, s.ran[key(counts)]
	}
	return counts, placed, nil
}

// left runs with counts and returns the shares of the pods that wait after it.
func (s *poolSearch) left(ctx context.Context, counts []int) (sum float64, err error) {
	working, free := memory.Within(ctx)
	defer free()
	r, err := s.run(working, counts)
	if err != nil {
		return 0, err
	}
	for _, w := range r.out.Waiting {
		share := 0.0
		for name, n := range requestsOf(w.Pod) {
			if all := s.wanted[name]; all > 0 {
				share = max(share, n/all)
			}
		}
		sum += share
	}
	return sum, nil
}

// shrink takes nodes away while as many pods are placed, of the dearest pool first.
func (s *poolSearch) shrink(ctx context.Context, counts []int, placed int) error {
	order := make([]int, len(counts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(*s.pools[b].Cost, *s.pools[a].Cost) })
	for _, i := range order {
		for step := max(counts[i]/2, 1); step > 0 && counts[i] > 0; {
			with := slices.Clone(counts)
			with[i] -= min(step, counts[i])
			n, err := s.placed(ctx, with)
			if err != nil {
				return err
			}
			if n >= placed {
				counts[i] = with[i]
			} else {
				step /= 2
			}
		}
	}
	return nil
}

// maxUnplaced is how many kinds of pods that fit nowhere are described.
const maxUnplaced = 20

// tell runs the choice once more and describes it.
func (s *poolSearch) tell(ctx context.Context, out *Pools, counts []int) error {
	r, err := s.run(ctx, counts)
	if err != nil {
		return err
	}
	c := PoolChoice{Pools: []PoolCount{}, Cost: s.cost(counts), Fits: r.out.Placed == s.all(), Placed: r.out.Placed - s.already, Daemons: len(r.daemons), Minimal: true}
	for i, n := range counts {
		c.Pools = append(c.Pools, PoolCount{s.pools[i].Name, n})
		if n == 0 {
			continue
		}
		fewer := slices.Clone(counts)
		fewer[i]--
		placed, err := s.placed(ctx, fewer)
		if err != nil {
			return err
		}
		c.Minimal = c.Minimal && placed < r.out.Placed
	}
	if len(r.daemons) > 0 {
		asQueued, err := world.NewFork(r.view, s.o).Run(ctx, append(slices.Clone(s.arrivals), r.daemons...), world.Limits{}, nil)
		if err != nil {
			return err
		}
		waits := waitingIn(asQueued.Waiting)
		for _, d := range r.daemons {
			if waits[world.NameOf(d.Pod)] {
				c.Crowded++
			}
		}
	}
	out.Choice = c
	out.Digest = r.digest(s.arrivals)
	return s.unplaced(ctx, out, r, counts)
}

func waitingIn(list []world.Waiting) map[world.PodName]bool {
	out := make(map[world.PodName]bool, len(list))
	for _, w := range list {
		out[world.NameOf(w.Pod)] = true
	}
	return out
}

// digest is over the nodes of all pods, daemon pods first.
func (r *poolRun) digest(arrivals []world.Arrival) string {
	sum := newSum("berth-pools-1")
	for _, list := range [][]world.Arrival{r.daemons, arrivals} {
		for i := range list {
			n, node := world.NameOf(list[i].Pod), ""
			if p := r.f.State().Pod(n.Namespace, n.Name); p != nil {
				node = p.NodeName
			}
			sum.add(n.Namespace, n.Name, node)
		}
	}
	return sum.text()
}

// unplaced describes the pods that wait after the choice, and what one more node does for them.
func (s *poolSearch) unplaced(ctx context.Context, out *Pools, r *poolRun, counts []int) error {
	first, err := byShape(ctx, len(r.out.Waiting), func(i int) *corev1.Pod { return r.out.Waiting[i].Pod })
	if err != nil || len(first) == 0 {
		return err
	}
	for _, e := range first[min(len(first), maxUnplaced):] {
		out.Omitted += e.pods
	}
	first = first[:min(len(first), maxUnplaced)]
	for _, e := range first {
		l, err := why(ctx, r.f, e.pod, func(*Limit) bool { return false })
		if err != nil {
			return err
		}
		ref := decision.PodRef{Namespace: e.pod.Namespace, Name: e.pod.Name, UID: string(e.pod.UID)}
		out.Unplaced = append(out.Unplaced, Unplaced{Pod: ref, Pods: e.pods, Outcome: l.Outcome, Message: l.Message, More: []OneMore{}})
	}
	for i, p := range s.pools {
		more := slices.Clone(counts)
		more[i]++
		with, err := s.run(ctx, more)
		if err != nil {
			return err
		}
		waits := waitingIn(with.out.Waiting)
		for k, e := range first {
			one := OneMore{Pool: p.Name, Helps: !waits[world.NameOf(e.pod)]}
			if !one.Helps {
				var bad *decision.Error
				err := judge(ctx, with.f, e.pod, func(res *engine.Result) { one.Reason = reasonOfNew(res, r.view) })
				if err != nil && !errors.As(err, &bad) {
					return err
				}
			}
			out.Unplaced[k].More = append(out.Unplaced[k].More, one)
		}
	}
	return nil
}

// reasonOfNew returns why a node that a view does not have rejects a pod.
func reasonOfNew(r *engine.Result, before *revision.View) string {
	nodes := r.Nodes()
	for _, row := range nodes.Order() {
		if before.State.Nodes().Row(nodes.Node(int(row)).Name) < 0 {
			reason, _, _ := r.ReasonOf(int(row))
			return reason
		}
	}
	return ""
}
