package gen

import (
	"fmt"
	"math/rand/v2"
	"slices"

	v1 "k8s.io/api/core/v1"
	configv1 "k8s.io/kube-scheduler/config/v1"

	"berth/test/conformance/oracle"
)

// Configs are the configurations that cases can be drawn under. "any" is
// one of those after the default, another in every case.
var Configs = []string{"default", "most-allocated", "constraints", "half", "mixed", "any"}

// configuration is a KubeSchedulerConfiguration without the fields that Go's
// own type writes even when they are unset.
type configuration struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"`
	Profiles   []profile `json:"profiles"`
}

type profile struct {
	SchedulerName string                        `json:"schedulerName,omitempty"`
	Plugins       map[string]configv1.PluginSet `json:"plugins,omitempty"`
	PluginConfig  []pluginConfig                `json:"pluginConfig,omitempty"`
}

type pluginConfig struct {
	Name string `json:"name"`
	Args any    `json:"args"`
}

// configure sets the configuration of a case, and for its pods the names of the
// profiles where there are several. It draws from numbers of its own, so that
// the objects of a seed are otherwise the same under every configuration.
func (m *maker) configure(c *oracle.Case, incoming *v1.Pod) error {
	d := *m
	d.Rand = rand.New(rand.NewPCG(c.Seed, 0x636f6e666967))
	kind := m.opts.Config
	if kind == "any" {
		kind = pick(&d, "most-allocated", "constraints", "half", "mixed", "mixed", "mixed")
	}
	var profiles []profile
	switch kind {
	case "", "default":
		return nil
	case "most-allocated":
		profiles = []profile{{PluginConfig: []pluginConfig{{"NodeResourcesFit", configv1.NodeResourcesFitArgs{
			ScoringStrategy: &configv1.ScoringStrategy{Type: configv1.MostAllocated, Resources: cpuAndMemory},
		}}}}}
	case "constraints":
		profiles = []profile{{PluginConfig: []pluginConfig{{"PodTopologySpread", d.defaultConstraints()}}}}
	case "half":
		profiles = []profile{d.half()}
	case "mixed":
		profiles = d.mixed(incoming)
	default:
		return fmt.Errorf("no configuration %q; there are %q", kind, Configs)
	}
	raw, err := Compact(configuration{configv1.SchemeGroupVersion.String(), "KubeSchedulerConfiguration", profiles})
	c.Config = raw
	return err
}

var cpuAndMemory = []configv1.ResourceSpec{{Name: "cpu", Weight: 1}, {Name: "memory", Weight: 1}}

// defaultConstraints are what a pod without constraints of its own gets, hard
// ones too.
func (m *maker) defaultConstraints() configv1.PodTopologySpreadArgs {
	args := configv1.PodTopologySpreadArgs{DefaultingType: configv1.ListDefaulting}
	seen := map[string]bool{}
	for range m.between(1, 3) {
		c := v1.TopologySpreadConstraint{MaxSkew: int32(pick(m, 1, 1, 2)), TopologyKey: m.spreadKey(), WhenUnsatisfiable: pick(m, v1.DoNotSchedule, v1.ScheduleAnyway, v1.ScheduleAnyway)}
		if id := c.TopologyKey + string(c.WhenUnsatisfiable); !seen[id] {
			seen[id] = true
			args.DefaultConstraints = append(args.DefaultConstraints, c)
		}
	}
	return args
}

// The plugins of the default profile that a configuration may do without.
// Queue sorting and binding are no part of a verdict.
var (
	optional = []string{
		"SchedulingGates", "NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit", "VolumeRestrictions",
		"NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread", "InterPodAffinity", "DynamicResources", "DefaultPreemption",
		"NodeResourcesBalancedAllocation", "ImageLocality", "NodeDeclaredFeatures",
	}
	// scoring ones can be left out of the scores alone, filtering ones of the filters alone.
	scoring   = []string{"TaintToleration", "NodeAffinity", "NodeResourcesFit", "PodTopologySpread", "InterPodAffinity", "NodeResourcesBalancedAllocation", "ImageLocality"}
	filtering = []string{"TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit", "PodTopologySpread", "InterPodAffinity", "NodeDeclaredFeatures"}
)

func plugins(names ...string) []configv1.Plugin {
	var out []configv1.Plugin
	for _, n := range names {
		out = append(out, configv1.Plugin{Name: n})
	}
	return out
}

// refusing plugins are the ones that keep most nodes from the pods drawn here.
var refusing = []string{"TaintToleration", "NodeAffinity", "NodePorts", "PodTopologySpread", "InterPodAffinity", "VolumeBinding", "DynamicResources"}

// half leaves out half of the plugins, another half in every case.
func (m *maker) half() profile {
	names := slices.Clone(optional)
	m.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	named := m.opts.Config == "half" // the vectors draw it as one of any, and stay as they are
	if m.chance(90) || named {       // most cases keep what preemption needs: someone who refuses, and the plugin
		needed := []string{"DefaultPreemption", "NodeResourcesFit"}
		if named { // a third of the cases is to look for victims
			for _, i := range m.Perm(len(refusing))[:5] {
				needed = append(needed, refusing[i])
			}
		}
		for _, keep := range needed {
			i := slices.Index(names, keep)
			names = append(slices.Delete(names, i, i+1), keep)
		}
	}
	off := names[:len(names)/2]
	slices.Sort(off)
	return profile{Plugins: map[string]configv1.PluginSet{"multiPoint": {Disabled: plugins(off...)}}}
}

// schedulers are names of profiles; the first is what pods have that name none.
var schedulers = []string{v1.DefaultSchedulerName, "second", "third"}

// mixed draws one to three profiles that differ from the default in a few ways
// each, and deals pods out among them. A pod of no profile is decided by the
// first and left alone by the queue.
func (m *maker) mixed(incoming *v1.Pod) []profile {
	names := slices.Clone(schedulers[:pick(m, 1, 2, 3)])
	m.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	if len(names) > 1 && m.chance(25) {
		names = names[1:]
	}
	for _, o := range m.objs {
		if p, ok := o.(*v1.Pod); ok && (p == incoming || p.Spec.NodeName == "") && m.chance(70) {
			p.Spec.SchedulerName = pick(m, append(slices.Clone(names), "another")...)
		}
	}
	var out []profile
	for _, n := range names {
		p := profile{SchedulerName: n, Plugins: map[string]configv1.PluginSet{}}
		m.arrange(&p)
		m.arguments(&p)
		out = append(out, p)
	}
	return out
}

// arrange leaves plugins out, wholly or at one point, and weighs others anew.
func (m *maker) arrange(p *profile) {
	scoring := scoring
	if m.opts.Shapes {
		scoring = append(slices.Clone(scoring), "VolumeBinding")
	}
	multi, score := configv1.PluginSet{}, configv1.PluginSet{}
	gone := map[string]bool{}
	for range pick(m, 0, 0, 1, 2) {
		if n := pick(m, optional...); !gone[n] {
			gone[n] = true
			multi.Disabled = append(multi.Disabled, configv1.Plugin{Name: n})
		}
	}
	if n := pick(m, scoring...); m.chance(40) && !gone[n] {
		gone[n] = true
		p.Plugins["score"] = configv1.PluginSet{Disabled: plugins(n)}
		p.Plugins["preScore"] = configv1.PluginSet{Disabled: plugins(n)}
	}
	if n := pick(m, filtering...); m.chance(30) && !gone[n] {
		gone[n] = true
		p.Plugins["filter"] = configv1.PluginSet{Disabled: plugins(n)}
		p.Plugins["preFilter"] = configv1.PluginSet{Disabled: plugins(n)}
	}
	for range pick(m, 0, 1, 2, 4) {
		n := pick(m, scoring...)
		if gone[n] {
			continue
		}
		gone[n] = true
		weight := int32(m.between(1, 9))
		w := configv1.Plugin{Name: n, Weight: &weight}
		if m.chance(50) {
			multi.Enabled = append(multi.Enabled, w)
		} else {
			score.Enabled = append(score.Enabled, w)
		}
	}
	if len(multi.Enabled)+len(multi.Disabled) > 0 {
		p.Plugins["multiPoint"] = multi
	}
	if len(score.Enabled) > 0 {
		score.Disabled = p.Plugins["score"].Disabled
		p.Plugins["score"] = score
	}
}

// arguments draws arguments for a few plugins. An added affinity is drawn
// rarely, for it takes nodes away from every pod.
func (m *maker) arguments(p *profile) {
	add := func(name string, args any) { p.PluginConfig = append(p.PluginConfig, pluginConfig{name, args}) }
	if m.chance(60) {
		add("NodeResourcesFit", m.fit())
	}
	if m.chance(25) {
		add("NodeResourcesBalancedAllocation", configv1.NodeResourcesBalancedAllocationArgs{Resources: m.resources(1)})
	}
	if m.chance(30) {
		add("NodeAffinity", configv1.NodeAffinityArgs{AddedAffinity: m.nodeAffinity()})
	}
	if m.chance(40) {
		weight := int32(pick(m, 0, 1, 20, 100))
		add("InterPodAffinity", configv1.InterPodAffinityArgs{HardPodAffinityWeight: &weight, IgnorePreferredTermsOfExistingPods: m.chance(30)})
	}
	if m.opts.Shapes && m.chance(40) {
		add("VolumeBinding", configv1.VolumeBindingArgs{Shape: m.corners()})
	}
	switch n := m.IntN(100); {
	case n < 30:
		add("PodTopologySpread", m.defaultConstraints())
	case n < 40:
		add("PodTopologySpread", configv1.PodTopologySpreadArgs{DefaultingType: configv1.ListDefaulting})
	case n < 50:
		add("PodTopologySpread", configv1.PodTopologySpreadArgs{DefaultingType: configv1.SystemDefaulting})
	}
}

// corners draws the shape of a function from utilisation to score.
func (m *maker) corners() (list []configv1.UtilizationShapePoint) {
	at := int32(m.IntN(40))
	for range m.between(1, 4) {
		list = append(list, configv1.UtilizationShapePoint{Utilization: min(at, 100), Score: int32(m.between(0, 10))})
		if at += int32(m.between(5, 60)); at > 100 {
			break
		}
	}
	return list
}

func (m *maker) fit() configv1.NodeResourcesFitArgs {
	args := configv1.NodeResourcesFitArgs{ScoringStrategy: &configv1.ScoringStrategy{Resources: m.resources(5)}}
	if m.chance(25) {
		args.IgnoredResources = []string{scalars[0]}
	}
	if m.chance(15) {
		args.IgnoredResourceGroups = []string{"example.com"}
	}
	s := args.ScoringStrategy
	s.Type = pick(m, configv1.LeastAllocated, configv1.MostAllocated, configv1.RequestedToCapacityRatio, configv1.RequestedToCapacityRatio)
	if s.Type == configv1.RequestedToCapacityRatio {
		s.RequestedToCapacityRatio = &configv1.RequestedToCapacityRatioParam{Shape: m.corners()}
	}
	return args
}

// resources draws what is scored, with weights up to most.
func (m *maker) resources(most int) []configv1.ResourceSpec {
	var out []configv1.ResourceSpec
	for _, n := range []string{"cpu", "memory", "ephemeral-storage", scalars[0], scalars[1], "hugepages-2Mi"} {
		if m.chance(45) {
			out = append(out, configv1.ResourceSpec{Name: n, Weight: int64(m.between(1, most))})
		}
	}
	if len(out) == 0 {
		return cpuAndMemory
	}
	return out
}
