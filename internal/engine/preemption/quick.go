package preemption

import (
	"math"
	"math/bits"

	"berth/internal/engine/state"
)

// affectedBy returns which trials of quick the pods of a class affect, a bit each.
func (j *dryRun) affectedBy(k *state.Ranking, i int) uint32 {
	known := &j.affected[k.Of[i].Class]
	if *known == 0 {
		*known = 1
		for b, t := range j.quick {
			if t.AffectedBy(k.Pods[i].Class) {
				*known |= 2 << b
			}
		}
	}
	return *known >> 1
}

// headroom is what a node has left with the pod on it.
type headroom struct {
	pods int64
	state.Amount
}

// unlimited is for profiles without a Measurer.
var unlimited = headroom{math.MaxInt64 / 2, state.Amount{CPU: math.MaxInt64 / 2, Memory: math.MaxInt64 / 2, Ephemeral: math.MaxInt64 / 2}}

func (s *headroom) enough() bool {
	return s.pods >= 0 && s.CPU >= 0 && s.Memory >= 0 && s.Ephemeral >= 0
}

// headroom returns the headroom of a row without all pods of lower priority.
func (j *dryRun) headroom(row int, k *state.Ranking, from int) headroom {
	c, u, a := &j.q.Nodes.Capacities()[row], j.q.State.Use(row), &k.After[from]
	left := func(need, capacity, used, freed int64) int64 {
		if need == math.MinInt64 {
			return math.MaxInt64 / 2 // no request: anything is enough
		}
		return capacity - used + freed - need
	}
	return headroom{c.Pods - int64(u.Pods) + int64(len(k.Of)-from) - 1, state.Amount{
		CPU: left(j.need.CPU, c.CPU, u.CPU, a.CPU), Memory: left(j.need.Memory, c.Memory, u.Memory, a.Memory),
		Ephemeral: left(j.need.Ephemeral, c.Ephemeral, u.Ephemeral, a.Ephemeral),
	}}
}

// tryQuick reprieves pods while the pod still fits: first those whose eviction violates a budget,
// each group by importance. Amounts are compared directly. The other trials run only for pods that
// affect them: what fits keeps fitting while other pods come back.
func (j *dryRun) tryQuick(row int, k *state.Ranking, from int, room headroom) bool {
	for _, t := range j.quick {
		t.Begin(int32(row), nil)
	}
	if len(j.quick) > 0 {
		for i := from; i < len(k.Of); i++ {
			if m := j.affectedBy(k, i); m != 0 {
				j.shift(m, k.Pods[i], -1)
			}
		}
		if !j.fitsQuick(math.MaxUint32) {
			return false
		}
	}
	j.classify(k, from)
	of, gone := k.Of[from:], j.gone
	if len(j.quick) == 0 && !j.violated {
		// The most important ones stay, which a search finds without a look at each.
		j.first = k.Fitting(from, room.pods, room.Amount)
		clear(gone[:j.first])
		all, rest := &k.After[from], &k.After[from+j.first]
		room.pods -= int64(j.first)
		room.CPU -= all.CPU - rest.CPU
		room.Memory -= all.Memory - rest.Memory
		room.Ephemeral -= all.Ephemeral - rest.Ephemeral
	}
	for _, i := range j.order[j.first:] {
		p := &j.amounts[of[i].Amount]
		if room.pods < 1 || p.CPU > room.CPU || p.Memory > room.Memory || p.Ephemeral > room.Ephemeral {
			gone[i] = true
			continue
		}
		if len(j.quick) > 0 {
			if m := j.affectedBy(k, from+int(i)); m != 0 {
				j.shift(m, k.Pods[from+int(i)], 1)
				if !j.fitsQuick(m) {
					j.shift(m, k.Pods[from+int(i)], -1)
					gone[i] = true
					continue
				}
			}
		}
		gone[i] = false
		room.pods--
		room.CPU -= p.CPU
		room.Memory -= p.Memory
		room.Ephemeral -= p.Ephemeral
	}
	return true
}

// shift moves a pod for some trials of quick.
func (j *dryRun) shift(which uint32, p *state.Pod, n int32) {
	for ; which != 0; which &= which - 1 {
		j.quick[bits.TrailingZeros32(which)].Move(p, n)
	}
}

func (j *dryRun) fitsQuick(which uint32) bool {
	for i, t := range j.quick {
		if which&(1<<i) != 0 && !t.Fits() {
			return false
		}
	}
	return true
}
