package rules

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/preempt"
	"berth/internal/semantics"
)

// Spec is a profile as data: which plugins run in which phase, in which order and with which
// arguments. It is stored and digested, so that a decision can be replayed under its profile.
type Spec struct {
	SchedulerName string    `json:"schedulerName"`
	Siblings      []string  `json:"siblings,omitempty"` // all profiles of the configuration
	Ungated       []string  `json:"ungated,omitempty"`  // the siblings without SchedulingGates
	PreEnqueue    []string  `json:"preEnqueue,omitempty"`
	PreFilter     []string  `json:"preFilter,omitempty"`
	Filter        []string  `json:"filter,omitempty"`
	PostFilter    []string  `json:"postFilter,omitempty"`
	Score         []Enabled `json:"score,omitempty"`
	Args          Args      `json:"args"`
	// Semantics is the release, as semantics.Release.Written names it.
	Semantics string `json:"semantics,omitempty"`
}

// Enabled is a scoring plugin and its weight.
type Enabled struct {
	Name   string `json:"name"`
	Weight int64  `json:"weight"`
	// NoPreScore reports that the plugin's PreScore is off.
	NoPreScore bool `json:"noPreScore,omitempty"`
}

// always builds a rule that has no arguments and is the same in every release. S is its PreFilter
// state.
func always[S any](r engine.Rule) func(*Args, *semantics.Release) (*engine.Plugin, error) {
	return func(*Args, *semantics.Release) (*engine.Plugin, error) { return engine.Adapt[S](r), nil }
}

// registry is the only list of rules. Which order they have is for the release to say.
var registry = []*Descriptor{
	&schedulingGatesDescriptor,
	&nodeUnschedulableDescriptor,
	&nodeNameDescriptor,
	&taintTolerationDescriptor,
	&nodeAffinityDescriptor,
	&nodePortsDescriptor,
	&nodeResourcesFitDescriptor,
	&volumeRestrictionsDescriptor,
	&nodeVolumeLimitsDescriptor,
	&volumeBindingDescriptor,
	&volumeZoneDescriptor,
	&podTopologySpreadDescriptor,
	&interPodAffinityDescriptor,
	&dynamicResourcesDescriptor,
	&defaultPreemptionDescriptor,
	&nodeResourcesBalancedAllocationDescriptor,
	&imageLocalityDescriptor,
	&nodeDeclaredFeaturesDescriptor,
}

// DefaultSpec returns upstream's default profile in the default release.
func DefaultSpec() Spec { return SpecOf(semantics.Default()) }

// SpecOf returns upstream's default profile in a release.
func SpecOf(r *semantics.Release) Spec {
	s := Spec{
		SchedulerName: corev1.DefaultSchedulerName, Siblings: []string{corev1.DefaultSchedulerName},
		Args: DefaultArgs(), Semantics: r.Written(),
	}
	for _, d := range Describe(r) {
		if !d.Optional {
			s.enable(&d, d.Weight)
		}
	}
	return s
}

// find returns the descriptor of a plugin; nil without.
func find(name string) *Descriptor {
	for _, d := range registry {
		if d.Plugin == name {
			return d
		}
	}
	return nil
}

// Known reports whether berth has a plugin, and returns its default weight.
func Known(name string) (weight int64, ok bool) {
	d := find(name)
	if d == nil {
		return 0, false
	}
	return d.Weight, true
}

// Enable adds a plugin to every phase that it implements in the default release, as multiPoint
// does. Weight 0 stands for 1.
func (s *Spec) Enable(name string, weight int64) {
	if d := find(name); d != nil {
		own := d.of(semantics.Default())
		s.enable(&own, weight)
	}
}

func (s *Spec) enable(d *Descriptor, weight int64) {
	name := d.Plugin
	for _, phase := range d.Phases {
		switch phase {
		case phasePreEnqueue:
			s.PreEnqueue = append(s.PreEnqueue, name)
		case phasePreFilter:
			s.PreFilter = append(s.PreFilter, name)
		case phaseFilter:
			s.Filter = append(s.Filter, name)
		case phasePostFilter:
			s.PostFilter = append(s.PostFilter, name)
		case phaseScore:
			s.Score = append(s.Score, Enabled{Name: name, Weight: max(weight, 1)})
		}
	}
}

// Build makes the profile that a spec describes. Errors name the plugin or the argument.
func Build(s Spec) (*engine.Profile, error) {
	r := semantics.OfProfile(s.Semantics)
	if r == nil {
		return nil, fmt.Errorf("profile %s: semantics: this does not know %.64q, only %s", s.SchedulerName, s.Semantics, semantics.Known())
	}
	return BuildUnder(s, r)
}

// BuildUnder is Build under a release that stands in for the spec's.
func BuildUnder(s Spec, r *semantics.Release) (*engine.Profile, error) {
	payload, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("encode profile %s: %w", s.SchedulerName, err)
	}
	sum := sha256.Sum256(payload)
	p := &engine.Profile{
		Name: s.SchedulerName, Siblings: s.Siblings, Ungated: s.Ungated, Payload: payload,
		Digest: "sha256:" + hex.EncodeToString(sum[:]), Semantics: r, JudgeVictims: preempt.WaysOf(r).JudgeVictims,
		ExclusionMeansAll: r.ExclusionMeansAll, GatedNominationsCount: r.GatedNominationsCount,
		Counting: countingOf(r),
	}
	index := map[string]int{}
	use := func(name string) (int, error) {
		if i, ok := index[name]; ok {
			return i, nil
		}
		d := find(name)
		if d == nil {
			return 0, fmt.Errorf("profile %s: there is no plugin %q here", s.SchedulerName, name)
		}
		rule, err := d.build(&s.Args, r)
		if err != nil {
			return 0, fmt.Errorf("profile %s: %s: %w", s.SchedulerName, name, err)
		}
		if r.NewNodesMeanTaints {
			rule.HearOfTaints()
		}
		p.Rules = append(p.Rules, rule)
		index[name] = len(p.Rules) - 1
		return index[name], nil
	}
	useAll := func(names []string, into *[]int) error {
		for _, name := range names {
			i, err := use(name)
			if err != nil {
				return err
			}
			*into = append(*into, i)
		}
		return nil
	}
	if err := cmp.Or(useAll(s.PreFilter, &p.PreFilter), useAll(s.Filter, &p.Filter)); err != nil {
		return nil, err
	}
	for _, e := range s.Score {
		i, err := use(e.Name)
		if err != nil {
			return nil, err
		}
		p.Score = append(p.Score, engine.WeightedRule{Rule: i, Weight: e.Weight, NoPreScore: e.NoPreScore})
	}
	if err := cmp.Or(useAll(s.PreEnqueue, &p.PreEnqueue), useAll(s.PostFilter, &p.PostFilter)); err != nil {
		return nil, err
	}
	p.PreEnqueue = slices.DeleteFunc(p.PreEnqueue, func(i int) bool { return p.Rules[i].PreEnqueue == nil })
	p.Gates = slices.Contains(s.PreEnqueue, "SchedulingGates")
	p.Preemption = slices.Contains(s.PostFilter, "DefaultPreemption")
	return p, nil
}

// Restore makes a profile from the payload that was stored with a decision, under the default
// release where this does not know its own.
func Restore(payload []byte) (*engine.Profile, error) {
	var s Spec
	if err := json.Unmarshal(payload, &s); err != nil {
		return nil, fmt.Errorf("decode stored profile: %w", err)
	}
	r := semantics.OfProfile(s.Semantics)
	if r == nil {
		r = semantics.Default() // the stamp of the record tells that the answer may be another
	}
	return BuildUnder(s, r)
}

// Only makes a profile from a stored payload with only the filters that keep accepts, and without
// scores and preemption. A bind checks these filters again.
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
