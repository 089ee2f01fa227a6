package rules

import (
	"fmt"
	"math"

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
	kind      resourceKind
	column    []int64 // of a scalar
	requested *state.Requested
}

// resourceKind tells the resources apart, which a loop over nodes does faster than their names.
type resourceKind uint8

const (
	ofScalar resourceKind = iota
	ofCPU
	ofMemory
	ofEphemeral
	ofCPUNonZero // with the defaults for containers that lack a request
	ofMemoryNonZero
)

func kindOf(name corev1.ResourceName, nonZero bool) resourceKind {
	switch {
	case name == corev1.ResourceCPU && nonZero:
		return ofCPUNonZero
	case name == corev1.ResourceCPU:
		return ofCPU
	case name == corev1.ResourceMemory && nonZero:
		return ofMemoryNonZero
	case name == corev1.ResourceMemory:
		return ofMemory
	case name == corev1.ResourceEphemeralStorage:
		return ofEphemeral
	}
	return ofScalar
}

func (r *resourceReader) at(c *state.Capacity, u *state.Use, row int) (capacity, used int64) {
	switch r.kind {
	case ofCPU:
		return c.CPU, u.CPU
	case ofMemory:
		return c.Memory, u.Memory
	case ofEphemeral:
		return c.Ephemeral, u.Ephemeral
	case ofCPUNonZero:
		return c.CPU, u.NonZeroCPU
	case ofMemoryNonZero:
		return c.Memory, u.NonZeroMem
	}
	if r.column == nil {
		return 0, 0
	}
	return r.column[row], r.requested.At(row)
}

// ask resolves the resources of a scorer for one pod. A scalar that the pod does not request is
// left out.
func ask(q *engine.Query, resources []ResourceWeight, nonZero bool) []asked {
	list := q.ScoringRequest(nonZero)
	out := make([]asked, 0, len(resources))
	for _, r := range resources {
		name := corev1.ResourceName(r.Name)
		a := asked{weight: r.Weight, want: list.Of(q, name), read: resourceReader{kind: kindOf(name, nonZero)}}
		if a.read.kind == ofScalar {
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
	out.Same()
	if r := s.resources; s.strategy == LeastAllocated && plainPair(r) && r[0].Weight == 1 && r[1].Weight == 1 {
		leastOfPair(q, feasible, out.Raw)
		return
	}
	list := ask(q, s.resources, true)
	raw, ratio := out.Raw, s.strategy == RequestedToCapacityRatio
	one := least
	switch s.strategy {
	case MostAllocated:
		one = most
	case RequestedToCapacityRatio:
		one = s.ratio
	}
	each(q, feasible, func(row int, c *state.Capacity, u *state.Use) {
		var sum, weights int64
		for i := range list {
			a := &list[i]
			capacity, used := a.read.at(c, u, row)
			if capacity == 0 {
				continue
			}
			n := one(used+a.want, capacity)
			if ratio && n <= 0 {
				continue
			}
			sum += n * a.weight
			weights += a.weight
		}
		switch {
		case weights == 0:
			raw[row] = 0
		case ratio:
			raw[row] = int64(math.Round(float64(sum) / float64(weights)))
		default:
			raw[row] = sum / weights
		}
	})
}

// The scores of one resource of one node, 0 to 100, by strategy.

func least(requested, capacity int64) int64 {
	if requested > capacity {
		return 0
	}
	return (capacity - requested) * engine.MaxScore / capacity
}

func most(requested, capacity int64) int64 {
	return min(requested, capacity) * engine.MaxScore / capacity
}

func (s *resourceScorer) ratio(requested, capacity int64) int64 {
	if requested > capacity {
		return s.at(100)
	}
	return s.at(requested * 100 / capacity)
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

// leastOfPair is LeastAllocated for cpu and memory of weight 1.
func leastOfPair(q *engine.Query, feasible state.Bits, raw []int64) {
	pod, capacity := q.ScoringRequest(true), q.Nodes.Capacities()
	for from, to := range feasible.BlockRuns() {
		for k, u := range q.State.Uses(from, to) {
			c, n := &capacity[from+k], int64(0)
			switch {
			case c.CPU != 0 && c.Memory != 0:
				n = (least(u.NonZeroCPU+pod.CPU, c.CPU) + least(u.NonZeroMem+pod.Memory, c.Memory)) / 2
			case c.CPU != 0:
				n = least(u.NonZeroCPU+pod.CPU, c.CPU)
			case c.Memory != 0:
				n = least(u.NonZeroMem+pod.Memory, c.Memory)
			}
			raw[from+k] = n
		}
	}
}
