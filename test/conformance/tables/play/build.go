package play

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"berth/test/conformance/oracle"
	"berth/test/conformance/tables/record"
)

type tree = map[string]any

// build makes the question's case: the objects as a client could have posted
// them, and a configuration with the plugin alone. why describes what can't be put
// into objects.
func (q *question) build(name string) (why string) {
	var raw json.RawMessage
	for _, c := range q.calls {
		if c.Pod != nil {
			raw = c.Pod
		}
		if len(c.Lost) > 0 && len(q.world.keys) == 0 {
			return "the test gives the plugin something that is no object"
		}
	}
	if raw == nil {
		return "the call names no pod"
	}
	var pod tree
	if err := json.Unmarshal(raw, &pod); err != nil {
		return err.Error()
	}
	if spec, ok := pod["spec"].(tree); ok && text(spec, "nodeName") != "" {
		if q.calls[0].Plugin == "NodeName" {
			return "a pod that names its node is bound, and berth decides pods that wait"
		}
		delete(spec, "nodeName") // no other plugin reads it
	}
	var list []tree
	for _, k := range q.world.keys {
		var o tree
		if err := json.Unmarshal(q.world.objects[k], &o); err != nil {
			return err.Error()
		}
		list = append(list, o)
	}
	if q.complete(pod, list) == 0 {
		list = append(list, tree{"apiVersion": "v1", "kind": "Node", "metadata": tree{"name": "node"}, "status": tree{"allocatable": tree{"pods": "110", "cpu": "64", "memory": "64Gi"}}})
	}
	config, err := q.configuration()
	if err != nil {
		return err.Error()
	}
	q.kase = &oracle.Case{ID: name, Config: config, Pod: keyOf(pod)}
	for _, o := range append(list, pod) {
		out, err := json.Marshal(o)
		if err != nil {
			return err.Error()
		}
		q.kase.Objects = append(q.kase.Objects, out)
	}
	q.narrow(list)
	return ""
}

// narrow asks about the nodes that were scored alone where the cluster has more:
// the test stands for filters that have refused the others.
func (q *question) narrow(list []tree) {
	if q.phase != scoring {
		return
	}
	asked := map[string]bool{}
	for _, c := range q.calls {
		for _, n := range c.Nodes {
			asked[nameOf(n)] = true
		}
		if c.Method == "Score" {
			asked[nameOf(c.Node)] = true
		}
	}
	nodes := 0
	for _, o := range list {
		if o["kind"] == "Node" {
			nodes++
		}
	}
	if len(asked) < nodes {
		q.only = slices.Sorted(maps.Keys(asked))
	}
}

func meta(o tree) tree {
	m, ok := o["metadata"].(tree)
	if !ok {
		m = tree{}
		o["metadata"] = m
	}
	return m
}

func text(m tree, key string) string { s, _ := m[key].(string); return s }

func keyOf(o tree) oracle.Key {
	k := oracle.Key{Namespace: text(meta(o), "namespace"), Name: text(meta(o), "name")}
	if k.Namespace == "" {
		k.Namespace = "default"
	}
	return k
}

// points say which plugins the configuration may list at which extension point.
var points = map[string][]string{
	"preEnqueue": {"SchedulingGates", "DynamicResources"},
	"preFilter":  {"NodeAffinity", "NodePorts", "NodeResourcesFit", "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread", "InterPodAffinity", "DynamicResources", "NodeDeclaredFeatures"},
	"filter": {
		"NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit", "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone",
		"PodTopologySpread", "InterPodAffinity", "DynamicResources", "NodeDeclaredFeatures",
	},
	"preScore": {"TaintToleration", "NodeAffinity", "NodeResourcesFit", "VolumeBinding", "PodTopologySpread", "InterPodAffinity", "NodeResourcesBalancedAllocation"},
	"score":    {"TaintToleration", "NodeAffinity", "NodeResourcesFit", "VolumeBinding", "PodTopologySpread", "InterPodAffinity", "NodeResourcesBalancedAllocation", "ImageLocality", "DynamicResources"},
}

// configuration disables everything except the plugin, in the phase under test; for preemption the
// filters of the test's framework.
func (q *question) configuration() (json.RawMessage, error) {
	c := q.calls[0]
	plugins := tree{"multiPoint": tree{"disabled": []tree{{"name": "*"}}}, "queueSort": enabled("PrioritySort"), "bind": enabled("DefaultBinder")}
	at := func(point string, names ...string) {
		var list []string
		for _, n := range names {
			if slices.Contains(points[point], n) {
				list = append(list, n)
			}
		}
		if len(list) > 0 {
			plugins[point] = enabled(list...)
		}
	}
	switch q.phase {
	case filtering:
		at("preEnqueue", c.Plugin)
		at("preFilter", c.Plugin)
		at("filter", c.Plugin)
	case scoring:
		at("preScore", c.Plugin)
		at("score", c.Plugin)
		if c.Plugin == "DynamicResources" || c.Plugin == "VolumeBinding" { // they score what they have filtered
			at("preFilter", c.Plugin)
			at("filter", c.Plugin)
		}
	case preempting:
		at("preFilter", c.Profile["preFilter"]...)
		at("filter", c.Profile["filter"]...)
		plugins["postFilter"] = enabled(c.Plugin)
	}
	profile := tree{"schedulerName": "default-scheduler", "plugins": plugins}
	if args := arguments(c); args != nil {
		profile["pluginConfig"] = []tree{{"name": c.Plugin, "args": args}}
	}
	return json.Marshal(tree{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": []tree{profile}})
}

func enabled(names ...string) tree {
	var list []tree
	for _, n := range names {
		list = append(list, tree{"name": n})
	}
	return tree{"enabled": list}
}

// arguments are the plugin's as recorded. Where the internal type leaves empty
// what a file can't, what upstream then does is written out.
func arguments(c *record.Call) tree {
	var args tree
	if len(c.Args) == 0 || json.Unmarshal(c.Args, &args) != nil {
		return nil
	}
	if strings.HasPrefix(text(args, "kind"), "PodTopologySpread") && text(args, "defaultingType") == "" {
		args["defaultingType"] = "List"
	}
	return args
}
