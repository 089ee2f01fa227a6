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
	writePoints(points, scored, out.Raw)
	for from, to := range scored.Runs() {
		for _, s := range out.Raw[from:to] {
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
// hostnames, by the count of each row. Rows without the key have 0.
type softPoints struct {
	value   []int32
	byValue []float64
	counts  []int32
	met     []int32 // the rows that have a count
	whole   bool    // every row has the key
	weight  float64
	base    float64
}

// writePoints writes the sum of all constraints for each row. Where at most one constraint is by
// value, rows without a count differ by that value alone, and each sum is worked out once.
func writePoints(points []softPoints, scored state.Bits, raw []int64) {
	var values *softPoints
	simple := true
	for k := range points {
		switch p := &points[k]; {
		case p.counts != nil:
			simple = simple && p.whole
		case values == nil:
			values = p
		default:
			simple = false
		}
	}
	if !simple {
		for row := range scored.All() {
			raw[row] = pointsAt(points, row)
		}
		return
	}
	plain := func(v int) int64 { // without a count
		var sum float64
		for k := range points {
			if p := &points[k]; p.counts != nil {
				sum += p.of(0)
			} else if v >= 0 {
				sum += p.byValue[v]
			}
		}
		return int64(math.Round(sum))
	}
	without, sums := plain(-1), []int64(nil)
	if values != nil {
		for v := range values.byValue {
			sums = append(sums, plain(v))
		}
	}
	for from, to := range scored.Runs() {
		for k := from; k < to; k++ {
			raw[k] = without
			if values != nil && values.value[k] >= 0 {
				raw[k] = sums[values.value[k]]
			}
		}
	}
	for k := range points {
		for _, row := range points[k].met {
			if scored.Has(int(row)) {
				raw[row] = pointsAt(points, int(row))
			}
		}
	}
}

// pointsAt returns the sum of all constraints for a row.
func pointsAt(points []softPoints, row int) int64 {
	var sum float64
	for k := range points {
		p := &points[k]
		switch v := p.value[row]; {
		case v < 0:
		case p.counts != nil:
			sum += p.of(int64(p.counts[row]))
		default:
			sum += p.byValue[v]
		}
	}
	return int64(math.Round(sum))
}

// of turns a count into points. The product is rounded on its own, so that no machine fuses it with
// the sum and changes bits.
func (s *softPoints) of(count int64) float64 { return float64(float64(count)*s.weight) + s.base }

func (c *spreadConstraint) points(q *engine.Query, keyed, scored state.Bits, nodes int) softPoints {
	out := softPoints{value: c.column.Value, base: float64(c.MaxSkew - 1)}
	if c.TopologyKey == corev1.LabelHostname {
		// Counted on the node itself, whatever the policies are.
		out.weight = math.Log(float64(nodes + 2))
		out.counts, out.whole = q.Counts(len(c.column.Value)), c.column.Whole
		c.eachMatching(q, func(row, n int32) {
			out.counts[row] += n
			out.met = append(out.met, row)
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
