package rules

import (
	"fmt"
	"math"
	"math/bits"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// Strategy names a way to score by resources.
type Strategy string

// The strategies of NodeResourcesFit.
const (
	LeastAllocated           Strategy = "LeastAllocated"
	MostAllocated            Strategy = "MostAllocated"
	RequestedToCapacityRatio Strategy = "RequestedToCapacityRatio"
)

// ResourceWeight is the weight of a resource in a score.
type ResourceWeight struct {
	Name   string `json:"name"`
	Weight int64  `json:"weight"`
}

// ShapePoint is a corner of the function from utilisation (percent) to score
// (0 to 10).
type ShapePoint struct {
	Utilization int64 `json:"utilization"`
	Score       int64 `json:"score"`
}

// resourceScorer is what the scores of Fit have in common: a score for each resource from the
// requested and the allocatable amount, then a weighted mean
// (plugins/noderesources/resource_allocation.go).
type resourceScorer struct {
	strategy  Strategy
	resources []ResourceWeight
	shape     []ShapePoint // scores scaled to 0..100
}

func newResourceScorer(s Strategy, resources []ResourceWeight, shape []ShapePoint) (resourceScorer, error) {
	out := resourceScorer{strategy: s, resources: resources}
	switch s {
	case LeastAllocated, MostAllocated:
	case RequestedToCapacityRatio:
		if len(shape) == 0 {
			return out, fmt.Errorf("scoringStrategy.requestedToCapacityRatio.shape: at least one point is required")
		}
		for _, p := range shape {
			out.shape = append(out.shape, ShapePoint{p.Utilization, p.Score * (engine.MaxScore / 10)})
		}
	default:
		return out, fmt.Errorf("scoringStrategy.type: %q is none of LeastAllocated, MostAllocated, RequestedToCapacityRatio", s)
	}
	return out, nil
}

// asked is one resource of a scorer, ready for the loop over nodes.
type asked struct {
	weight int64
	read   resourceReader
	want   int64
}

// resourceReader reads what a node offers of a resource and how much of it is requested.
type resourceReader struct {
	kind      corev1.ResourceName // cpu, memory, ephemeral-storage, or empty for a scalar
	column    []int64
	requested *state.Requested
	nonZero   bool
}

func (r *resourceReader) at(c *state.Capacity, u *state.Use, row int) (capacity, used int64) {
	switch r.kind {
	case corev1.ResourceCPU:
		if r.nonZero {
			return c.CPU, u.NonZeroCPU
		}
		return c.CPU, u.CPU
	case corev1.ResourceMemory:
		if r.nonZero {
			return c.Memory, u.NonZeroMem
		}
		return c.Memory, u.Memory
	case corev1.ResourceEphemeralStorage:
		return c.Ephemeral, u.Ephemeral
	default:
		if r.column == nil {
			return 0, 0
		}
		return r.column[row], r.requested.At(row)
	}
}

// ask resolves the resources of a scorer for one pod. A scalar that the pod does not request is
// left out.
func ask(q *engine.Query, resources []ResourceWeight, nonZero bool) []asked {
	list := q.ScoringRequest(nonZero)
	out := make([]asked, 0, len(resources))
	for _, r := range resources {
		name := corev1.ResourceName(r.Name)
		a := asked{weight: r.Weight, read: resourceReader{nonZero: nonZero}}
		a.want = list.Of(q, name)
		switch name {
		case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
			a.read.kind = name
		default:
			id, known := q.ScalarID(r.Name)
			if a.want == 0 || !known {
				continue
			}
			a.read.column, a.read.requested = q.Nodes.ScalarColumn(id), q.State.Requested(id)
		}
		out = append(out, a)
	}
	return out
}

// score scores the feasible rows. Raw and normalised scores are the same.
func (s *resourceScorer) score(q *engine.Query, feasible state.Bits, out *engine.Scores) {
	if s.strategy == LeastAllocated && plainPair(s.resources) && s.resources[0].Weight == s.resources[1].Weight {
		column := q.ByteColumn()
		cpu, memory := askPair(q, true)
		if leastOfPair(q, feasible, column, cpu, memory) {
			out.Bytes(column, nil)
			return
		}
	}
	list := ask(q, s.resources, true)
	raw := out.Raw
	out.Same()
	each(q, feasible, func(row int, c *state.Capacity, u *state.Use) {
		var sum, weights int64
		for i := range list {
			a := &list[i]
			capacity, used := a.read.at(c, u, row)
			if capacity == 0 {
				continue
			}
			n := s.one(used+a.want, capacity)
			if s.strategy == RequestedToCapacityRatio && n <= 0 {
				continue
			}
			sum += n * a.weight
			weights += a.weight
		}
		switch {
		case weights == 0:
			raw[row] = 0
		case s.strategy == RequestedToCapacityRatio:
			raw[row] = int64(math.Round(float64(sum) / float64(weights)))
		default:
			raw[row] = sum / weights
		}
	})
}

// one scores one resource of one node, 0 to 100.
func (s *resourceScorer) one(requested, capacity int64) int64 {
	switch s.strategy {
	case MostAllocated:
		return min(requested, capacity) * engine.MaxScore / capacity
	case RequestedToCapacityRatio:
		if requested > capacity {
			return s.at(100)
		}
		return s.at(requested * 100 / capacity)
	default:
		return least(requested, capacity)
	}
}

func least(requested, capacity int64) int64 {
	if requested > capacity {
		return 0
	}
	return (capacity - requested) * engine.MaxScore / capacity
}

// at evaluates the shape: constant outside of its corners, linear between them.
func (s *resourceScorer) at(utilization int64) int64 {
	for i, p := range s.shape {
		if utilization > p.Utilization {
			continue
		}
		if i == 0 {
			return p.Score
		}
		o := s.shape[i-1]
		return o.Score + (p.Score-o.Score)*(utilization-o.Utilization)/(p.Utilization-o.Utilization)
	}
	return s.shape[len(s.shape)-1].Score
}

// each visits the feasible rows with their capacity and use.
func each(q *engine.Query, feasible state.Bits, f func(row int, c *state.Capacity, u *state.Use)) {
	capacity := q.Nodes.Capacities()
	for from, to := range feasible.BlockRuns() {
		uses := q.State.Uses(from, to)
		for k := range uses {
			f(from+k, &capacity[from+k], &uses[k])
		}
	}
}

// plainPair reports whether the resources are cpu and memory. That is the default and has its own
// loops: a call per node costs more than the arithmetic.
func plainPair(list []ResourceWeight) bool {
	return len(list) == 2 && list[0].Name == string(corev1.ResourceCPU) && list[1].Name == string(corev1.ResourceMemory)
}

// askPair is ask for a plain pair.
func askPair(q *engine.Query, nonZero bool) (cpu, memory int64) {
	list := q.ScoringRequest(nonZero)
	return list.Of(q, corev1.ResourceCPU), list.Of(q, corev1.ResourceMemory)
}

// leastOfPair is LeastAllocated for cpu and memory of equal weight. It returns false where a score
// does not fit a byte, since amounts overflow.
func leastOfPair(q *engine.Query, feasible state.Bits, raw []uint8, cpu, memory int64) bool {
	return scorePair(q, feasible, raw, cpu, memory, false, func(rows uint16, uses []state.Use, capacities []state.Capacity, out []uint8) (all int64) {
		for ; rows != 0; rows &= rows - 1 {
			k := bits.TrailingZeros16(rows)
			u, c, n := &uses[k], &capacities[k], int64(0)
			switch {
			case c.CPU != 0 && c.Memory != 0:
				n = (least(u.NonZeroCPU+cpu, c.CPU) + least(u.NonZeroMem+memory, c.Memory)) / 2
			case c.CPU != 0:
				n = least(u.NonZeroCPU+cpu, c.CPU)
			case c.Memory != 0:
				n = least(u.NonZeroMem+memory, c.Memory)
			}
			all |= n
			out[k] = uint8(n)
		}
		return all
	})
}

// scorePair scores by cpu and memory, by their balance or by what is left: blocks of nodes by what
// the pods there take of them, and with rest those of a block's nodes of which that does not tell.
// It returns false where a score does not fit a byte; rest returns all bits of its scores.
func scorePair(q *engine.Query, feasible state.Bits, raw []uint8, cpu, memory int64, balance bool,
	rest func(rows uint16, uses []state.Use, capacities []state.Capacity, out []uint8) int64,
) bool {
	var all int64
	pod, capacity := state.NewPodShares(cpu, memory), q.Nodes.Capacities()
	for i, word := range feasible {
		for at := i << state.ChunkBits; word != 0; at += state.BlockSize {
			rows := uint16(word)
			if word >>= state.BlockSize; rows == 0 {
				continue
			}
			block := (*[state.BlockSize]uint8)(raw[at:])
			if balance { // no function is passed: the shares would be allocated
				rows &= pod.Balanced(q.State, at, block)
			} else {
				rows &= pod.PercentLeft(q.State, at, block)
			}
			if rows != 0 {
				to := min(at+state.BlockSize, len(capacity))
				all |= rest(rows, q.State.Uses(at, to), capacity[at:to], raw[at:to])
			}
		}
	}
	return all&^math.MaxUint8 == 0
}
