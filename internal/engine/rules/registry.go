package rules

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// Spec is a profile as data: which plugins run in which phase, in which order
// and with which arguments. It is what is stored and digested, so a decision can
// be replayed under the profile that it was made with.
type Spec struct {
	SchedulerName string    `json:"schedulerName"`
	Siblings      []string  `json:"siblings,omitempty"` // all profiles of the configuration
	Ungated       []string  `json:"ungated,omitempty"`  // those of them without SchedulingGates
	PreEnqueue    []string  `json:"preEnqueue,omitempty"`
	PreFilter     []string  `json:"preFilter,omitempty"`
	Filter        []string  `json:"filter,omitempty"`
	PostFilter    []string  `json:"postFilter,omitempty"`
	Score         []Enabled `json:"score,omitempty"`
	Args          Args      `json:"args"`
}

// Enabled is a scoring plugin and its weight.
type Enabled struct {
	Name   string `json:"name"`
	Weight int64  `json:"weight"`
}

// Args are the arguments of the plugins that have some.
type Args struct {
	NodeAffinity      NodeAffinityArgs      `json:"nodeAffinity"`
	NodeResourcesFit  FitArgs               `json:"nodeResourcesFit"`
	Balanced          BalancedArgs          `json:"nodeResourcesBalancedAllocation"`
	PodTopologySpread SpreadArgs            `json:"podTopologySpread"`
	InterPodAffinity  InterPodAffinityArgs  `json:"interPodAffinity"`
	DefaultPreemption DefaultPreemptionArgs `json:"defaultPreemption"`
	// DynamicResources is nil for the defaults, so that profiles without it keep
	// their digest.
	DynamicResources *DynamicResourcesArgs `json:"dynamicResources,omitempty"`
}

// DynamicResourcesArgs is kubescheduler.config.k8s.io/v1 DynamicResourcesArgs
// without filterTimeout, which an engine without a clock has no use for.
type DynamicResourcesArgs struct {
	// BindingTimeout is how long devices may take to become ready after they were
	// allocated, in nanoseconds.
	BindingTimeout time.Duration `json:"bindingTimeout"`
}

// NodeAffinityArgs is kubescheduler.config.k8s.io/v1 NodeAffinityArgs.
type NodeAffinityArgs struct {
	AddedAffinity *corev1.NodeAffinity `json:"addedAffinity,omitempty"`
}

// FitArgs is kubescheduler.config.k8s.io/v1 NodeResourcesFitArgs.
type FitArgs struct {
	IgnoredResources      []string         `json:"ignoredResources,omitempty"`
	IgnoredResourceGroups []string         `json:"ignoredResourceGroups,omitempty"`
	Strategy              Strategy         `json:"strategy"`
	Resources             []ResourceWeight `json:"resources"`
	Shape                 []ShapePoint     `json:"shape,omitempty"`
}

// BalancedArgs is kubescheduler.config.k8s.io/v1
// NodeResourcesBalancedAllocationArgs.
type BalancedArgs struct {
	Resources []ResourceWeight `json:"resources"`
}

// SpreadArgs is kubescheduler.config.k8s.io/v1 PodTopologySpreadArgs. System
// stands for defaultingType System, which brings its own constraints.
type SpreadArgs struct {
	System      bool                              `json:"system"`
	Constraints []corev1.TopologySpreadConstraint `json:"constraints,omitempty"`
}

// InterPodAffinityArgs is kubescheduler.config.k8s.io/v1 InterPodAffinityArgs.
type InterPodAffinityArgs struct {
	HardPodAffinityWeight              int32 `json:"hardPodAffinityWeight"`
	IgnorePreferredTermsOfExistingPods bool  `json:"ignorePreferredTermsOfExistingPods,omitempty"`
}

// DefaultPreemptionArgs is kubescheduler.config.k8s.io/v1
// DefaultPreemptionArgs. berth tries all candidates, so it records these and
// does not use them.
type DefaultPreemptionArgs struct {
	MinCandidateNodesPercentage int32 `json:"minCandidateNodesPercentage"`
	MinCandidateNodesAbsolute   int32 `json:"minCandidateNodesAbsolute"`
}

// plugin is a registry entry: where upstream's default profile has the plugin,
// with which weight, and how to make it.
type plugin struct {
	name                        string
	preEnqueue, preFilter       bool
	filter, postFilter, scoring bool
	weight                      int64
	build                       func(*Args) (*engine.Plugin, error)
}

// always builds a rule that has no arguments. S is its PreFilter state.
func always[S any](r engine.Rule) func(*Args) (*engine.Plugin, error) {
	return func(*Args) (*engine.Plugin, error) { return engine.Adapt[S](r), nil }
}

// registry is the only list of rules. Its order is upstream's, in which the
// first failing plugin is named and scores are listed
// (pkg/scheduler/apis/config/v1/default_plugins.go).
var registry = []plugin{
	{name: "SchedulingGates", preEnqueue: true, build: always[engine.NoState](SchedulingGates{})},
	{name: "NodeUnschedulable", filter: true, build: always[engine.NoState](NodeUnschedulable{})},
	{name: "NodeName", filter: true, build: always[engine.NoState](NodeName{})},
	{name: "TaintToleration", filter: true, scoring: true, weight: 3, build: always[engine.NoState](TaintToleration{})},
	{name: "NodeAffinity", preFilter: true, filter: true, scoring: true, weight: 2, build: func(a *Args) (*engine.Plugin, error) {
		r, err := newNodeAffinity(a.NodeAffinity.AddedAffinity)
		return engine.Adapt[engine.NoState](r), err
	}},
	{name: "NodePorts", preFilter: true, filter: true, build: always[[]state.Port](NodePorts{})},
	{name: "NodeResourcesFit", preFilter: true, filter: true, scoring: true, weight: 1, build: func(a *Args) (*engine.Plugin, error) {
		f := a.NodeResourcesFit
		scorer, err := newResourceScorer(f.Strategy, f.Resources, f.Shape)
		return engine.Adapt[engine.NoState](&NodeResourcesFit{Ignored: f.IgnoredResources, IgnoredGroups: f.IgnoredResourceGroups, scorer: scorer}), err
	}},
	{name: "VolumeRestrictions", preFilter: true, filter: true, build: always[restricted](VolumeRestrictions{})},
	{name: "NodeVolumeLimits", preFilter: true, filter: true, build: always[*incoming](NodeVolumeLimits{})},
	{name: "VolumeBinding", preFilter: true, filter: true, scoring: true, build: always[*bindings](VolumeBinding{})},
	{name: "VolumeZone", preFilter: true, filter: true, build: always[*zonesOfVolumes](VolumeZone{})},
	{name: "PodTopologySpread", preFilter: true, filter: true, scoring: true, weight: 2, build: func(a *Args) (*engine.Plugin, error) {
		s := a.PodTopologySpread
		if s.System {
			return engine.Adapt[[]*spreadCounts](&PodTopologySpread{Defaults: systemConstraints(), System: true}), nil
		}
		return engine.Adapt[[]*spreadCounts](&PodTopologySpread{Defaults: s.Constraints}), nil
	}},
	{name: "InterPodAffinity", preFilter: true, filter: true, scoring: true, weight: 2, build: func(a *Args) (*engine.Plugin, error) {
		i := a.InterPodAffinity
		return engine.Adapt[*affinityCounts](&InterPodAffinity{HardWeight: i.HardPodAffinityWeight, IgnoreExisting: i.IgnorePreferredTermsOfExistingPods}), nil
	}},
	{name: "DynamicResources", preEnqueue: true, preFilter: true, filter: true, postFilter: true, scoring: true, weight: 2, build: func(a *Args) (*engine.Plugin, error) {
		return engine.Adapt[*deviceState](newDynamicResources(a.DynamicResources)), nil
	}},
	{name: "DefaultPreemption", preEnqueue: true, postFilter: true, build: always[engine.NoState](named("DefaultPreemption"))},
	{name: "NodeResourcesBalancedAllocation", scoring: true, weight: 1, build: func(a *Args) (*engine.Plugin, error) {
		return engine.Adapt[engine.NoState](&NodeResourcesBalancedAllocation{Resources: a.Balanced.Resources}), nil
	}},
	{name: "ImageLocality", scoring: true, weight: 1, build: always[engine.NoState](ImageLocality{})},
	{name: "NodeDeclaredFeatures", preFilter: true, filter: true, build: always[[]string](NodeDeclaredFeatures{})},
}

// named is a plugin that plays its part outside of the rules' phases.
type named string

// Name is the plugin's name.
func (n named) Name() string { return string(n) }

// systemConstraints are upstream's default constraints
// (plugins/podtopologyspread/plugin.go systemDefaultConstraints).
func systemConstraints() []corev1.TopologySpreadConstraint {
	return []corev1.TopologySpreadConstraint{
		{TopologyKey: corev1.LabelHostname, WhenUnsatisfiable: corev1.ScheduleAnyway, MaxSkew: 3},
		{TopologyKey: corev1.LabelTopologyZone, WhenUnsatisfiable: corev1.ScheduleAnyway, MaxSkew: 5},
	}
}

// DefaultArgs gives upstream's default arguments.
func DefaultArgs() Args {
	pair := []ResourceWeight{{"cpu", 1}, {"memory", 1}}
	return Args{
		NodeResourcesFit:  FitArgs{Strategy: LeastAllocated, Resources: pair},
		Balanced:          BalancedArgs{Resources: pair},
		PodTopologySpread: SpreadArgs{System: true},
		InterPodAffinity:  InterPodAffinityArgs{HardPodAffinityWeight: 1},
		DefaultPreemption: DefaultPreemptionArgs{MinCandidateNodesPercentage: 10, MinCandidateNodesAbsolute: 100},
	}
}

// DefaultSpec gives upstream's default profile.
func DefaultSpec() Spec {
	s := Spec{SchedulerName: corev1.DefaultSchedulerName, Siblings: []string{corev1.DefaultSchedulerName}, Args: DefaultArgs()}
	for _, p := range registry {
		s.Enable(p.name, p.weight)
	}
	return s
}

// Known says whether berth has a plugin, and with which default weight.
func Known(name string) (weight int64, ok bool) {
	for _, p := range registry {
		if p.name == name {
			return p.weight, true
		}
	}
	return 0, false
}

// Enable adds a plugin to every phase that it plays a part in, as multiPoint
// does. Weight 0 stands for 1.
func (s *Spec) Enable(name string, weight int64) {
	for _, p := range registry {
		if p.name != name {
			continue
		}
		if p.preEnqueue {
			s.PreEnqueue = append(s.PreEnqueue, name)
		}
		if p.preFilter {
			s.PreFilter = append(s.PreFilter, name)
		}
		if p.filter {
			s.Filter = append(s.Filter, name)
		}
		if p.postFilter {
			s.PostFilter = append(s.PostFilter, name)
		}
		if p.scoring {
			s.Score = append(s.Score, Enabled{name, max(weight, 1)})
		}
	}
}

// Build makes the profile that a spec describes. Errors name the plugin or the
// argument.
func Build(s Spec) (*engine.Profile, error) {
	payload, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("encode profile %s: %w", s.SchedulerName, err)
	}
	sum := sha256.Sum256(payload)
	p := &engine.Profile{Name: s.SchedulerName, Siblings: s.Siblings, Ungated: s.Ungated, Payload: payload, Digest: "sha256:" + hex.EncodeToString(sum[:])}
	index := map[string]int{}
	use := func(name string) (int, error) {
		if i, ok := index[name]; ok {
			return i, nil
		}
		for _, e := range registry {
			if e.name != name {
				continue
			}
			r, err := e.build(&s.Args)
			if err != nil {
				return 0, fmt.Errorf("profile %s: %s: %w", s.SchedulerName, name, err)
			}
			p.Rules = append(p.Rules, r)
			index[name] = len(p.Rules) - 1
			return index[name], nil
		}
		return 0, fmt.Errorf("profile %s: there is no plugin %q here", s.SchedulerName, name)
	}
	for _, phase := range []struct {
		names []string
		into  *[]int
	}{{s.PreFilter, &p.PreFilter}, {s.Filter, &p.Filter}} {
		for _, name := range phase.names {
			i, err := use(name)
			if err != nil {
				return nil, err
			}
			*phase.into = append(*phase.into, i)
		}
	}
	for _, e := range s.Score {
		i, err := use(e.Name)
		if err != nil {
			return nil, err
		}
		p.Score = append(p.Score, engine.WeightedRule{Rule: i, Weight: e.Weight})
	}
	for _, name := range append(append([]string{}, s.PreEnqueue...), s.PostFilter...) {
		if _, err := use(name); err != nil {
			return nil, err
		}
		p.Gates = p.Gates || name == "SchedulingGates"
	}
	for _, name := range s.PreEnqueue {
		if i := index[name]; p.Rules[i].PreEnqueue != nil {
			p.PreEnqueue = append(p.PreEnqueue, i)
		}
	}
	p.PostFilter = s.PostFilter
	p.Preemption = slices.Contains(s.PostFilter, "DefaultPreemption")
	return p, nil
}

// Restore makes a profile again from the payload that was stored with a
// decision.
func Restore(payload []byte) (*engine.Profile, error) {
	var s Spec
	if err := json.Unmarshal(payload, &s); err != nil {
		return nil, fmt.Errorf("decode stored profile: %w", err)
	}
	return Build(s)
}

// Only makes of a stored profile one with no other filters than those that keep
// lets through, and without scores and preemption: what is asked once more
// before a bind.
func Only(payload []byte, keep func(plugin string) bool) (*engine.Profile, error) {
	var s Spec
	if err := json.Unmarshal(payload, &s); err != nil {
		return nil, fmt.Errorf("decode profile: %w", err)
	}
	not := func(plugin string) bool { return !keep(plugin) }
	s.PreFilter, s.Filter = slices.DeleteFunc(s.PreFilter, not), slices.DeleteFunc(s.Filter, not)
	s.PostFilter, s.Score = nil, nil
	return Build(s)
}
