package gen

import (
	"encoding/json"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	configv1 "k8s.io/kube-scheduler/config/v1"
)

var configMutators = []mutator{
	{"filterOrder", (*odd).filterOrder},
	{"multiPointOrder", (*odd).multiPointOrder},
	{"pointsOff", (*odd).pointsOff},
	{"scoreWeights", (*odd).scoreWeights},
	{"fitArgs", (*odd).fitArgs},
	{"addedAffinity", (*odd).addedAffinity},
	{"defaultConstraints", (*odd).oddConstraints},
}

// eachProfile calls f for each profile, or for one of no settings where the case has none.
func (o *odd) eachProfile(f func(*profile)) {
	if len(o.profiles) == 0 {
		o.profiles = []profile{{}}
	}
	for i := range o.profiles {
		if o.profiles[i].Plugins == nil {
			o.profiles[i].Plugins = map[string]configv1.PluginSet{}
		}
		f(&o.profiles[i])
	}
}

// configuration returns the document of the profiles. What they score by name they also run at
// preScore where the score reads it: upstream fails every cycle otherwise, and berth refuses it.
func (o *odd) configuration() (json.RawMessage, error) {
	for _, p := range o.profiles {
		before, there := p.Plugins["preScore"]
		for _, e := range p.Plugins["score"].Enabled {
			if slices.Contains(readsPreScore, e.Name) {
				before.Enabled = append(before.Enabled, configv1.Plugin{Name: e.Name})
			}
		}
		if there || len(before.Enabled) > 0 {
			p.Plugins["preScore"] = before
		}
	}
	return Compact(configuration{configv1.SchemeGroupVersion.String(), "KubeSchedulerConfiguration", o.profiles})
}

// readsPreScore lists the plugins whose score is an error where their preScore is off.
var readsPreScore = []string{"TaintToleration", "PodTopologySpread", "InterPodAffinity"}

// setArgs replaces the arguments of a plugin.
func (p *profile) setArgs(name string, args any) {
	p.PluginConfig = slices.DeleteFunc(p.PluginConfig, func(c pluginConfig) bool { return c.Name == name })
	p.PluginConfig = append(p.PluginConfig, pluginConfig{name, args})
}

func (o *odd) shuffled(names []string) []string {
	names = slices.Clone(names)
	o.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	return names
}

// filterOrder names filters in another order than the default one: a node is rejected by the first
// that fails. Without "*" those that are not named come after.
func (o *odd) filterOrder() {
	o.eachProfile(func(p *profile) {
		names := o.shuffled(oddFilters)
		if o.chance(40) {
			names = names[:o.between(1, len(names))]
		}
		set := configv1.PluginSet{Enabled: plugins(names...)}
		if o.chance(40) {
			set.Disabled = plugins("*")
		}
		p.Plugins["filter"] = set
	})
}

// oddFilters are all plugins that filter.
var oddFilters = append([]string{"VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "DynamicResources"}, extensionPoints["filter"]...)

// multiPointOrder takes every plugin off and puts most of them back in another order, with weights
// of those that score.
func (o *odd) multiPointOrder() {
	o.eachProfile(func(p *profile) {
		names := o.shuffled(optional)
		if o.chance(50) {
			names = names[:len(names)-o.IntN(6)]
		}
		enabled := plugins(append(names, "PrioritySort", "DefaultBinder")...)
		for i := range names {
			if o.chance(30) {
				enabled[i].Weight = new(int32(pick(o.maker, 1, 2, 7, 100)))
			}
		}
		p.Plugins["multiPoint"] = configv1.PluginSet{Enabled: enabled, Disabled: plugins("*")}
	})
}

// pointsOff takes a plugin, or every one, off at some points and leaves it on at others. Where a
// filter or score then lacks what it reads, upstream fails every cycle and berth refuses the
// configuration.
func (o *odd) pointsOff() {
	o.eachProfile(func(p *profile) {
		for _, point := range []string{"preFilter", "filter", "preScore", "score", "postFilter", "reserve", "preBind", "preEnqueue"} {
			if !o.chance(25) {
				continue
			}
			names := []string{"*", "NodeResourcesFit", "TaintToleration", "NodeAffinity", "PodTopologySpread", "InterPodAffinity", "ImageLocality", "DefaultPreemption", "NodePorts", "NodeResourcesBalancedAllocation", "VolumeBinding"}
			if point == "preScore" {
				names = []string{"NodeAffinity", "NodeResourcesBalancedAllocation", "VolumeBinding", "NodeResourcesFit", "TaintToleration"}
			}
			set := p.Plugins[point]
			set.Disabled = append(set.Disabled, configv1.Plugin{Name: pick(o.maker, names...)})
			p.Plugins[point] = set
		}
	})
}

// scoreWeights names scores in another order, with weights of 0, which stands for the default, and
// the greatest that there may be.
func (o *odd) scoreWeights() {
	o.eachProfile(func(p *profile) {
		var set configv1.PluginSet
		for _, name := range o.shuffled(extensionPoints["score"]) {
			if !o.chance(60) {
				continue
			}
			e := configv1.Plugin{Name: name}
			if o.chance(70) {
				e.Weight = new(int32(pick(o.maker, 0, 1, 3, 100, 1000000, 2147483647/100)))
			}
			set.Enabled = append(set.Enabled, e)
		}
		if o.chance(60) {
			set.Disabled = plugins("*")
		}
		p.Plugins["score"] = set
	})
}

// fitArgs scores by resources that few nodes have or none, twice by one, by pods, and along shapes
// of one point, of a step and of a zigzag; and ignores some that pods request.
func (o *odd) fitArgs() {
	o.eachProfile(func(p *profile) {
		args := configv1.NodeResourcesFitArgs{ScoringStrategy: &configv1.ScoringStrategy{}}
		if o.chance(40) {
			args.IgnoredResources = []string{pick(o.maker, "example.com/gpu", "a.b/c", "example.com/fpga")}
		}
		if o.chance(30) {
			args.IgnoredResourceGroups = []string{pick(o.maker, "example.com", "a.b", "vendor.io")}
		}
		s := args.ScoringStrategy
		for range o.between(1, 6) {
			r := configv1.ResourceSpec{Name: pick(o.maker, "cpu", "memory", "ephemeral-storage", "example.com/gpu", "a.b/c", "hugepages-1Gi", "pods", "nothing.io/x")}
			twice := slices.ContainsFunc(s.Resources, func(other configv1.ResourceSpec) bool { return other.Name == r.Name })
			if twice && o.chance(80) {
				continue
			}
			if o.chance(80) {
				r.Weight = int64(pick(o.maker, 1, 2, 50, 100))
			}
			s.Resources = append(s.Resources, r)
		}
		s.Type = pick(o.maker, configv1.LeastAllocated, configv1.MostAllocated, configv1.RequestedToCapacityRatio)
		if s.Type == configv1.RequestedToCapacityRatio {
			s.RequestedToCapacityRatio = &configv1.RequestedToCapacityRatioParam{Shape: pick(o.maker,
				[]configv1.UtilizationShapePoint{{Utilization: 0, Score: 10}},
				[]configv1.UtilizationShapePoint{{Utilization: 100, Score: 0}},
				[]configv1.UtilizationShapePoint{{Utilization: 50, Score: 3}, {Utilization: 51, Score: 10}},
				[]configv1.UtilizationShapePoint{{Utilization: 0, Score: 10}, {Utilization: 33, Score: 1}, {Utilization: 66, Score: 9}, {Utilization: 100, Score: 0}},
			)}
		}
		p.setArgs("NodeResourcesFit", args)
		if !o.chance(40) {
			return
		}
		var balanced configv1.NodeResourcesBalancedAllocationArgs
		for _, name := range []string{"cpu", "memory", "example.com/gpu", "ephemeral-storage", "pods", "a.b/c"} {
			if o.chance(45) {
				balanced.Resources = append(balanced.Resources, configv1.ResourceSpec{Name: name, Weight: 1})
			}
		}
		p.setArgs("NodeResourcesBalancedAllocation", balanced)
	})
}

// addedAffinity adds odd terms of nodes to a profile, beside those of its pods.
func (o *odd) addedAffinity() {
	o.eachProfile(func(p *profile) {
		a := &v1.NodeAffinity{}
		if o.chance(60) {
			a.RequiredDuringSchedulingIgnoredDuringExecution = &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{o.boundedTerm(integers), o.boundedTerm(integers)}}
		}
		if o.chance(60) {
			a.PreferredDuringSchedulingIgnoredDuringExecution = []v1.PreferredSchedulingTerm{
				{Weight: int32(pick(o.maker, 1, 100)), Preference: o.boundedTerm(integers)}, {Weight: 50, Preference: o.boundedTerm(integers)},
			}
		}
		p.setArgs("NodeAffinity", configv1.NodeAffinityArgs{AddedAffinity: a})
	})
}

// oddConstraints draws up to four default constraints over keys that few nodes have, and services
// with an empty selector, with all labels of the pod, or that are a name elsewhere: which services
// select a pod decides which of the constraints apply.
func (o *odd) oddConstraints() {
	if o.chance(80) {
		o.incoming.Spec.TopologySpreadConstraints = nil
	}
	o.eachProfile(func(p *profile) {
		args := configv1.PodTopologySpreadArgs{DefaultingType: configv1.ListDefaulting}
		for range o.between(1, 4) {
			c := v1.TopologySpreadConstraint{
				MaxSkew:           int32(pick(o.maker, 1, 2, 100)),
				TopologyKey:       pick(o.maker, v1.LabelTopologyZone, v1.LabelHostname, "disk", "rack", "gen"),
				WhenUnsatisfiable: pick(o.maker, v1.DoNotSchedule, v1.ScheduleAnyway),
			}
			if !slices.ContainsFunc(args.DefaultConstraints, func(other v1.TopologySpreadConstraint) bool {
				return other.TopologyKey == c.TopologyKey && other.WhenUnsatisfiable == c.WhenUnsatisfiable
			}) {
				args.DefaultConstraints = append(args.DefaultConstraints, c)
			}
		}
		p.setArgs("PodTopologySpread", args)
	})
	for _, object := range o.objs {
		s, ok := object.(*v1.Service)
		if !ok {
			continue
		}
		switch o.IntN(4) {
		case 0:
			s.Spec.Selector = map[string]string{}
		case 1:
			s.Spec.Selector = maps.Clone(o.incoming.Labels)
		case 2:
			s.Spec.Type, s.Spec.ExternalName, s.Spec.Ports = v1.ServiceTypeExternalName, "x.example.com", nil
		}
	}
}
