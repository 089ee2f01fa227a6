package engine

import (
	"math"
	"math/bits"

	"berth/internal/engine/state"
)

// affectedBy says which of quick a pod matters to.
func (j *rowJudge) affectedBy(k *state.Ranking, i int) uint32 {
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

// headroom is what a node would have left beside the pod.
type headroom struct{ pods, cpu, memory, ephemeral int64 }

// unlimited is for profiles in which nobody measures.
var unlimited = headroom{math.MaxInt64 / 2, math.MaxInt64 / 2, math.MaxInt64 / 2, math.MaxInt64 / 2}

func (s *headroom) enough() bool {
	return s.pods >= 0 && s.cpu >= 0 && s.memory >= 0 && s.ephemeral >= 0
}

// headroom is for a row without all pods of lower priority.
func (j *rowJudge) headroom(row int, k *state.Ranking, from int) headroom {
	c, u, a := &j.q.Nodes.Capacities()[row], j.q.State.Use(row), &k.After[from]
	left := func(need, capacity, used, freed int64) int64 {
		if need == math.MinInt64 {
			return math.MaxInt64 / 2 // not asked for: as much as anybody likes
		}
		return capacity - used + freed - need
	}
	return headroom{
		pods: c.Pods - u.Pods + int64(len(k.Of)-from) - 1,
		cpu:  left(j.need.CPU, c.CPU, u.CPU, a.CPU), memory: left(j.need.Memory, c.Memory, u.Memory, a.Memory),
		ephemeral: left(j.need.Ephemeral, c.Ephemeral, u.Ephemeral, a.Ephemeral),
	}
}

// tryQuick lets pods stay for as long as the pod fits beside them: first those
// whose eviction a budget forbids, each group by importance. Amounts are compared
// at once, and the other judges are asked only about pods that matter to them:
// whatever fits goes on fitting while others come back.
func (j *rowJudge) tryQuick(row int, k *state.Ranking, from int, room headroom) bool {
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
	passes := 1
	if j.classify(k, from) {
		passes = 2
	}
	for pass := range passes {
		for i := range j.gone {
			if passes == 2 && j.violates[i] != (pass == 0) {
				continue
			}
			p := &k.Of[from+i]
			if room.pods < 1 || p.CPU > room.cpu || p.Memory > room.memory || p.Ephemeral > room.ephemeral {
				j.gone[i] = true
				continue
			}
			if len(j.quick) > 0 {
				if m := j.affectedBy(k, from+i); m != 0 {
					j.shift(m, k.Pods[from+i], 1)
					if !j.fitsQuick(m) {
						j.shift(m, k.Pods[from+i], -1)
						j.gone[i] = true
						continue
					}
				}
			}
			j.gone[i] = false
			room.pods--
			room.cpu -= p.CPU
			room.memory -= p.Memory
			room.ephemeral -= p.Ephemeral
		}
	}
	return true
}

// shift moves a pod for some of quick.
func (j *rowJudge) shift(which uint32, p *state.Pod, n int32) {
	for ; which != 0; which &= which - 1 {
		j.quick[bits.TrailingZeros32(which)].Move(p, n)
	}
}

func (j *rowJudge) fitsQuick(which uint32) bool {
	for i, t := range j.quick {
		if which&(1<<i) != 0 && !t.Fits() {
			return false
		}
	}
	return true
}
