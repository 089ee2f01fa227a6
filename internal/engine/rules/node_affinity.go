package rules

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"

	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/kube/object"
	"berth/internal/semantics"
)

// The reasons of NodeAffinity.
const (
	ReasonAffinity         = "node(s) didn't match Pod's node affinity/selector"
	ReasonEnforcedAffinity = "node(s) didn't match scheduler-enforced node affinity"
	ReasonAffinityConflict = "pod affinity terms conflict"
)

// NodeAffinity applies the pod's nodeSelector, its node affinity and the affinity that the profile
// adds (plugins/nodeaffinity).
type NodeAffinity struct {
	// Added is NodeAffinityArgs.addedAffinity; nil without.
	Added *corev1.NodeAffinity
}

var (
	_ engine.PreFilterer[engine.NoState] = NodeAffinity{}
	_ engine.Filterer[engine.NoState]    = NodeAffinity{}
	_ engine.PartScorer[engine.NoState]  = NodeAffinity{}
	_ engine.Detailer[engine.NoState]    = NodeAffinity{}
	_ engine.Local                       = NodeAffinity{}
)

// nodeAffinityDescriptor is the rule's entry in the registry.
var nodeAffinityDescriptor = Descriptor{
	Plugin: "NodeAffinity", Phases: []string{phasePreFilter, phaseFilter, phaseScore}, Weight: 2,
	Also:   []string{phasePreScore},
	Judges: "`nodeSelector`, required node affinity and the profile's `addedAffinity`. The score adds up the weights of preferred terms.",
	Code:   codeUnresolvable, Reasons: []string{ReasonAffinity, ReasonEnforcedAffinity, ReasonAffinityConflict}, Upstream: "nodeaffinity/node_affinity.go",
	Args: codecOf(nil, readNodeAffinityArgs),
	Details: []*engine.DetailKind{
		{Name: "nodeAffinity", Fields: "name: nodeSelector, addedAffinity or requiredDuringSchedulingIgnoredDuringExecution; key, value of the node, term", Cause: nodeAffinityCause},
		{
			Name: "narrowed", Fields: "name of the plugin that named other nodes",
			Cause: func(*engine.Detail) engine.Cause { return engine.Cause{Code: engine.CauseNotNamed} },
			Words: func(*engine.Detail, engine.AmountsFunc) string { return "the pod names other nodes" },
		},
	},
	build: func(a *Args, _ *semantics.Release) (*engine.Plugin, error) {
		r, err := newNodeAffinity(a.NodeAffinity.AddedAffinity)
		return engine.Adapt[engine.NoState](r), err
	},
}

// newNodeAffinity checks the added affinity, whose terms must all parse.
func newNodeAffinity(added *corev1.NodeAffinity) (NodeAffinity, error) {
	if added == nil {
		return NodeAffinity{}, nil
	}
	if r := added.RequiredDuringSchedulingIgnoredDuringExecution; r != nil {
		if _, err := nodeaffinity.NewNodeSelector(r); err != nil {
			return NodeAffinity{}, fmt.Errorf("addedAffinity.requiredDuringSchedulingIgnoredDuringExecution: %w", object.FewProblems(err))
		}
	}
	if p := added.PreferredDuringSchedulingIgnoredDuringExecution; len(p) > 0 {
		if _, err := nodeaffinity.NewPreferredSchedulingTerms(p); err != nil {
			return NodeAffinity{}, fmt.Errorf("addedAffinity.preferredDuringSchedulingIgnoredDuringExecution: %w", object.FewProblems(err))
		}
	}
	return NodeAffinity{Added: added}, nil
}

// Name is the plugin's name.
func (NodeAffinity) Name() string { return "NodeAffinity" }

// Locality returns NodesOnly: labels belong to nodes.
func (NodeAffinity) Locality(_ *engine.Query) engine.Locality { return engine.NodesOnly }

func (a NodeAffinity) enforced() *corev1.NodeSelector {
	if a.Added == nil {
		return nil
	}
	return a.Added.RequiredDuringSchedulingIgnoredDuringExecution
}

func affinityOf(pod *corev1.Pod) *corev1.NodeAffinity {
	if pod.Spec.Affinity == nil {
		return nil
	}
	return pod.Spec.Affinity.NodeAffinity
}

// PreFilter narrows the nodes where every required term has a requirement metadata.name In. Within
// a term the lists intersect; the lists of terms are united.
func (a NodeAffinity) PreFilter(q *engine.Query) (engine.NoState, engine.PreFilterResult) {
	var required *corev1.NodeSelector
	if na := affinityOf(q.Pod); na != nil {
		required = na.RequiredDuringSchedulingIgnoredDuringExecution
	}
	if required == nil && a.enforced() == nil && q.Pod.Spec.NodeSelector == nil {
		return engine.NoState{}, engine.PreFilterResult{Skip: true}
	}
	if required == nil || len(required.NodeSelectorTerms) == 0 {
		return engine.NoState{}, engine.PreFilterResult{}
	}
	names := map[string]struct{}{}
	for i := range required.NodeSelectorTerms {
		of, named := namedBy(&required.NodeSelectorTerms[i])
		if !named {
			return engine.NoState{}, engine.PreFilterResult{}
		}
		for n := range of {
			names[n] = struct{}{}
		}
	}
	if len(names) == 0 {
		return engine.NoState{}, engine.PreFilterResult{Code: engine.UnschedulableAndUnresolvable, Reason: ReasonAffinityConflict}
	}
	return engine.NoState{}, engine.PreFilterResult{Names: names}
}

// namedBy returns the nodes that all of a term's metadata.name In requirements name; named is false
// where it has none.
func namedBy(term *corev1.NodeSelectorTerm) (names map[string]struct{}, named bool) {
	for _, f := range term.MatchFields {
		if f.Key != "metadata.name" || f.Operator != corev1.NodeSelectorOpIn {
			continue
		}
		set := map[string]struct{}{}
		for _, v := range f.Values {
			if _, ok := names[v]; ok || !named {
				set[v] = struct{}{}
			}
		}
		names, named = set, true
	}
	return names, named
}

// Filter rejects as unresolvable first what the profile's affinity excludes, then what the pod's
// excludes.
func (a NodeAffinity) Filter(q *engine.Query, _ engine.NoState, in state.Bits, rej *engine.Rejected) error {
	left := in
	if e := a.enforced(); e != nil {
		out := q.Bits()
		copy(out, in)
		out.AndNot(q.NodeSelectorRows(e))
		rej.Add(ReasonEnforcedAffinity, engine.UnschedulableAndUnresolvable, out)
		left = q.Bits()
		copy(left, in)
		left.AndNot(out)
	}
	match := q.RequiredRows()
	if match == nil {
		return nil
	}
	out := q.Bits()
	copy(out, left)
	out.AndNot(match)
	rej.Add(ReasonAffinity, engine.UnschedulableAndUnresolvable, out)
	return nil
}

// Details writes the selector and the required terms in words.
func (a NodeAffinity) Details(q *engine.Query, _ engine.NoState, row int) []engine.Detail {
	if e := a.enforced(); e != nil && !q.NodeSelectorRows(e).Has(row) {
		return []engine.Detail{{Kind: "nodeAffinity", Name: "addedAffinity", Term: q.Words(e, func() string { return SelectorWords(e) })}}
	}
	var out engine.Details
	have := q.Nodes.Node(row).Labels
	for _, k := range q.SelectorKeys() {
		if want := q.Pod.Spec.NodeSelector[k]; have[k] != want || !has(have, k) {
			out.Add(func() engine.Detail {
				return engine.Detail{Kind: "nodeAffinity", Name: "nodeSelector", Key: k, Value: have[k], Term: k + "=" + want}
			})
		}
	}
	if na := affinityOf(q.Pod); na != nil && na.RequiredDuringSchedulingIgnoredDuringExecution != nil {
		if r := na.RequiredDuringSchedulingIgnoredDuringExecution; !q.AffinityRows().Has(row) {
			out.Add(func() engine.Detail {
				return engine.Detail{Kind: "nodeAffinity", Name: "requiredDuringSchedulingIgnoredDuringExecution", Term: q.Words(r, func() string { return SelectorWords(r) })}
			})
		}
	}
	return out.List()
}

func has(m map[string]string, k string) bool {
	_, ok := m[k]
	return ok
}

// SelectorWords writes the terms of a node selector in a line.
func SelectorWords(sel *corev1.NodeSelector) string {
	terms := make([]string, 0, len(sel.NodeSelectorTerms))
	for _, t := range sel.NodeSelectorTerms {
		var parts []string
		for _, list := range [][]corev1.NodeSelectorRequirement{t.MatchExpressions, t.MatchFields} {
			for _, r := range list {
				parts = append(parts, strings.TrimSpace(fmt.Sprintf("%s %s %s", r.Key, r.Operator, strings.Join(r.Values, ","))))
			}
		}
		if len(parts) == 0 {
			parts = []string{"<nothing>"}
		}
		terms = append(terms, strings.Join(parts, " and "))
	}
	return strings.Join(terms, ", or ")
}

// preferred returns the profile's and the pod's preferred terms.
func (a NodeAffinity) preferred(pod *corev1.Pod) (added, own []corev1.PreferredSchedulingTerm) {
	if a.Added != nil {
		added = a.Added.PreferredDuringSchedulingIgnoredDuringExecution
	}
	if na := affinityOf(pod); na != nil {
		own = na.PreferredDuringSchedulingIgnoredDuringExecution
	}
	return added, own
}

// scores reports whether a preferred term can count.
func scores(t *corev1.PreferredSchedulingTerm) bool {
	return t.Weight != 0 && len(t.Preference.MatchExpressions)+len(t.Preference.MatchFields) > 0
}

// ScoreParts has a part for each preferred term, also for those that the node does not match.
func (a NodeAffinity) ScoreParts(q *engine.Query, _ engine.NoState, _ state.Bits) func(row int) []engine.ScorePart {
	added, own := a.preferred(q.Pod)
	var list []engine.ScorePart
	var rows []state.Bits
	add := func(by engine.PartKind, terms []corev1.PreferredSchedulingTerm) {
		for i := range terms {
			t := &terms[i]
			if !scores(t) {
				continue
			}
			if match, ok := q.TermRows(&t.Preference); ok {
				words := engine.ClipTerm(SelectorWords(&corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{t.Preference}}))
				list, rows = append(list, engine.ScorePart{By: by, Term: words, Weight: float64(t.Weight)}), append(rows, match)
			}
		}
	}
	add(engine.PartAddedAffinity, added)
	add(engine.PartNodeAffinity, own)
	return func(row int) []engine.ScorePart {
		parts := slices.Clone(list)
		for i := range parts {
			if rows[i].Has(row) {
				parts[i].Count, parts[i].Points = 1, parts[i].Weight
			}
		}
		return parts
	}
}

// Score adds up the weights of the preferred terms that a node matches, the
// profile's and the pod's. A term of the pod that does not parse is an error.
func (a NodeAffinity) Score(q *engine.Query, _ engine.NoState, feasible state.Bits, out *engine.Scores) error {
	added, own := a.preferred(q.Pod)
	if own == nil && len(added) == 0 {
		out.Skip()
		return nil
	}
	clear(out.Raw)
	for _, list := range [][]corev1.PreferredSchedulingTerm{added, own} {
		for i := range list {
			t := &list[i]
			if !scores(t) {
				continue
			}
			rows, ok := q.TermRows(&t.Preference)
			if !ok {
				_, err := nodeaffinity.NewPreferredSchedulingTerms(own)
				return fmt.Errorf("preferred term %d: %w", i, object.FewProblems(err))
			}
			for row := range rows.AllAnd(feasible) {
				out.Raw[row] += int64(t.Weight)
			}
		}
	}
	engine.NormalizeByMax(feasible, out, false)
	return nil
}

// nodeAffinityCause returns which of the three affinities the node fails.
func nodeAffinityCause(d *engine.Detail) engine.Cause {
	c := engine.Cause{Code: engine.CauseAffinityNotMatched, About: d.Term}
	switch d.Name {
	case "nodeSelector":
		c.Code = engine.CauseSelectorNotMatched
	case "addedAffinity":
		c.Code = engine.CauseAddedAffinityNotMatched
	}
	return c
}
