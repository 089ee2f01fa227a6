package scenario

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// demanded is what a packing still needs.
type demanded struct {
	*packing
	need float64
}

// demanded returns the packings that need new nodes for a target.
func (s *poolSearch) demanded(target int) (out []demanded) {
	for i := range s.packings {
		if need := s.packings[i].need(target, s.all()); need > 0 {
			out = append(out, demanded{&s.packings[i], need})
		}
	}
	return out
}

// least returns how many nodes of a pool the packings need beside counts of the pools before it;
// one more than its maximum where those are not enough.
func (s *poolSearch) least(list []demanded, counts []int, pool int) int {
	n, most := 0, *s.pools[pool].Max+1
	for _, d := range list {
		need := d.need
		for i := range pool {
			need -= d.each[i] * float64(counts[i])
		}
		switch {
		case need <= d.need*margin:
		case d.each[pool] == 0:
			return most
		default:
			n = max(n, int(min(math.Ceil(need/d.each[pool]-margin), float64(most))))
		}
	}
	return n
}

// margin is what sums of floating-point numbers may be off, as a share.
const margin = 1e-9

// nodesFor returns how many nodes of one pool the packings need for a target, at most its maximum.
func (s *poolSearch) nodesFor(pool, target int) int {
	return min(s.least(s.demanded(target), make([]int, len(s.pools)), pool), *s.pools[pool].Max)
}

// shownFrom is the least share of what is counted that a bound is shown from.
const shownFrom = 0.9

// boundAlone returns the bound of one pool with which all pods fit; 0 where it is not to be shown.
func (s *poolSearch) boundAlone(pool int, a *PoolAlone) int {
	if a.Smallest == "proven" {
		return a.Nodes
	}
	if n := s.nodesFor(pool, s.all()); float64(n) >= shownFrom*float64(a.Nodes) {
		return n
	}
	return 0
}

const (
	// maxLooked is how many counts are looked at for cheaper ones, maxListed how many are listed.
	maxLooked = 100_000
	maxListed = 4096
	// maxProofPods is how many pods the runs of a proof may have in all, beside the fewest runs.
	maxProofPods   = 20_000
	fewestProofRun = 4
)

// prove runs cheaper choices than the best one, the cheapest first, and returns the best choice
// then and the least that one costs. The bound is nil where it is not to be shown.
//
// Which choices may be cheaper is by the packings: what they rule out no rule of a pod allows. With
// few pools of few nodes all others are run, so that the choice is the cheapest that there is.
func (s *poolSearch) prove(ctx context.Context, best []int) (_ []int, _ *PoolBound, err error) {
	runs := min(maxProof, max(maxProofPods/max(len(s.arrivals), 1), fewestProofRun))
	placed, err := s.placed(ctx, best)
	if err != nil {
		return nil, nil, err
	}
	if placed < s.all() {
		if best, placed, err = s.exhaust(ctx, best, placed, runs); err != nil {
			return nil, nil, err
		}
	}
	bound := &PoolBound{}
	for again := true; again; {
		again = false
		needs := s.demanded(placed)
		list, ran, ok := s.cheaper(needs, s.cost(best), placed)
		if !ok {
			bound.Cost, bound.Resource = s.fractional(needs)
			break
		}
		must := 0
		for _, counts := range list {
			if s.cost(counts) < shownFrom*s.cost(best) {
				must++
			}
		}
		if must > runs {
			return best, nil, nil
		}
		bound.Runs = ran
		for ; runs > 0 && len(list) > 0; list = list[1:] {
			runs--
			n, err := s.placed(ctx, list[0])
			if err != nil {
				return nil, nil, err
			}
			if bound.Runs = true; n >= placed {
				again = n > placed // then other choices are cheaper ones that place as many
				best, placed, list = list[0], n, nil
				break
			}
		}
		if bound.Cost = s.cost(best); len(list) > 0 {
			bound.Cost = s.cost(list[0])
		}
		if _, resource := s.fractional(needs); !bound.Runs {
			bound.Resource = resource
		}
	}
	if bound.Cost == 0 || bound.Cost < shownFrom*s.cost(best) {
		return best, nil, nil
	}
	return best, bound, nil
}

// exhaust runs all counts, where they are few: more nodes may place fewer pods, so that the most
// are known by that alone.
func (s *poolSearch) exhaust(ctx context.Context, best []int, placed, runs int) ([]int, int, error) {
	product := 1
	for i := range s.pools {
		if product *= *s.pools[i].Max + 1; product > runs {
			return best, placed, nil
		}
	}
	for at := range product {
		counts := make([]int, len(s.pools))
		for i, rest := 0, at; i < len(counts); i++ {
			counts[i], rest = rest%(*s.pools[i].Max+1), rest/(*s.pools[i].Max+1)
		}
		n, err := s.placed(ctx, counts)
		if err != nil {
			return nil, 0, err
		}
		if s.better(counts, n, best, placed) {
			best, placed = counts, n
		}
	}
	return best, placed, nil
}

// cheaper lists the counts that cost less than a limit and that no packing rules out, the cheapest
// first, without those that were run and place fewer pods than a target: ran reports whether there
// were any. ok is false where they are too many.
func (s *poolSearch) cheaper(needs []demanded, limit float64, target int) (list [][]int, ran, ok bool) {
	counts, looked, last := make([]int, len(s.pools)), 0, len(s.pools)-1
	var from func(pool int, cost float64) bool
	from = func(pool int, cost float64) bool {
		n := 0
		if pool == last {
			n = s.least(needs, counts, pool)
		}
		for ; n <= *s.pools[pool].Max && cost+float64(n)**s.pools[pool].Cost < limit; n++ {
			if looked++; looked > maxLooked || len(list) > maxListed {
				return false
			}
			counts[pool] = n
			if pool < last {
				if !from(pool+1, cost+float64(n)**s.pools[pool].Cost) {
					return false
				}
				continue
			}
			if placed, known := s.ran[key(counts)]; known && placed < target {
				ran = true
			} else if s.cost(counts) < limit*(1-margin) {
				list = append(list, slices.Clone(counts))
			}
		}
		counts[pool] = 0
		return true
	}
	ok = from(0, 0)
	slices.SortStableFunc(list, func(a, b []int) int { return cmp.Compare(s.cost(a), s.cost(b)) })
	return list, ran, ok
}

// fractional is the cost of the cheapest way to meet the one packing that costs most, were nodes
// divisible, and its resource.
func (s *poolSearch) fractional(needs []demanded) (cost float64, resource string) {
	for _, d := range needs {
		least := math.Inf(1)
		for i, p := range s.pools {
			if d.each[i] > 0 {
				least = min(least, *p.Cost*(d.need/d.each[i]))
			}
		}
		if least = math.Floor(least*1000) / 1000; least > cost && !math.IsInf(least, 1) {
			cost, resource = least, string(d.resource)
		}
	}
	return cost, resource
}
