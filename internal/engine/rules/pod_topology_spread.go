package rules

import (
	"fmt"
	"math"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/semantics"
)

// The reasons of PodTopologySpread.
const (
	ReasonSpread        = "node(s) didn't match pod topology spread constraints"
	ReasonSpreadNoLabel = ReasonSpread + " (missing required label)"
)

// PodTopologySpread keeps pods of one kind evenly spread over topology domains
// (plugins/podtopologyspread).
type PodTopologySpread struct {
	// Defaults apply to pods without constraints that belong to a Service or a
	// controller.
	Defaults []corev1.TopologySpreadConstraint
	// System reports that Defaults are upstream's own, which do not exclude nodes for lacking a
	// key.
	System bool

	looksAt func(*corev1.Pod) bool // whether the hint does
}

var (
	_ engine.PreFilterer[[]*spreadCounts] = (*PodTopologySpread)(nil)
	_ engine.Filterer[[]*spreadCounts]    = (*PodTopologySpread)(nil)
	_ engine.Scorer[[]*spreadCounts]      = (*PodTopologySpread)(nil)
	_ engine.Detailer[[]*spreadCounts]    = (*PodTopologySpread)(nil)
	_ engine.Local                        = (*PodTopologySpread)(nil)
	_ engine.Spreader                     = (*PodTopologySpread)(nil)
)

// systemConstraints are upstream's default constraints
// (plugins/podtopologyspread/plugin.go systemDefaultConstraints).
func systemConstraints() []corev1.TopologySpreadConstraint {
	return []corev1.TopologySpreadConstraint{
		{TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway, MaxSkew: 3},
		{TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.ScheduleAnyway, MaxSkew: 5},
	}
}

// podTopologySpreadDescriptor is the rule's entry in the registry.
var podTopologySpreadDescriptor = Descriptor{
	Plugin: "PodTopologySpread", Phases: []string{phasePreFilter, phaseFilter, phaseScore}, Weight: 2,
	Also: []string{phasePreScore}, Needs: bothNeed,
	Judges: "Topology spread constraints. DoNotSchedule ones reject nodes. ScheduleAnyway ones score domains with fewer matching pods higher. " +
		"Default constraints apply to pods that have none and belong to a Service or a controller.",
	Code: codeUnschedulable + " for too much skew; " + codeUnresolvable + " for a node without the topology key", Reasons: []string{ReasonSpread, ReasonSpreadNoLabel},
	Upstream: "podtopologyspread/filtering.go, scoring.go",
	Args:     codecOf(func(a *Args) { a.PodTopologySpread.System = true }, readSpreadArgs),
	Details:  []*engine.DetailKind{{Name: "topologySpread", Fields: "topologyKey, domain, matching, skew, maxSkew, term", Cause: spreadCause, Words: spreadWords}},
	build: func(a *Args, r *semantics.Release) (*engine.Plugin, error) {
		s := a.PodTopologySpread
		if s.System {
			return engine.Adapt[[]*spreadCounts](&PodTopologySpread{systemConstraints(), true, looksAt(r)}), nil
		}
		return engine.Adapt[[]*spreadCounts](&PodTopologySpread{s.Constraints, false, looksAt(r)}), nil
	},
}

// Name is the plugin's name.
func (*PodTopologySpread) Name() string { return "PodTopologySpread" }

// Locality returns Anywhere for a pod with constraints: other nodes matter only then.
func (p *PodTopologySpread) Locality(q *engine.Query) engine.Locality {
	if len(q.Pod.Spec.TopologySpreadConstraints) > 0 || len(p.Defaults) > 0 && !ownersSelector(q).Empty() {
		return engine.Anywhere
	}
	return engine.NodesOnly
}

// spreadCounts is a constraint with its domains counted.
type spreadCounts struct {
	*spreadConstraint
	matching []int32 // by value of the column; only nodes that count are included
	eligible []bool  // by value: some node that counts has it; nil for all
	domains  int
	least    int32 // the global minimum
	most     int32
	whole    bool // every node of the state counts, but for the policies
	keyed    state.Bits
	counts   state.Bits // those of keyed that the policies count; nil for all
}

// isEligible reports whether a node that counts has a value.
func (c *spreadCounts) isEligible(value int) bool { return c.eligible == nil || c.eligible[value] }

// skew is the domain's skew with the pod placed in it.
func (c *spreadCounts) skew(value int32) int32 { return c.skewOf(c.matching[value]) }

func (c *spreadCounts) skewOf(matching int32) int32 {
	n := matching - c.least
	if c.self {
		n++
	}
	return n
}

// PreFilter counts the domains of the hard constraints.
func (p *PodTopologySpread) PreFilter(q *engine.Query) ([]*spreadCounts, engine.PreFilterResult) {
	list, err := p.constraints(q, corev1.DoNotSchedule)
	if err != nil {
		return nil, engine.PreFilterResult{Code: engine.Error, Reason: err.Error()}
	}
	if len(list) == 0 {
		return nil, engine.PreFilterResult{Skip: true}
	}
	return countDomains(q, list, withKeys(q, list)), engine.PreFilterResult{}
}

// countDomains counts matching pods per domain on the given nodes. Each constraint applies its own
// policies, but for a soft one over hostnames: there the count is the node's own.
func countDomains(q *engine.Query, list []*spreadConstraint, keyed state.Bits) []*spreadCounts {
	whole := keyed.Count() == q.Nodes.Count()
	out := make([]*spreadCounts, 0, len(list))
	for _, c := range list {
		var counting state.Bits
		if c.WhenUnsatisfiable == corev1.DoNotSchedule || c.TopologyKey != corev1.LabelHostname {
			counting = c.counting(q, keyed)
		}
		n := &spreadCounts{spreadConstraint: c, whole: whole, keyed: keyed, counts: counting, matching: q.Counts(len(c.column.Values))}
		if whole && counting == nil {
			n.domains = len(c.column.Values)
		} else {
			if counting == nil {
				counting = keyed
			}
			n.eligible, n.domains = c.column.Occurring(counting)
		}
		met := 0 // domains with a matching pod
		for _, seg := range c.matching(q) {
			for _, e := range seg {
				v := c.column.Value[e.Row]
				if v < 0 || counting != nil && !counting.Has(int(e.Row)) {
					continue
				}
				if n.matching[v] == 0 {
					met++
				}
				n.matching[v] += e.N
				n.most = max(n.most, n.matching[v])
			}
		}
		if n.domains >= int(c.minDomains) && met >= n.domains && n.domains > 0 {
			n.least = math.MaxInt32
			for v, k := range n.matching {
				if n.isEligible(v) {
					n.least = min(n.least, k)
				}
			}
		}
		out = append(out, n)
	}
	return out
}

// Filter rejects nodes whose domain would exceed maxSkew over the global minimum.
func (p *PodTopologySpread) Filter(q *engine.Query, counts []*spreadCounts, in state.Bits, rej *engine.Rejected) error {
	if counts == nil {
		return nil
	}
	skewed, unlabelled, left := q.Bits(), q.Bits(), q.Bits()
	copy(left, in)
	for _, c := range counts {
		if c.whole && c.skewOf(c.most) <= c.MaxSkew {
			continue
		}
		over := make([]bool, len(c.matching))
		for v := range over {
			over[v] = c.skew(int32(v)) > c.MaxSkew
		}
		for from, to := range left.Runs() {
			for k, v := range c.column.Value[from:to] {
				switch {
				case v < 0:
					unlabelled.Set(from + k)
				case over[v]:
					skewed.Set(from + k)
				}
			}
		}
		left.AndNot(unlabelled)
		left.AndNot(skewed)
	}
	rej.Add(ReasonSpread, engine.Unschedulable, skewed)
	rej.Add(ReasonSpreadNoLabel, engine.UnschedulableAndUnresolvable, unlabelled)
	return nil
}

// Details names the constraint that failed the node, its domain and skew.
func (p *PodTopologySpread) Details(_ *engine.Query, counts []*spreadCounts, row int) []engine.Detail {
	for _, c := range counts {
		v := c.column.Value[row]
		most := int64(c.MaxSkew)
		if v < 0 {
			return []engine.Detail{{Kind: "topologySpread", TopologyKey: c.TopologyKey, MaxSkew: &most, Term: "the node lacks the label " + c.TopologyKey}}
		}
		if skew := int64(c.skew(v)); skew > most {
			matching := int64(c.matching[v])
			return []engine.Detail{{
				Kind: "topologySpread", TopologyKey: c.TopologyKey, Domain: c.column.Values[v], Matching: &matching, Skew: &skew, MaxSkew: &most,
				Term: fmt.Sprintf("%d matching in the domain, %d in the emptiest", c.matching[v], c.least),
			}}
		}
	}
	return nil
}

func spreadCause(d *engine.Detail) engine.Cause {
	if d.Skew == nil {
		return engine.Cause{Code: engine.CauseTopologyLabelMissing, About: d.TopologyKey}
	}
	c := engine.Cause{Code: engine.CauseSkewExceeded, About: d.TopologyKey}
	if d.MaxSkew != nil {
		c.About = fmt.Sprintf("%s, maxSkew %d", d.TopologyKey, *d.MaxSkew)
		c.Of, c.Unit, c.Short = "skew", "skew", *d.Skew-*d.MaxSkew
	}
	return c
}

func spreadWords(d *engine.Detail, _ engine.AmountsFunc) string {
	if d.Skew == nil || d.MaxSkew == nil || d.Matching == nil {
		return d.Term
	}
	return fmt.Sprintf("%s: %d there already, skew %d, maxSkew %d", domainName(d.Domain), *d.Matching, *d.Skew, *d.MaxSkew)
}
