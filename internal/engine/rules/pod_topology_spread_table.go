package rules

import (
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// tableDomains bounds the domains listed for one constraint. The answer counts those left out.
const tableDomains = 200

// Spread lists every constraint that applies, hard ones first, with its domains: which count, and
// the skew of each with the pod placed there.
func (p *PodTopologySpread) Spread(q *engine.Query) (out []engine.SpreadConstraint) {
	p.eachConstraint(q, func(c *spreadCounts) { out = append(out, c.table(q, c.WhenUnsatisfiable)) })
	return out
}

// Skews returns the pod's own constraints; the pods of the state count, this one as one of them.
func (p *PodTopologySpread) Skews(q *engine.Query) (out []engine.Skew) {
	if len(q.Pod.Spec.TopologySpreadConstraints) == 0 {
		return nil
	}
	p.eachConstraint(q, func(c *spreadCounts) {
		counts := slices.Clone(c.matching) // which are the query's
		out = append(out, engine.Skew{Hard: c.WhenUnsatisfiable == corev1.DoNotSchedule, Over: func(row int32) bool {
			v := c.column.Value[row]
			return v >= 0 && counts[v]-c.least > c.MaxSkew
		}})
	})
	return out
}

// eachConstraint counts the domains of each constraint that applies, hard ones first.
func (p *PodTopologySpread) eachConstraint(q *engine.Query, visit func(*spreadCounts)) {
	for _, action := range []corev1.UnsatisfiableConstraintAction{corev1.DoNotSchedule, corev1.ScheduleAnyway} {
		list, err := p.constraints(q, action)
		if err != nil || len(list) == 0 {
			continue
		}
		nodes := q.Nodes.Alive()
		if action == corev1.DoNotSchedule || p.needsAllKeys(q) {
			nodes = withKeys(q, list)
		}
		for _, c := range countDomains(q, list, nodes) {
			visit(c)
		}
	}
}

func (c *spreadCounts) table(q *engine.Query, action corev1.UnsatisfiableConstraintAction) engine.SpreadConstraint {
	row := engine.SpreadConstraint{
		TopologyKey: c.TopologyKey, WhenUnsatisfiable: string(action), MaxSkew: c.MaxSkew,
		MinDomains: c.MinDomains, LabelSelector: words(c.selector), Source: c.source, SelfMatch: c.self,
	}
	if action == corev1.DoNotSchedule {
		least := int(c.least)
		row.GlobalMinimum = &least
	}
	order := make([]int, len(c.column.Values))
	for v := range order {
		order[v] = v
	}
	slices.SortFunc(order, func(a, b int) int { return strings.Compare(c.column.Values[a], c.column.Values[b]) })
	skewAfter := c.skewsAfter()
	for _, v := range order {
		if len(row.Domains) == tableDomains {
			row.DomainsOmitted = len(order) - tableDomains
			break
		}
		d := engine.SpreadDomain{
			Value: c.column.Values[v], Nodes: len(c.column.Rows[v]), Matching: int(c.matching[v]),
			SkewIfPlaced: int(c.skew(int32(v))), SkewAfter: int(skewAfter(v)), Eligible: c.isEligible(v),
		}
		if !d.Eligible {
			d.Why = c.whyNot(q, c.column.Rows[v])
		}
		row.Domains = append(row.Domains, d)
	}
	return row
}

// NamePods names the pods that count in each domain of a table, and those that the selector matches
// and that do not count.
func (p *PodTopologySpread) NamePods(q *engine.Query, table []engine.SpreadConstraint) {
	i := 0
	p.eachConstraint(q, func(c *spreadCounts) {
		if i < len(table) {
			c.namePods(q, table[i].Domains)
		}
		i++
	})
}

func (c *spreadCounts) namePods(q *engine.Query, domains []engine.SpreadDomain) {
	at := make([]*engine.SpreadDomain, len(c.column.Values))
	for i := range domains {
		if v := c.column.Lookup(domains[i].Value); v >= 0 {
			at[v] = &domains[i]
		}
	}
	in := func(row int32) bool { v := c.column.Value[row]; return v >= 0 && at[v] != nil }
	c.eachMatching(q, in, func(p *state.Pod, left string) {
		d, who := at[c.column.Value[p.Row]], engine.SpreadPod{Name: p.Name, Node: p.NodeName, Why: left}
		if left == "" {
			d.Pods, _ = firstByName(d.Pods, who)
			return
		}
		var over bool
		if d.LeftOut, over = firstByName(d.LeftOut, who); over {
			d.LeftOutOmitted++
		}
	})
}

// firstByName adds a pod to the first ten by name; over reports whether there was one more.
func firstByName(list []engine.SpreadPod, p engine.SpreadPod) (out []engine.SpreadPod, over bool) {
	i, _ := slices.BinarySearchFunc(list, p, func(a, b engine.SpreadPod) int { return strings.Compare(a.Name, b.Name) })
	list = slices.Insert(list, i, p)
	if len(list) > engine.MaxBlockers {
		return list[:engine.MaxBlockers], true
	}
	return list, false
}

// skewsAfter returns the function of a domain's skew with the pod in it: over the least of the
// eligible domains, or over 0 where there are fewer than minDomains.
func (c *spreadCounts) skewsAfter() func(value int) int32 {
	least, second, domains := int32(math.MaxInt32), int32(math.MaxInt32), int32(0)
	for v, n := range c.matching {
		if !c.isEligible(v) {
			continue
		}
		if domains++; n < least {
			least, second = n, least
		} else {
			second = min(second, n)
		}
	}
	few := domains == 0 || c.MinDomains != nil && domains < *c.MinDomains
	return func(value int) int32 {
		before, over := c.matching[value], least
		after := before
		if c.self {
			after++
		}
		if c.isEligible(value) {
			if before == least {
				over = second
			}
			over = min(over, after)
		}
		if few {
			over = 0
		}
		return after - over
	}
}

// whyNot returns the reason why none of a domain's nodes counts.
func (c *spreadCounts) whyNot(q *engine.Query, rows []int32) string {
	required := q.RequiredRows()
	affinity, taints := 0, 0
	for _, r := range rows {
		if c.honorAffinity && required != nil && !required.Has(int(r)) {
			affinity++
		} else if c.honorTaints && firstUntolerated(q.Pod.Spec.Tolerations, q.Nodes.Node(int(r)).Taints) != nil {
			taints++
		}
	}
	switch {
	case affinity == len(rows):
		return "no node of it matches the pod's node affinity or selector (nodeAffinityPolicy: Honor)"
	case taints == len(rows):
		return "all nodes of it have taints that the pod does not tolerate (nodeTaintsPolicy: Honor)"
	case affinity+taints == len(rows):
		return "its nodes are excluded by nodeAffinityPolicy and nodeTaintsPolicy"
	default:
		return "its nodes lack the topology key of another constraint, or are excluded by a policy"
	}
}

// words writes a selector, with different texts for everything and nothing.
func words(s labels.Selector) string {
	if _, selectable := s.Requirements(); !selectable {
		return "<nothing>"
	}
	if s.Empty() {
		return "<everything>"
	}
	// A Service and a ReplicaSet with the same selector yield the same requirements twice.
	var out []string
	reqs, _ := s.Requirements()
	for i := range reqs {
		if r := reqs[i].String(); !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return strings.Join(out, ",")
}
