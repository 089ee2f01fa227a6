package config

import (
	"slices"
	"strings"

	configv1 "k8s.io/kube-scheduler/config/v1"

	"berth/internal/engine/rules"
	"berth/internal/semantics"
)

// point is an extension point of the scheduling framework; several make a set.
type point uint16

const (
	preEnqueue point = 1 << iota
	queueSort
	preFilter
	filter
	postFilter
	preScore
	score
	reserve
	permit
	preBind
	bind
	postBind
	placementGenerate
	placementScore
	podGroupPostFilter
)

// points lists the extension points with their names in the configuration and
// where that has their plugins.
var points = []struct {
	is   point
	name string
	set  func(*configv1.Plugins) *configv1.PluginSet
}{
	{preEnqueue, "preEnqueue", func(p *configv1.Plugins) *configv1.PluginSet { return &p.PreEnqueue }},
	{queueSort, "queueSort", func(p *configv1.Plugins) *configv1.PluginSet { return &p.QueueSort }},
	{preFilter, "preFilter", func(p *configv1.Plugins) *configv1.PluginSet { return &p.PreFilter }},
	{filter, "filter", func(p *configv1.Plugins) *configv1.PluginSet { return &p.Filter }},
	{postFilter, "postFilter", func(p *configv1.Plugins) *configv1.PluginSet { return &p.PostFilter }},
	{preScore, "preScore", func(p *configv1.Plugins) *configv1.PluginSet { return &p.PreScore }},
	{score, "score", func(p *configv1.Plugins) *configv1.PluginSet { return &p.Score }},
	{reserve, "reserve", func(p *configv1.Plugins) *configv1.PluginSet { return &p.Reserve }},
	{permit, "permit", func(p *configv1.Plugins) *configv1.PluginSet { return &p.Permit }},
	{preBind, "preBind", func(p *configv1.Plugins) *configv1.PluginSet { return &p.PreBind }},
	{bind, "bind", func(p *configv1.Plugins) *configv1.PluginSet { return &p.Bind }},
	{postBind, "postBind", func(p *configv1.Plugins) *configv1.PluginSet { return &p.PostBind }},
	{placementGenerate, "placementGenerate", func(p *configv1.Plugins) *configv1.PluginSet { return &p.PlacementGenerate }},
	{placementScore, "placementScore", func(p *configv1.Plugins) *configv1.PluginSet { return &p.PlacementScore }},
	{podGroupPostFilter, "podGroupPostFilter", func(p *configv1.Plugins) *configv1.PluginSet { return &p.PodGroupPostFilter }},
}

// known is a plugin of a release.
type known struct {
	name     string
	at       point // its extension points
	optional bool  // not in the default profile: its feature gate is off by default
	// needs maps an extension point to the one whose work it relies on.
	needs map[point]point
	args  *rules.ArgsCodec // nil where it has no arguments
}

// pluginsOf lists a release's plugins. Those with a rule come first, in the order of the default
// profile; each of the others is alone at its extension points there
// (apis/config/v1/default_plugins.go getDefaultPlugins, applyFeatureGates;
// framework/plugins/registry.go).
func pluginsOf(r *semantics.Release) []known {
	var list []known
	var there point
	for _, name := range r.Points {
		there |= pointOf(name)
	}
	for _, d := range rules.Describe(r) {
		k := known{name: d.Plugin, args: d.Args, optional: d.Optional, needs: map[point]point{}}
		for _, name := range slices.Concat(d.Phases, d.Also) {
			k.at |= pointOf(name) & there
		}
		for name, before := range d.Needs {
			k.needs[pointOf(name)] = pointOf(before)
		}
		list = append(list, k)
	}
	for _, o := range r.Others {
		k := known{name: o.Name, optional: o.Gate != "" && !r.On(o.Gate)}
		for _, name := range o.Points {
			k.at |= pointOf(name)
		}
		list = append(list, k)
	}
	return list
}

// pointOf returns the extension point of a name such as PreFilter.
func pointOf(name string) point {
	for _, p := range points {
		if strings.EqualFold(p.name, name) {
			return p.is
		}
	}
	panic("no extension point is called " + name)
}

// gone are plugins that older versions had (validation.go invalidPluginsByVersion).
var gone = map[string]string{
	"AzureDiskLimits": "NodeVolumeLimits", "CinderLimits": "NodeVolumeLimits", "EBSLimits": "NodeVolumeLimits", "GCEPDLimits": "NodeVolumeLimits",
}

// find returns the plugin of a name; nil without.
func (r *reader) find(name string) *known {
	for i := range r.known {
		if r.known[i].name == name {
			return &r.known[i]
		}
	}
	return nil
}

// noPlugin reports that berth has no plugin of the name.
func (r *reader) noPlugin(name string) string {
	if successor, ok := gone[name]; ok {
		return "is no longer a plugin of Kubernetes; " + successor + " does its work"
	}
	return "is not a plugin of Kubernetes " + r.release.Minor() + ", and berth runs no others"
}
