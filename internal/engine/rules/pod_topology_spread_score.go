package rules

import (
	"math"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// Score prefers domains with fewer matching pods. For each soft constraint a node gets count ×
// ln(domains+2) + maxSkew-1; for hostnames the count is the node's own. Fewer is better
// (plugins/podtopologyspread/scoring.go).
func (p *PodTopologySpread) Score(q *engine.Query, _ []*spreadCounts, feasible state.Bits, out *engine.Scores) error {
	list, err := p.constraints(q, corev1.ScheduleAnyway)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		out.Skip()
		return nil
	}
	keyed := withKeys(q, list)
	scored := q.Bits() // the feasible nodes that are not ignored for lacking a key
	copy(scored, feasible)
	if p.needsAllKeys(q) {
		scored.And(keyed)
	} else {
		keyed = q.Nodes.Alive()
	}
	nodes := scored.Count()
	points := make([]softPoints, 0, len(list))
	for _, c := range list {
		points = append(points, c.points(q, keyed, scored, nodes))
	}
	least, most := int64(math.MaxInt64), int64(0)
	for from, to := range scored.Runs() {
		for row := from; row < to; row++ {
			var sum float64
			for k := range points {
				pt := &points[k]
				if pt.byRow != nil {
					sum += pt.byRow[row]
				} else if v := pt.value[row]; v >= 0 {
					sum += pt.byValue[v]
				}
			}
			s := int64(math.Round(sum))
			out.Raw[row] = s
			least, most = min(least, s), max(most, s)
		}
	}
	normalizeSpread(feasible, scored, least, most, out)
	return nil
}

// needsAllKeys reports whether a node that lacks the key of a soft constraint is left out of the
// score. Upstream's own default constraints leave none out: many nodes have no zone.
func (p *PodTopologySpread) needsAllKeys(q *engine.Query) bool {
	return len(q.Pod.Spec.TopologySpreadConstraints) > 0 || !p.System
}

// softPoints is one soft constraint's part of a node's score: by value of the topology key or, for
// hostnames, by row (0 without the key).
type softPoints struct {
	value   []int32
	byValue []float64
	byRow   []float64
	weight  float64
	base    float64
}

// of turns a count into points. The product is rounded on its own, so that no machine fuses it with
// the sum and changes bits.
func (s *softPoints) of(count int64) float64 { return float64(float64(count)*s.weight) + s.base }

func (c *spreadConstraint) points(q *engine.Query, keyed, scored state.Bits, nodes int) softPoints {
	out := softPoints{value: c.column.Value, base: float64(c.MaxSkew - 1)}
	if c.TopologyKey == corev1.LabelHostname {
		// Counted on the node itself, whatever the policies are.
		out.weight = math.Log(float64(nodes + 2))
		out.byRow = q.Floats()
		none := out.of(0)
		for row, v := range c.column.Value {
			out.byRow[row] = none
			if v < 0 {
				out.byRow[row] = 0
			}
		}
		counts := q.Counts(len(c.column.Value))
		c.eachMatching(q, func(row, n int32) {
			counts[row] += n
			out.byRow[row] = out.of(int64(counts[row]))
		})
		return out
	}
	// A node without the key, where that does not exclude it, stands for the
	// domain "" in the number of domains.
	blank := c.column.Lookup("")
	seen := make([]bool, len(c.column.Values)+1)
	size := 0
	possible := len(c.column.Values) + 1
	if c.column.Whole {
		possible--
	}
	for row := range scored.All() {
		if size == possible {
			break
		}
		v := c.column.Value[row]
		if v < 0 {
			if v = blank; v < 0 {
				v = int32(len(c.column.Values))
			}
		}
		if !seen[v] {
			seen[v] = true
			size++
		}
	}
	out.weight = math.Log(float64(size + 2))
	counting := c.counting(q, keyed)
	counts := make([]int64, len(c.column.Values))
	c.eachMatching(q, func(row, n int32) {
		if v := c.column.Value[row]; seen[v] && (counting == nil && keyed.Has(int(row)) || counting != nil && counting.Has(int(row))) {
			counts[v] += int64(n)
		}
	})
	if blank >= 0 && seen[blank] {
		counts[blank] += c.unkeyedMatching(q, keyed, counting)
	}
	out.byValue = make([]float64, len(counts))
	for v := range counts {
		out.byValue[v] = out.of(counts[v])
	}
	return out
}

// unkeyedMatching counts the matching pods on nodes without the key: upstream
// reads their missing label as "", which is a real value where some node bears
// it.
func (c *spreadConstraint) unkeyedMatching(q *engine.Query, keyed, counting state.Bits) int64 {
	var total int64
	if c.selector.Empty() {
		return 0
	}
	if counting == nil {
		counting = keyed
	}
	for _, s := range q.ShapesIn(nil, q.Pod.Namespace, c.selector) {
		if s.Terminating {
			continue
		}
		q.State.ShapePostings(s.ID).Each(func(row, n int32) {
			if c.column.Value[row] < 0 && counting.Has(int(row)) {
				total += int64(n)
			}
		})
	}
	return total
}

// normalizeSpread turns "fewer is better" into 0..100; ignored nodes get 0.
func normalizeSpread(feasible, scored state.Bits, least, most int64, out *engine.Scores) {
	// Raw scores are few and small, so each is divided once.
	var known []int64
	if most > 0 && most-least < 4096 {
		known = make([]int64, most-least+1)
		for i := range known {
			known[i] = engine.MaxScore * (most + least - (least + int64(i))) / most
		}
	}
	ignored := feasible.Clone()
	ignored.AndNot(scored)
	for row := range ignored.All() {
		out.Raw[row], out.Norm[row] = 0, 0
	}
	for from, to := range scored.Runs() {
		norm := out.Norm[from:to]
		for k, raw := range out.Raw[from:to] {
			switch {
			case known != nil:
				norm[k] = known[raw-least]
			case most == 0:
				norm[k] = engine.MaxScore
			default:
				norm[k] = engine.MaxScore * (most + least - raw) / most
			}
		}
	}
}
