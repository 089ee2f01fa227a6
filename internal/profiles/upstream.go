package profiles

import configv1 "k8s.io/kube-scheduler/config/v1"

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
}

// known is a plugin of Kubernetes v1.36.
type known struct {
	name     string
	at       point // where it plays a part
	optional bool  // not in the default profile, its feature gate being off
	// needs are the points whose work another point of the plugin relies on: a
	// profile with the latter and without the former fails every pod upstream.
	needs map[point]point
}

var (
	filterNeeds = map[point]point{filter: preFilter}
	scoreNeeds  = map[point]point{score: preScore}
	bothNeed    = map[point]point{filter: preFilter, score: preScore}
)

// upstream lists the plugins in the order of the default profile
// (apis/config/v1/default_plugins.go getDefaultPlugins, applyFeatureGates;
// framework/plugins/registry.go). Default weights are the registry's of rules.
var upstream = []known{
	{name: "SchedulingGates", at: preEnqueue},
	{name: "PrioritySort", at: queueSort},
	{name: "NodeUnschedulable", at: filter},
	{name: "NodeName", at: filter},
	{name: "TaintToleration", at: filter | preScore | score, needs: scoreNeeds},
	{name: "NodeAffinity", at: preFilter | filter | preScore | score},
	{name: "NodePorts", at: preFilter | filter, needs: filterNeeds},
	{name: "NodeResourcesFit", at: preFilter | filter | preScore | score | placementScore, needs: filterNeeds},
	{name: "VolumeRestrictions", at: preFilter | filter, needs: filterNeeds},
	{name: "NodeVolumeLimits", at: preFilter | filter},
	{name: "VolumeBinding", at: preFilter | filter | reserve | preBind | preScore | score, needs: filterNeeds},
	{name: "VolumeZone", at: preFilter | filter},
	{name: "PodTopologySpread", at: preFilter | filter | preScore | score, needs: bothNeed},
	{name: "InterPodAffinity", at: preFilter | filter | preScore | score, needs: bothNeed},
	{
		name: "DynamicResources", at: preEnqueue | preFilter | filter | postFilter | score | reserve | preBind,
		needs: map[point]point{filter: preFilter, score: preFilter},
	},
	{name: "DefaultPreemption", at: preEnqueue | postFilter},
	{name: "NodeResourcesBalancedAllocation", at: preScore | score},
	{name: "ImageLocality", at: score},
	{name: "DefaultBinder", at: bind},
	{name: "NodeDeclaredFeatures", at: preFilter | filter, needs: filterNeeds},
	{name: "GangScheduling", at: preEnqueue | permit, optional: true},
	{name: "TopologyPlacementGenerator", at: placementGenerate, optional: true},
	{name: "PodGroupPodsCount", at: placementScore, optional: true},
}

// gone are plugins that older versions had (validation.go invalidPluginsByVersion).
var gone = map[string]string{
	"AzureDiskLimits": "NodeVolumeLimits", "CinderLimits": "NodeVolumeLimits", "EBSLimits": "NodeVolumeLimits", "GCEPDLimits": "NodeVolumeLimits",
}

func find(name string) *known {
	for i := range upstream {
		if upstream[i].name == name {
			return &upstream[i]
		}
	}
	return nil
}

// noPlugin reports that berth has no plugin of the name.
func noPlugin(name string) string {
	if successor, ok := gone[name]; ok {
		return "is no longer a plugin of Kubernetes; " + successor + " does its work"
	}
	return "is not a plugin of Kubernetes v1.36, and berth runs no others"
}
