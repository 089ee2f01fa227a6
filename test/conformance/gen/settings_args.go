package gen

import v1 "k8s.io/api/core/v1"

// argued are the plugins that have arguments.
var argued = []string{
	"NodeResourcesFit", "NodeResourcesFit", "NodeResourcesBalancedAllocation", "NodeAffinity", "InterPodAffinity", "PodTopologySpread",
	"VolumeBinding", "DefaultPreemption", "DynamicResources",
}

func (s settings) pluginConfig() any {
	var out []any
	seen := map[string]bool{}
	for range pick(s.maker, 1, 1, 2, 3) {
		name := pick(s.maker, argued...)
		if s.chance(5) {
			name = pick(s.maker, "Coscheduling", "EBSLimits", "NodePorts", "PrioritySort", "", "TaintToleration")
		}
		if seen[name] && s.chance(90) {
			continue
		}
		seen[name] = true
		c := tree{"name": name}
		if !s.chance(3) {
			args := s.args(name)
			if s.chance(20) {
				args["kind"] = name + "Args"
				if s.chance(10) {
					args["kind"] = pick[any](s.maker, "NodeAffinityArgs", "x", "")
				}
			}
			if s.chance(20) {
				args["apiVersion"] = "kubescheduler.config.k8s.io/v1"
				if s.chance(10) {
					args["apiVersion"] = pick[any](s.maker, "kubescheduler.config.k8s.io/v1beta3", "v1", "")
				}
			}
			if s.chance(4) {
				s.spoil(args)
			}
			c["args"] = args
			if s.chance(2) {
				c["args"] = pick[any](s.maker, nil, "x", []any{}, 3)
			}
		}
		out = append(out, c)
	}
	return out
}

// label is a name that labels and keys may have, or nearly.
func (s settings) label(good ...string) string {
	if s.chance(3) {
		return pick(s.maker, "", "a b", "-a", "a/b/c", "/a", "a/", "x_y", "A.b/c")
	}
	return pick(s.maker, good...)
}

func (s settings) weights(most int) any {
	var out []any
	for range pick(s.maker, 0, 1, 2, 2, 3) {
		r := tree{"name": s.label("cpu", "memory", "example.com/foo", "ephemeral-storage", "pods", "hugepages-2Mi")}
		if s.chance(70) {
			r["weight"] = s.some(1, most)
		}
		out = append(out, r)
	}
	return out
}

func (s settings) corners() any {
	var out []any
	at := s.IntN(30)
	for range pick(s.maker, 0, 1, 2, 2, 3, 4) {
		p := tree{"utilization": at, "score": s.some(0, 3, 10)}
		if s.chance(4) {
			p["utilization"] = s.number()
		}
		out = append(out, p)
		if at += pick(s.maker, 0, 5, 20, 30, 40, 70); at > 100 && s.chance(70) {
			at = 100
		}
	}
	return out
}

func (s settings) args(name string) tree {
	out := tree{}
	maybe := func(percent int, key string, v func() any) {
		if s.chance(percent) {
			out[key] = v()
		}
	}
	switch name {
	case "NodeResourcesFit":
		maybe(30, "ignoredResources", func() any { return []any{s.label("example.com/foo", "cpu")} })
		maybe(25, "ignoredResourceGroups", func() any { return []any{s.label("example.com", "foo")} })
		maybe(75, "scoringStrategy", func() any {
			t := pick(s.maker, "LeastAllocated", "MostAllocated", "RequestedToCapacityRatio", "RequestedToCapacityRatio")
			out := tree{"type": t}
			if s.chance(6) {
				out["type"] = pick[any](s.maker, "", "leastAllocated", "x", nil)
			}
			if s.chance(70) {
				out["resources"] = s.weights(5)
			}
			if (t == "RequestedToCapacityRatio") != s.chance(5) {
				out["requestedToCapacityRatio"] = tree{"shape": s.corners()}
			}
			return out
		})
	case "NodeResourcesBalancedAllocation":
		maybe(80, "resources", func() any { return s.weights(1) })
	case "InterPodAffinity":
		maybe(70, "hardPodAffinityWeight", func() any { return s.some(0, 1, 100) })
		maybe(30, "ignorePreferredTermsOfExistingPods", func() any { return s.chance(70) })
	case "PodTopologySpread":
		maybe(80, "defaultingType", func() any { return pick[any](s.maker, "List", "List", "List", "System", "list", "") })
		maybe(60, "defaultConstraints", func() any {
			var out []any
			for range pick(s.maker, 0, 1, 1, 2) {
				c := tree{"maxSkew": s.some(1, 3), "topologyKey": s.label("zone", "kubernetes.io/hostname", "topology.kubernetes.io/zone"), "whenUnsatisfiable": pick[any](s.maker, "DoNotSchedule", "ScheduleAnyway", "ScheduleAnyway", "ScheduleAnyway")}
				if s.chance(5) {
					c["whenUnsatisfiable"] = pick[any](s.maker, "", "Never", nil)
				}
				if s.chance(12) {
					c[pick(s.maker, "minDomains", "nodeAffinityPolicy", "nodeTaintsPolicy", "matchLabelKeys", "labelSelector")] = pick[any](s.maker, 1, "Honor", "Ignore", []any{"app"}, tree{}, nil)
				}
				out = append(out, c)
			}
			return out
		})
	case "VolumeBinding":
		maybe(60, "bindTimeoutSeconds", func() any { return s.some(0, 600) })
		maybe(20, "shape", s.corners)
	case "DefaultPreemption":
		maybe(60, "minCandidateNodesPercentage", func() any { return s.some(0, 10, 100) })
		maybe(60, "minCandidateNodesAbsolute", func() any { return s.some(0, 10, 100) })
	case "DynamicResources":
		maybe(50, "filterTimeout", func() any { return pick[any](s.maker, "5s", "0s", "-1s", "5", 5, nil) })
		maybe(50, "bindingTimeout", func() any { return pick[any](s.maker, "5s", "1s", "999ms", "0s", nil) })
	case "NodeAffinity":
		maybe(80, "addedAffinity", s.addedAffinity)
	}
	return out
}

func (s settings) addedAffinity() any {
	out := tree{}
	term := func() any {
		t := tree{}
		if s.chance(85) {
			e := tree{"key": s.label("zone", "disk", "kubernetes.io/hostname"), "operator": pick(s.maker, "In", "NotIn", "Exists", "DoesNotExist", "In", "Gt")}
			if op := v1.NodeSelectorOperator(e["operator"].(string)); (op == v1.NodeSelectorOpIn || op == v1.NodeSelectorOpNotIn) != s.chance(6) {
				e["values"] = []any{s.label("a", "b", "1")}
			}
			if s.chance(4) {
				e["operator"] = pick[any](s.maker, "in", "", "Equals")
			}
			t["matchExpressions"] = []any{e}
		}
		if s.chance(15) {
			t["matchFields"] = []any{tree{"key": pick(s.maker, "metadata.name", "metadata.name", "metadata.namespace"), "operator": pick(s.maker, "In", "NotIn", "Exists"), "values": []any{"n1", "n2"}[:pick(s.maker, 1, 1, 2)]}}
		}
		return t
	}
	if s.chance(40) {
		var terms []any
		for range pick(s.maker, 0, 1, 1, 2) {
			terms = append(terms, term())
		}
		out["requiredDuringSchedulingIgnoredDuringExecution"] = tree{"nodeSelectorTerms": terms}
	}
	if s.chance(50) {
		var terms []any
		for range pick(s.maker, 0, 1, 1, 2) {
			terms = append(terms, tree{"weight": s.some(1, 50, 100), "preference": term()})
		}
		out["preferredDuringSchedulingIgnoredDuringExecution"] = terms
	}
	return out
}
