package suggest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/state"
)

// openGroup is a group that is being filled.
type openGroup struct {
	cause      groupKey
	rows       state.Bits
	nodes      int
	shortfalls shortfalls
	also       map[groupKey]*openGroup
	merged     int
	each       []rowShort // the rows by name
}

// rowShort is how much a row lacks of what its group is about.
type rowShort struct {
	row   int
	short int64
}

// shortfalls are the amounts by which nodes are short.
type shortfalls struct {
	of, unit string
	amounts  []int64
}

func (l *shortfalls) add(c engine.Cause) {
	if c.Unit != "" {
		l.of, l.unit, l.amounts = c.Of, c.Unit, append(l.amounts, c.Short)
	}
}

func (l *shortfalls) short() *Short {
	if len(l.amounts) == 0 {
		return nil
	}
	slices.Sort(l.amounts)
	n := len(l.amounts)
	return &Short{Of: l.of, Unit: l.unit, Min: l.amounts[0], Median: l.amounts[(n-1)/2], Max: l.amounts[n-1]}
}

// collection is the sum of a decision's verdicts: groups, and the details from which suggestions
// are made.
type collection struct {
	groups map[groupKey]*openGroup
	// details has each distinct cause once, with the number of nodes that have it among all of
	// theirs.
	details map[groupKey]*seen
	rows    int
	sorted  []*openGroup // made on first use
}

// seen is a detail of some node, and the number of nodes that have an equal one.
type seen struct {
	engine.Detail
	nodes int
	// most is the largest skew. node is the node that is least short of a resource and lacks
	// nothing else; least is that amount.
	most, least int64
	node        string
}

// collect reads every verdict once. It calls check now and then.
func collect(r *engine.Result, check func()) *collection {
	c := &collection{groups: map[groupKey]*openGroup{}, details: map[groupKey]*seen{}, rows: r.Nodes().Len()}
	if r.Query.Options.Victims != nil || r.Outcome == engine.Scheduled {
		return c
	}
	if r.Outcome == engine.Gated {
		b := c.openGroup(groupKey{Rule: cmp.Or(r.HeldBy, "SchedulingGates"), Reason: engine.CauseGated, Message: explain.Message(r), Action: Wait, About: strings.Join(r.Gates, ", ")})
		for _, row := range r.Nodes().Order() {
			if r.Query.Candidates.Has(int(row)) {
				b.rows.Set(int(row))
				b.nodes++
			}
		}
		return c
	}
	for _, row := range r.Nodes().Order() {
		i := int(row)
		if !r.Query.Candidates.Has(i) || r.Feasible.Has(i) {
			continue
		}
		if i%64 == 63 {
			check()
		}
		v := explain.Verdict(r, i)
		c.take(&v, i)
	}
	return c
}

func (c *collection) openGroup(k groupKey) *openGroup {
	b := c.groups[k]
	if b == nil {
		b = &openGroup{cause: k, rows: state.NewBits(c.rows)}
		c.groups[k] = b
	}
	return b
}

// take adds one node's verdict to its group.
func (c *collection) take(v *engine.NodeVerdict, row int) {
	var first *engine.Detail
	if len(v.Details) > 0 {
		first = &v.Details[0]
	}
	key, cause := causeOf(v, first)
	b := c.openGroup(key)
	b.each = append(b.each, rowShort{row, cause.Short})
	b.rows.Set(row)
	b.nodes++
	b.shortfalls.add(cause)
	for i := range v.Details {
		d := &v.Details[i]
		k, cause := causeOf(v, d)
		s := c.details[k]
		if s == nil {
			s = &seen{Detail: *d}
			c.details[k] = s
		}
		s.nodes++
		s.most = max(s.most, cause.Short)
		if len(v.Details) == 1 && (s.node == "" || cause.Short < s.least) {
			s.node, s.least = v.Name, cause.Short
		}
		if i == 0 || k == key {
			continue
		}
		if b.also == nil {
			b.also = map[groupKey]*openGroup{}
		}
		o := b.also[k]
		if o == nil {
			o = &openGroup{cause: k}
			b.also[k] = o
		}
		o.nodes++
		o.shortfalls.add(cause)
	}
}

// list returns the groups, the largest first. Nothing is collected after it.
func (c *collection) list() []*openGroup {
	if c.sorted != nil {
		return c.sorted
	}
	out := make([]*openGroup, 0, len(c.groups))
	for _, b := range c.groups {
		out = append(out, b)
	}
	slices.SortFunc(out, bySize)
	c.sorted = out
	return out
}

func bySize(a, b *openGroup) int {
	return cmp.Or(b.nodes-a.nodes, compareCauses(a.cause, b.cause))
}

func compareCauses(a, b groupKey) int {
	return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.About, b.About), cmp.Compare(a.Action, b.Action), cmp.Compare(a.Message, b.Message))
}

// mergeTail merges small groups by rule and reason, of which there are few.
func mergeTail(tail []*openGroup) []*openGroup {
	by := map[groupKey]*openGroup{}
	for _, b := range tail {
		k := groupKey{Rule: b.cause.Rule, Reason: b.cause.Reason, Message: b.cause.Message, Action: b.cause.Action}
		if k.Reason == engine.CauseRejected || k.Reason == engine.CauseInsufficientExtended {
			k.Message = "several reasons"
		}
		m := by[k]
		if m == nil {
			m = &openGroup{cause: k, rows: b.rows.Clone()}
			by[k] = m
		}
		m.rows.Or(b.rows)
		m.nodes += b.nodes
		m.merged++
		if m.shortfalls.of == "" || m.shortfalls.of == b.shortfalls.of {
			m.shortfalls.of, m.shortfalls.unit, m.shortfalls.amounts = b.shortfalls.of, b.shortfalls.unit, append(m.shortfalls.amounts, b.shortfalls.amounts...)
		}
	}
	out := make([]*openGroup, 0, len(by))
	for _, b := range by {
		if b.cause.About == "" && b.merged > 1 {
			b.cause.About = fmt.Sprintf("%d different ones", b.merged)
		}
		out = append(out, b)
	}
	slices.SortFunc(out, bySize)
	return out
}

// group returns the group as answered.
func (b *openGroup) group(r *engine.Result, sample int) Group {
	g := Group{
		Rule: b.cause.Rule, Reason: b.cause.Reason, Message: b.cause.Message, Action: b.cause.Action,
		Nodes: b.nodes, Short: b.shortfalls.short(), Sample: []string{},
	}
	if b.merged > 1 {
		g.Merged = b.merged
	}
	g.Detail = shortfall(b.cause.About, g.Short)
	for _, row := range r.Nodes().Order() {
		if len(g.Sample) >= sample {
			break
		}
		if b.rows.Has(int(row)) {
			g.Sample = append(g.Sample, r.Nodes().Node(int(row)).Name)
		}
	}
	for _, o := range b.also {
		s := o.shortfalls.short()
		g.Also = append(g.Also, Also{Reason: o.cause.Reason, Detail: shortfall(o.cause.About, s), Nodes: o.nodes, Short: s})
	}
	slices.SortFunc(g.Also, func(a, b Also) int {
		return cmp.Or(b.Nodes-a.Nodes, cmp.Compare(a.Reason, b.Reason), cmp.Compare(a.Detail, b.Detail))
	})
	if len(g.Also) > maxAlso {
		g.Also = g.Also[:maxAlso]
	}
	return g
}

// name names the objects that are in the way on the nearest node of a group. only has the rows that
// no other rule rejects: elsewhere the pod would not fit with those objects gone.
func (b *openGroup) name(r *engine.Result, g *Group, only state.Bits) {
	if b.merged > 1 || len(b.each) == 0 {
		return
	}
	v := explain.NamedVerdict(r, b.nearest(only))
	for i := range v.Details {
		d := &v.Details[i]
		// Details of a PreFilter are for people alone: the group is by its reason.
		if k, _ := causeOf(&v, d); (k == b.cause || v.Stage == engine.StagePreFilter) && len(d.Blockers) > 0 {
			g.Nearest = &Nearest{v.Name, *d}
			return
		}
	}
}

// nearest returns the row that is least short, the first of equals by name. It is one of only where
// the group has any.
func (b *openGroup) nearest(only state.Bits) int {
	return slices.MinFunc(b.each, func(x, y rowShort) int {
		switch in := only.Has(x.row); {
		case in == only.Has(y.row):
			return cmp.Compare(x.short, y.short)
		case in:
			return -1
		default:
			return 1
		}
	}).row
}

// maxAlso bounds the further reasons of a group.
const maxAlso = 5

// shortfall returns in one phrase what a group is about and how much is short.
func shortfall(about string, s *Short) string {
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
