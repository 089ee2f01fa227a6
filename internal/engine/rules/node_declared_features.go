package rules

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
	ndf "k8s.io/component-helpers/nodedeclaredfeatures"
	"k8s.io/component-helpers/nodedeclaredfeatures/features"

	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/semantics"
)

// ReasonFeatures is the reason of a node without a needed feature.
const ReasonFeatures = "node(s) didn't match Pod's required features"

// missingFeatures is the reason in releases that name what is missing.
const missingFeatures = "node declared features check failed - unsatisfied requirements: "

// NodeDeclaredFeatures keeps pods that need a feature off nodes that do not
// declare it in status.declaredFeatures (plugins/nodedeclaredfeatures). What a
// pod needs is inferred by Kubernetes' own library, of the features that the
// release knows. The zero value, for releases in which its gate is off, does nothing.
type NodeDeclaredFeatures struct {
	known  *ndf.Framework
	target *version.Version // some features are needed in some releases only
	named  bool             // the reason names what is missing
}

var (
	_ engine.PreFilterer[[]string] = NodeDeclaredFeatures{}
	_ engine.Filterer[[]string]    = NodeDeclaredFeatures{}
	_ engine.Detailer[[]string]    = NodeDeclaredFeatures{}
	_ engine.Local                 = NodeDeclaredFeatures{}
)

// nodeDeclaredFeaturesDescriptor is the rule's entry in the registry.
var nodeDeclaredFeaturesDescriptor = Descriptor{
	Plugin: "NodeDeclaredFeatures", Phases: []string{phasePreFilter, phaseFilter},
	Needs:  filterNeeds,
	Judges: "Features that the pod needs, inferred by Kubernetes' own library, compared with `status.declaredFeatures`.",
	Code:   codeUnresolvable, Reasons: []string{ReasonFeatures}, Upstream: "nodedeclaredfeatures/nodedeclaredfeatures.go",
	Details: []*engine.DetailKind{named("declaredFeature", "name", engine.CauseFeatureMissing)},
	in: func(d *Descriptor, r *semantics.Release) {
		if !r.NodeDeclaredFeatures {
			d.Optional, d.Needs = true, nil
		}
	},
	build: func(_ *Args, r *semantics.Release) (*engine.Plugin, error) {
		n, err := newNodeDeclaredFeatures(r)
		return engine.Adapt[[]string](n), err
	},
}

func newNodeDeclaredFeatures(r *semantics.Release) (n NodeDeclaredFeatures, err error) {
	if !r.NodeDeclaredFeatures {
		return n, nil
	}
	if n.target, err = version.ParseSemantic(r.Name); err != nil {
		return n, fmt.Errorf("release: %w", err)
	}
	n.known = ndf.New(slices.DeleteFunc(slices.Clone(features.AllFeatures), func(f ndf.Feature) bool {
		return !slices.Contains(r.Features, f.Name())
	}))
	n.named = r.FeaturesNamed
	return n, nil
}

// Name is the plugin's name.
func (NodeDeclaredFeatures) Name() string { return "NodeDeclaredFeatures" }

// Locality returns NodesOnly: features belong to nodes.
func (NodeDeclaredFeatures) Locality(_ *engine.Query) engine.Locality { return engine.NodesOnly }

func (n NodeDeclaredFeatures) needed(q *engine.Query) ([]string, error) {
	if n.known == nil {
		return nil, nil
	}
	set, err := n.known.InferForPodScheduling(&ndf.PodInfo{Spec: &q.Pod.Spec}, n.target)
	if err != nil || set.IsEmpty() {
		return nil, err
	}
	return n.known.Unmap(set)
}

// PreFilter infers the features that the pod needs; most pods need none.
func (n NodeDeclaredFeatures) PreFilter(q *engine.Query) ([]string, engine.PreFilterResult) {
	need, err := n.needed(q)
	if err != nil {
		return nil, engine.PreFilterResult{Code: engine.Error, Reason: err.Error()}
	}
	return need, engine.PreFilterResult{Skip: len(need) == 0}
}

// Filter rejects nodes that lack a needed feature as unresolvable.
func (n NodeDeclaredFeatures) Filter(q *engine.Query, need []string, in state.Bits, rej *engine.Rejected) error {
	if len(need) == 0 {
		return nil
	}
	out := q.Bits()
	for row := range in.All() {
		if len(missing(need, q.Nodes.Node(row).Features)) > 0 {
			out.Set(row)
		}
	}
	reason := ReasonFeatures
	if n.named { // the release that does knows one feature alone, so that all nodes lack the same
		reason = missingFeatures + strings.Join(need, ", ")
	}
	rej.Add(reason, engine.UnschedulableAndUnresolvable, out)
	return nil
}

func missing(need, have []string) []string {
	var out []string
	for _, n := range need {
		if !slices.Contains(have, n) {
			out = append(out, n)
		}
	}
	return out
}

// Details names the features that the node lacks.
func (NodeDeclaredFeatures) Details(q *engine.Query, need []string, row int) []engine.Detail {
	var out []engine.Detail
	for _, m := range missing(need, q.Nodes.Node(row).Features) {
		out = append(out, engine.Detail{Kind: "declaredFeature", Name: m})
	}
	return out
}
