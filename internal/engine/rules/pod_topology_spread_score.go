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
	points, scored, err := p.soft(q, feasible)
	if err != nil {
		return err
	}
	if len(points) == 0 {
		out.Skip()
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

// soft returns the points of the soft constraints, none without such, and the feasible nodes that
// are not ignored for lacking a key.
func (p *PodTopologySpread) soft(q *engine.Query, feasible state.Bits) ([]softPoints, state.Bits, error) {
	list, err := p.constraints(q, corev1.ScheduleAnyway)
	if err != nil || len(list) == 0 {
		return nil, nil, err
	}
	keyed := withKeys(q, list)
	scored := q.Bits()
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
	return points, scored, nil
}

// ScoreParts has a part for each soft constraint.
func (p *PodTopologySpread) ScoreParts(q *engine.Query, _ []*spreadCounts, feasible state.Bits) func(row int) []engine.ScorePart {
	points, scored, err := p.soft(q, feasible)
	return func(row int) (parts []engine.ScorePart) {
		if err != nil || !scored.Has(row) {
			return nil
		}
		for k := range points {
			s := &points[k]
			v := s.column.Value[row]
			if v < 0 {
				continue
			}
			n := int64(0)
			if s.counts != nil {
				n = int64(s.counts[row])
			} else {
				n = s.inDomain[v]
			}
			parts = append(parts, engine.ScorePart{
				By: engine.PartSpread, TopologyKey: s.column.Key, Count: n, Weight: s.weight, Base: int64(s.base), Points: s.of(n),
			})
		}
		return parts
	}
}

// needsAllKeys reports whether a node that lacks the key of a soft constraint is left out of the
// score. Upstream's own default constraints leave none out: many nodes have no zone.
func (p *PodTopologySpread) needsAllKeys(q *engine.Query) bool {
	return len(q.Pod.Spec.TopologySpreadConstraints) > 0 || !p.System
}

// softPoints is one soft constraint's part of a node's score: by value of the topology key or, for
// hostnames, by the count of each row. Rows without the key have 0.
type softPoints struct {
	column   *state.Column
	byValue  []float64
	inDomain []int64 // pods, by value
	counts   []int32
	weight   float64
	base     float64
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
		for _, seg := range c.matching(q) {
			for _, e := range seg {
				if c.column.Value[e.Row] < 0 {
					continue
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
	out.byValue, out.inDomain = make([]float64, len(counts)), counts
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
