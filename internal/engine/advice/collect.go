package advice

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// bucket is a group while it is being filled.
type bucket struct {
	cause  Cause
	rows   state.Bits
	nodes  int
	lacks  lacks
	also   map[Cause]*bucket
	merged int
}

// lacks are the amounts that nodes lack.
type lacks struct {
	of, unit string
	amounts  []int64
}

func (l *lacks) add(of, unit string, lack int64) {
	if unit != "" {
		l.of, l.unit, l.amounts = of, unit, append(l.amounts, lack)
	}
}

func (l *lacks) short() *Short {
	if len(l.amounts) == 0 {
		return nil
	}
	slices.Sort(l.amounts)
	n := len(l.amounts)
	return &Short{Of: l.of, Unit: l.unit, Min: l.amounts[0], Median: l.amounts[(n-1)/2], Max: l.amounts[n-1]}
}

// collection is what a decision's verdicts come to: buckets, and the details that
// suggestions start from.
type collection struct {
	buckets map[Cause]*bucket
	// details has each distinct cause once, with the number of nodes that have it
	// among all of theirs.
	details map[Cause]*seen
	rows    int
	sorted  []*bucket // once asked for
}

// seen is a detail of some node, and how many nodes have the like.
type seen struct {
	engine.Detail
	nodes int
	// most is the largest skew; node and least are the node that lacks least of a
	// resource which is all that it lacks, and how much.
	most, least int64
	node        string
}

// collect reads every verdict once. check is called each few of them.
func collect(r *engine.Result, check func()) *collection {
	c := &collection{buckets: map[Cause]*bucket{}, details: map[Cause]*seen{}, rows: r.Nodes().Len()}
	if r.Options().Victims != nil || r.Outcome == engine.Scheduled {
		return c
	}
	if gates := r.Gates(); len(gates) > 0 {
		b := c.bucket(Cause{Rule: "SchedulingGates", Reason: Gated, Message: r.Message(), Action: Wait, About: strings.Join(gates, ", ")})
		for _, row := range r.Nodes().Order() {
			if r.Candidate(int(row)) {
				b.rows.Set(int(row))
				b.nodes++
			}
		}
		return c
	}
	for _, row := range r.Nodes().Order() {
		i := int(row)
		if !r.Candidate(i) || r.Feasible.Has(i) {
			continue
		}
		if i%64 == 63 {
			check()
		}
		v := r.Verdict(i)
		c.take(&v, i)
	}
	return c
}

func (c *collection) bucket(k Cause) *bucket {
	b := c.buckets[k]
	if b == nil {
		b = &bucket{cause: k, rows: state.NewBits(c.rows)}
		c.buckets[k] = b
	}
	return b
}

// take files one node's verdict.
func (c *collection) take(v *engine.NodeVerdict, row int) {
	var first *engine.Detail
	if len(v.Details) > 0 {
		first = &v.Details[0]
	}
	cause, of, unit, lack := causeOf(v, first)
	b := c.bucket(cause)
	b.rows.Set(row)
	b.nodes++
	b.lacks.add(of, unit, lack)
	for i := range v.Details {
		d := &v.Details[i]
		k, of, unit, lack := causeOf(v, d)
		s := c.details[k]
		if s == nil {
			s = &seen{Detail: *d}
			c.details[k] = s
		}
		s.nodes++
		s.most = max(s.most, lack)
		if len(v.Details) == 1 && (s.node == "" || lack < s.least) {
			s.node, s.least = v.Name, lack
		}
		if i == 0 || k == cause {
			continue
		}
		if b.also == nil {
			b.also = map[Cause]*bucket{}
		}
		o := b.also[k]
		if o == nil {
			o = &bucket{cause: k}
			b.also[k] = o
		}
		o.nodes++
		o.lacks.add(of, unit, lack)
	}
}

// list gives the buckets, the largest first. Nothing is collected after it.
func (c *collection) list() []*bucket {
	if c.sorted != nil {
		return c.sorted
	}
	out := make([]*bucket, 0, len(c.buckets))
	for _, b := range c.buckets {
		out = append(out, b)
	}
	slices.SortFunc(out, bySize)
	c.sorted = out
	return out
}

func bySize(a, b *bucket) int {
	return cmp.Or(b.nodes-a.nodes, compareCauses(a.cause, b.cause))
}

func compareCauses(a, b Cause) int {
	return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.About, b.About), cmp.Compare(a.Action, b.Action), cmp.Compare(a.Message, b.Message))
}

// mergeTail puts small buckets together by rule and reason, of which there are
// few.
func mergeTail(tail []*bucket) []*bucket {
	by := map[Cause]*bucket{}
	for _, b := range tail {
		k := Cause{Rule: b.cause.Rule, Reason: b.cause.Reason, Message: b.cause.Message, Action: b.cause.Action}
		if k.Reason == Rejected || k.Reason == InsufficientExtended {
			k.Message = "several reasons"
		}
		m := by[k]
		if m == nil {
			m = &bucket{cause: k, rows: b.rows.Clone()}
			by[k] = m
		}
		m.rows.Or(b.rows)
		m.nodes += b.nodes
		m.merged++
		if m.lacks.of == "" || m.lacks.of == b.lacks.of {
			m.lacks.of, m.lacks.unit, m.lacks.amounts = b.lacks.of, b.lacks.unit, append(m.lacks.amounts, b.lacks.amounts...)
		}
	}
	out := make([]*bucket, 0, len(by))
	for _, b := range by {
		if b.cause.About == "" && b.merged > 1 {
			b.cause.About = fmt.Sprintf("%d different ones", b.merged)
		}
		out = append(out, b)
	}
	slices.SortFunc(out, bySize)
	return out
}

// group writes a bucket out.
func (b *bucket) group(r *engine.Result, sample int) Group {
	g := Group{
		Rule: b.cause.Rule, Reason: b.cause.Reason, Message: b.cause.Message, Action: b.cause.Action,
		Nodes: b.nodes, Short: b.lacks.short(), Sample: []string{},
	}
	if b.merged > 1 {
		g.Merged = b.merged
	}
	g.Detail = words(b.cause.About, g.Short)
	for _, row := range r.Nodes().Order() {
		if len(g.Sample) >= sample {
			break
		}
		if b.rows.Has(int(row)) {
			g.Sample = append(g.Sample, r.Nodes().Node(int(row)).Name)
		}
	}
	for _, o := range b.also {
		s := o.lacks.short()
		g.Also = append(g.Also, Also{Reason: o.cause.Reason, Detail: words(o.cause.About, s), Nodes: o.nodes, Short: s})
	}
	slices.SortFunc(g.Also, func(a, b Also) int {
		return cmp.Or(b.Nodes-a.Nodes, cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Detail, b.Detail))
	})
	if len(g.Also) > maxAlso {
		g.Also = g.Also[:maxAlso]
	}
	return g
}

// maxAlso bounds the further reasons of a group.
const maxAlso = 5

// words says what a group is about and how much is lacking, in one phrase.
func words(about string, s *Short) string {
	if s == nil {
		return about
	}
	text, by := rounded(s.Of, s.Min, s.Max, s.Median), "short by"
	if s.Unit == "skew" {
		by = "exceeded by"
	}
	if s.Min == s.Max {
		return fmt.Sprintf("%s %s %s", about, by, text[0])
	}
	return fmt.Sprintf("%s %s %s..%s, median %s", about, by, text[0], text[1], text[2])
}
