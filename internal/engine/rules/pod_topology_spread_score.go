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
	if values, ok := mostlyByValue(points); ok {
		p.scoreByClass(q, points, values, scored, out)
		return nil
	}
	least, most := int64(math.MaxInt64), int64(0)
	for row := range scored.All() {
		s := pointsAt(points, row)
		out.Raw[row] = s
		least, most = min(least, s), max(most, s)
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
	column  *state.Column
	byValue []float64
	counts  []int32
	met     []int32 // the rows that have a count
	weight  float64
	base    float64
}

// mostlyByValue reports whether rows without a count differ by at most one constraint's value
// alone, which is nil where there is no such constraint.
func mostlyByValue(points []softPoints) (values *softPoints, ok bool) {
	for k := range points {
		switch p := &points[k]; {
		case p.counts != nil:
			if !p.column.Whole {
				return nil, false
			}
		case values != nil:
			return nil, false
		default:
			values = p
		}
	}
	return values, true
}

// scoreByClass scores by the value of one constraint, and rows with a count one by one.
func (p *PodTopologySpread) scoreByClass(q *engine.Query, points []softPoints, values *softPoints, scored state.Bits, out *engine.Scores) {
	var column *state.Column
	if values != nil {
		column = values.column
	}
	c := newClassScores(q, column)
	for class := range c.Raw {
		var sum float64
		for k := range points {
			if s := &points[k]; s.counts != nil {
				sum += s.of(0)
			} else if class < len(s.byValue) {
				sum += s.byValue[class]
			}
		}
		c.Raw[class] = int64(math.Round(sum))
	}
	for k := range points {
		for _, row := range points[k].met {
			if scored.Has(int(row)) && !c.Own.Has(int(row)) {
				c.Own.Set(int(row))
				out.Raw[row] = pointsAt(points, int(row))
			}
		}
	}
	last := len(c.Raw) - 1
	ignored := values != nil && p.needsAllKeys(q) // rows without the key
	least, most := c.span(scored, out.Raw)
	most = max(most, 0)
	c.normalize(least, most, func(raw int64) int64 { return normalSpread(raw, least, most) }, out)
	if ignored {
		c.Raw[last], c.Norm[last] = 0, 0
	}
}

// pointsAt returns the sum of all constraints for a row.
func pointsAt(points []softPoints, row int) int64 {
	var sum float64
	for k := range points {
		p := &points[k]
		switch v := p.column.Value[row]; {
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
	out := softPoints{column: c.column, base: float64(c.MaxSkew - 1)}
	if c.TopologyKey == corev1.LabelHostname {
		// Counted on the node itself, whatever the policies are.
		out.weight = math.Log(float64(nodes + 2))
		out.counts = q.Counts(len(c.column.Value))
		out.met = q.Counts(len(c.column.Value))[:0]
		for _, seg := range c.matching(q) {
			for _, e := range seg {
				if c.column.Value[e.Row] < 0 {
					continue
				}
				if out.counts[e.Row] == 0 {
					out.met = append(out.met, e.Row)
				}
				out.counts[e.Row] += e.N
			}
		}
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
	if counting == nil {
		counting = keyed
	}
	counts := make([]int64, len(c.column.Values))
	for _, seg := range c.matching(q) {
		for _, e := range seg {
			v := c.column.Value[e.Row]
			if v < 0 && !c.selector.Empty() {
				// Upstream reads the missing label as "", which is a real value where some node
				// bears it.
				v = blank
			}
			if v >= 0 && seen[v] && counting.Has(int(e.Row)) {
				counts[v] += int64(e.N)
			}
		}
	}
	out.byValue = make([]float64, len(counts))
	for v := range counts {
		out.byValue[v] = out.of(counts[v])
	}
	return out
}

// normalSpread turns "fewer is better" into 0..100.
func normalSpread(raw, least, most int64) int64 {
	if most == 0 {
		return engine.MaxScore
	}
	return engine.MaxScore * (most + least - raw) / most
}

// normalizeSpread normalises the scores of all rows; ignored nodes get 0.
func normalizeSpread(feasible, scored state.Bits, least, most int64, out *engine.Scores) {
	one := func(raw int64) int64 { return normalSpread(raw, least, most) }
	known := knownNorms(least, most, one)
	for row := range feasible.All() {
		if !scored.Has(row) {
			out.Raw[row], out.Norm[row] = 0, 0
			continue
		}
		out.Norm[row] = normOf(known, least, out.Raw[row], one)
	}
}
