package gen

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// tree is a piece of a document.
type tree = map[string]any

// settings draws configurations as people write them: most hold together, and
// many have something in them that kube-scheduler refuses.
type settings struct{ *maker }

// Settings draws the configuration of a seed, in JSON or YAML. Unlike those of
// Options.Config it may be one that kube-scheduler does not start with.
func Settings(seed uint64) []byte {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, 0x73657474))}
	s := settings{m}
	doc := tree{"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
	s.process(doc)
	var profiles []any
	for i := range pick(m, 0, 1, 1, 1, 1, 2, 3) {
		p := tree{}
		if i > 0 || s.chance(50) {
			p["schedulerName"] = schedulers[i]
		}
		if s.chance(5) {
			p["schedulerName"] = pick[any](m, "", schedulers[0], nil, 7)
		}
		if s.chance(10) {
			p["percentageOfNodesToScore"] = s.number()
		}
		if s.chance(70) {
			p["plugins"] = s.plugins()
		}
		if s.chance(70) {
			p["pluginConfig"] = s.pluginConfig()
		}
		profiles = append(profiles, p)
	}
	if len(profiles) > 1 && s.chance(15) {
		if plugins, ok := profiles[0].(tree)["plugins"]; ok {
			profiles[1].(tree)["plugins"] = plugins
		}
	}
	if profiles != nil || s.chance(50) {
		doc["profiles"] = profiles
	}
	if s.chance(15) {
		s.spoil(doc)
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		panic(err) // a tree of plain values
	}
	if s.chance(3) {
		raw = []byte(strings.Replace(string(raw), `"kind":`, `"parallelism":3,"parallelism":4,"kind":`, 1))
	}
	if s.chance(40) {
		if text, err := yaml.JSONToYAML(raw); err == nil {
			return text
		}
	}
	return raw
}

// number is one that is on, beside or far from a limit.
func (s settings) number() any {
	return pick[any](s.maker, 1, 2, 5, 10, 50, 99, 100, 1, 5, 10, 50, 0, -1, 101, 2147483647, 2147483648, "5", 1.5, nil)
}

// some returns a number that is nearly always good.
func (s settings) some(good ...int) any {
	if s.chance(3) {
		return s.number()
	}
	return pick(s.maker, good...)
}

func (s settings) process(doc tree) {
	maybe := func(percent int, key string, v func() any) {
		if s.chance(percent) {
			doc[key] = v()
		}
	}
	maybe(10, "parallelism", func() any { return s.some(1, 16) })
	maybe(10, "percentageOfNodesToScore", func() any { return s.some(0, 50, 100) })
	maybe(8, "podInitialBackoffSeconds", func() any { return s.some(1, 5, 20) })
	maybe(8, "podMaxBackoffSeconds", func() any { return s.some(10, 20) })
	maybe(5, "enableProfiling", func() any { return pick[any](s.maker, true, false, "x") })
	maybe(5, "delayCacheUntilActive", func() any { return pick[any](s.maker, true, false) })
	maybe(10, "clientConnection", func() any {
		c := tree{"qps": s.some(50, 5), "burst": s.some(100, 10)}
		if s.chance(20) {
			c[pick(s.maker, "kubeconfig", "contentType", "acceptContentTypes", "bust")] = "x"
		}
		return c
	})
	maybe(20, "leaderElection", func() any {
		l := tree{}
		for _, k := range []string{"leaseDuration", "renewDeadline", "retryPeriod"} {
			if s.chance(40) {
				l[k] = pick[any](s.maker, "15s", "10s", "2s", "20s", "1m", "0s", "-1s", "x", 5, nil, "8s", "9s", "12s", "8333333333ns")
			}
		}
		if s.chance(50) {
			l["leaderElect"] = s.chance(60)
		}
		if s.chance(30) {
			l["resourceLock"] = pick(s.maker, "leases", "leases", "endpoints", "")
		}
		if s.chance(20) {
			l[pick(s.maker, "resourceName", "resourceNamespace")] = pick(s.maker, "", "x")
		}
		return l
	})
	maybe(20, "extenders", func() any { return s.extenders() })
	if s.chance(3) {
		doc["apiVersion"] = pick[any](s.maker, "kubescheduler.config.k8s.io/v1beta3", "kubescheduler.config.k8s.io/v2", "v1", "", nil)
	}
	if s.chance(2) {
		doc["kind"] = pick[any](s.maker, "NodeResourcesFitArgs", "kubeSchedulerConfiguration", "", nil)
	}
}

func (s settings) extenders() any {
	var out []any
	for range pick(s.maker, 0, 1, 1, 2) {
		e := tree{"urlPrefix": pick(s.maker, "http://127.0.0.1:1/x", "http://127.0.0.1:1", "", "::")}
		for _, verb := range []string{"filterVerb", "preemptVerb", "prioritizeVerb", "bindVerb"} {
			if s.chance(40) {
				e[verb] = pick(s.maker, "x", "x", "")
			}
		}
		if s.chance(60) {
			e["weight"] = s.some(1, 5)
		}
		if s.chance(20) {
			e["httpTimeout"] = pick[any](s.maker, "5s", "0s", "-1s", "5", 5)
		}
		if s.chance(20) {
			e["enableHTTPS"] = s.chance(50)
		}
		if s.chance(10) {
			e["tlsConfig"] = pick[any](s.maker, tree{"insecure": true}, tree{"insecure": true, "caFile": "/no/such/file"}, tree{"serverName": "x"}, tree{"caData": "eA=="}, tree{},
				tree{"certData": "eA==", "keyData": "eA==", "certFile": "/no/such/file"}, tree{"certData": "eA=="})
		}
		if s.chance(20) {
			e[pick(s.maker, "nodeCacheCapable", "ignorable", "httpsTimeout")] = true
		}
		if s.chance(50) {
			var list []any
			for range pick(s.maker, 1, 1, 2) {
				r := tree{"name": pick(s.maker, "example.com/foo", "example.com/bar", "example.com/baz", "example.com/1", "example.com/2", "example.com/3", "example.com/4", "example.com/5", "example.com/6", "cpu", "foo", "kubernetes.io/x", "example.com/a b", "", "/x", "requests.example.com/x", "attachable-volumes-x/y", "hugepages-2Mi")}
				if s.chance(40) {
					r["ignoredByScheduler"] = true
				}
				list = append(list, r)
			}
			e["managedResources"] = list
		}
		out = append(out, e)
	}
	return out
}

// pluginNames are those of Kubernetes, some of which are off by default.
var pluginNames = append(slices.Clone(optional), "PrioritySort", "DefaultBinder", "GangScheduling", "TopologyPlacementGenerator", "PodGroupPodsCount", "DeferredPodScheduling")

// strange are names that no plugin has, or none any more.
var strange = []string{"Coscheduling", "EBSLimits", "NodeLabel", "", "nodename", "*"}

// extensionPoints are the lists of plugins with the plugins that play a part there.
var extensionPoints = map[string][]string{
	"preEnqueue": {"SchedulingGates", "DefaultPreemption", "DynamicResources"}, "queueSort": {"PrioritySort"},
	"preFilter":  {"NodeName", "NodeUnschedulable", "TaintToleration", "DeferredPodScheduling", "NodeAffinity", "NodePorts", "NodeResourcesFit", "VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone", "PodTopologySpread", "InterPodAffinity", "DynamicResources", "NodeDeclaredFeatures"},
	"filter":     {"NodeUnschedulable", "NodeName", "TaintToleration", "NodeAffinity", "NodePorts", "NodeResourcesFit", "PodTopologySpread", "InterPodAffinity", "NodeDeclaredFeatures", "VolumeZone"},
	"postFilter": {"DefaultPreemption", "DynamicResources"}, "preScore": {"TaintToleration", "NodeAffinity", "NodeResourcesFit", "PodTopologySpread", "InterPodAffinity", "NodeResourcesBalancedAllocation", "VolumeBinding"},
	"score":   {"TaintToleration", "NodeAffinity", "NodeResourcesFit", "PodTopologySpread", "InterPodAffinity", "NodeResourcesBalancedAllocation", "ImageLocality", "DynamicResources", "VolumeBinding"},
	"reserve": {"VolumeBinding", "DynamicResources", "GangScheduling"}, "permit": {"GangScheduling"}, "preBind": {"VolumeBinding", "DynamicResources"}, "bind": {"DefaultBinder"}, "postBind": {},
	"placementGenerate": {"TopologyPlacementGenerator"}, "placementScore": {"NodeResourcesFit", "PodGroupPodsCount"},
	"podGroupPostFilter": {"DefaultPreemption", "DynamicResources"},
}

func (s settings) plugins() any {
	out := tree{}
	if s.chance(60) {
		out["multiPoint"] = s.pluginSet(pluginNames, 2)
	}
	keys := slices.Sorted(maps.Keys(extensionPoints))
	for range pick(s.maker, 0, 1, 1, 2, 3) {
		k := pick(s.maker, keys...)
		if s.chance(40) {
			k = pick(s.maker, "score", "filter", "preScore", "preFilter")
		}
		out[k] = s.pluginSet(extensionPoints[k], 3)
	}
	if s.chance(3) {
		out[pick(s.maker, "scores", "unreserve", "Filter")] = tree{}
	}
	return out
}

func (s settings) pluginSet(names []string, most int) any {
	out := tree{}
	name := func(strangers int) string {
		switch {
		case len(names) == 0:
			return pick(s.maker, strange...)
		case s.chance(strangers):
			return pick(s.maker, append(strange, pluginNames...)...)
		case s.chance(1):
			return pick(s.maker, pluginNames...)
		}
		return pick(s.maker, names...)
	}
	var on, off []any
	for range s.IntN(most + 1) {
		p := tree{"name": name(3)}
		if s.chance(50) {
			p["weight"] = s.some(1, 2, 7)
		}
		if s.chance(2) {
			p["weight"] = pick(s.maker, 2147483647, -2147483648)
		}
		on = append(on, p)
		if s.chance(35) {
			off = append(off, tree{"name": p["name"]})
		}
	}
	for range s.IntN(3) {
		off = append(off, tree{"name": name(8)})
	}
	if s.chance(8) {
		off = append(off, tree{"name": "*"})
	}
	if s.chance(10) && len(off) > 0 {
		// Everything is taken off and the default is put back, in another order.
		all := slices.Clone(names)
		s.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		off, on = []any{tree{"name": "*"}}, nil
		for _, n := range all {
			on = append(on, tree{"name": n})
		}
	}
	if on != nil || s.chance(10) {
		out["enabled"] = on
	}
	if off != nil {
		out["disabled"] = off
	}
	return out
}

// spoil changes something somewhere: a name, a value, a type.
func (s settings) spoil(v any) {
	switch t := v.(type) {
	case tree:
		keys := slices.Sorted(maps.Keys(t))
		if len(keys) == 0 {
			t["surprise"] = 1
			return
		}
		k := pick(s.maker, keys...)
		switch n := s.IntN(10); {
		case n < 5:
			switch t[k].(type) {
			case tree, []any:
				s.spoil(t[k])
				return
			}
			t[k] = pick[any](s.maker, nil, "", 0, -1, "x", true, tree{}, []any{})
		case n < 6:
			delete(t, k)
		case n < 8:
			t[strings.ToUpper(k[:1])+k[1:]+pick(s.maker, "", "s")] = t[k]
			if s.chance(50) {
				delete(t, k)
			}
		default:
			t[k] = pick[any](s.maker, nil, "", 0, "x", true, tree{}, []any{}, []any{nil})
		}
	case []any:
		if len(t) > 0 {
			s.spoil(t[s.IntN(len(t))])
		}
	}
}
