package preempt

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

// unlimited is for profiles without a Measurer. All pods of a node fit in, as their sum does not
// overflow.
var unlimited = headroom{math.MaxInt64, state.Amount{CPU: math.MaxInt64, Memory: math.MaxInt64, Ephemeral: math.MaxInt64}}

func (s headroom) enough() bool {
	return s.pods|s.CPU|s.Memory|s.Ephemeral >= 0
}

// headroom returns the headroom of a row without all pods of lower priority, so many with that sum.
func (j *dryRun) headroom(row int, c *state.Capacity, pods int, sum state.Amount) headroom {
	u := j.q.State.Use(row)
	left := func(need, capacity, used, freed int64) int64 {
		if need == math.MinInt64 {
			return math.MaxInt64 // no request: anything is enough
		}
		return capacity - used + freed - need
	}
	return headroom{c.Pods - int64(u.Pods) + int64(pods) - 1, state.Amount{
		CPU: left(j.need.CPU, c.CPU, u.CPU, sum.CPU), Memory: left(j.need.Memory, c.Memory, u.Memory, sum.Memory),
		Ephemeral: left(j.need.Ephemeral, c.Ephemeral, u.Ephemeral, sum.Ephemeral),
	}}
}

// holds reports whether a pod with the request fits in.
func (s headroom) holds(p *state.Amount) bool {
	return s.pods >= 1 && p.CPU <= s.CPU && p.Memory <= s.Memory && p.Ephemeral <= s.Ephemeral
}

// less returns what is left beside pods with the sum.
func (s headroom) less(pods int64, sum *state.Amount) headroom {
	return headroom{s.pods - pods, s.Minus(sum)}
}

// more returns what is left without one of the pods.
func (s headroom) more(p *state.Amount) headroom {
	return headroom{s.pods + 1, s.Plus(p)}
}

// fitsWithout reports whether the other trials let the pod fit without all pods of lower priority.
func (j *dryRun) fitsWithout(row int, k *state.Ranking, from int) bool {
	if len(j.quick) == 0 {
		return true
	}
	for _, t := range j.quick {
		t.Begin(int32(row), nil)
	}
	for i := from; i < len(k.Of); i++ {
		if m := j.affectedBy(k, i); m != 0 {
			j.shift(m, k.Pods[i], -1)
		}
	}
	return j.fitsQuick(math.MaxUint32)
}

// evictLast makes a candidate where amounts alone count and no budget is violated. The most
// important pods stay, which a search finds without a look at each.
func (j *dryRun) evictLast(row int, k *state.Ranking, from int, room headroom, sum state.Amount) (candidate, rowVerdict) {
	stay, kept := k.Fitting(from, room.pods, room.Amount, sum, &j.classes)
	room = room.less(int64(stay), &kept)
	c := candidate{row: int32(row)}
	for i := from + stay; i < len(k.Of); i++ {
		p := &k.Of[i]
		if a := j.classes.Amount(p.Class); room.holds(a) {
			room = room.less(1, a)
		} else {
			j.evict(&c, p, false)
		}
	}
	return c, c.verdict()
}

// reprieveQuick puts pods back while the pod still fits: first those whose eviction violates a
// budget, each group by importance. Amounts are compared directly. The other trials run only for
// pods that affect them: what fits keeps fitting while other pods come back.
func (j *dryRun) reprieveQuick(k *state.Ranking, from int, room headroom) {
	for _, group := range j.order {
		for i := range group.AllAnd(j.gone) {
			a := j.classes.Amount(k.Of[from+i].Class)
			if room.holds(a) && (len(j.quick) == 0 || j.fitsBeside(k, from+i)) {
				room = room.less(1, a)
				j.gone.Clear(i)
			}
		}
	}
}

// keepFirst puts back the first pods up to one that does not fit, where amounts alone count, and
// returns what is left beside them. It looks for them from the end, by the sum of all: those that
// have to go are mostly few.
func (j *dryRun) keepFirst(k *state.Ranking, from int, room headroom, sum state.Amount) headroom {
	j.gone.Zero()
	room = room.less(int64(len(k.Of)-from), &sum)
	for g := len(j.order) - 1; g >= 0; g-- {
		for w := len(j.gone) - 1; w >= 0; w-- {
			for group := j.order[g][w]; group != 0; {
				if room.enough() {
					return room
				}
				last := bits.Len64(group) - 1
				group &^= 1 << last
				j.gone[w] |= 1 << last
				room = room.more(j.classes.Amount(k.Of[from+w<<state.ChunkBits+last].Class))
			}
		}
	}
	return room
}

// fitsBeside puts a pod back if the other trials still let the pod fit, and reports that.
func (j *dryRun) fitsBeside(k *state.Ranking, i int) bool {
	m := j.affectedBy(k, i)
	if m == 0 {
		return true
	}
	j.shift(m, k.Pods[i], 1)
	if j.fitsQuick(m) {
		return true
	}
	j.shift(m, k.Pods[i], -1)
	return false
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
