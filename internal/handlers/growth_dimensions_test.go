package handlers

import (
	"context"
	"fmt"
	"strings"

	"berth/internal/handlers/admit"
	"berth/internal/jobs/simulations"
)

// growthBase is the cluster that calls are about whose own size grows: what pods are judged by is
// there, so that each part of a pod takes work.
func growthBase(nodes, pods int) string {
	var list []string
	for i := range nodes {
		list = append(list, node(fmt.Sprintf("n%04d", i), "4", "zone", fmt.Sprint(i%7), "rank", fmt.Sprint(1000+i)))
	}
	for i := range pods {
		more := fmt.Sprintf(`,"nodeName":"n%04d","priority":%d`, i%nodes, i%50)
		if i%8 == 0 {
			more += fmt.Sprintf(`,"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone","labelSelector":{"matchLabels":{"app":"a%d"}}}]}}`, i)
		}
		list = append(list, labelled(pod(fmt.Sprintf("p%05d", i), "100m", more), i))
	}
	list = append(list,
		`{"kind":"Service","apiVersion":"v1","metadata":{"name":"s","namespace":"shop"},"spec":{"selector":{"app":"a1"}}}`,
		`{"kind":"DeviceClass","apiVersion":"resource.k8s.io/v1","metadata":{"name":"gpu"},"spec":{}}`)
	return listOf(list...)
}

// grownPod is a pod with parts of its metadata, containers and spec; each may be empty.
func grownPod(meta, containers, spec string) string {
	if containers == "" {
		containers = `{"name":"c","image":"i","resources":{"requests":{"cpu":"1"}}}`
	}
	return `{"metadata":{"name":"grown","namespace":"shop","uid":"u"` + meta + `},"spec":{"containers":[` + containers + `]` + spec + `}}`
}

// asked are the calls about one pod. Suggestions are tried where it fits nowhere.
func asked(g *growing, pod string) []longCall {
	decision := func(more string) string {
		return fmt.Sprintf(`{"snapshot":"%s@latest","dryRun":true%s,"pod":%s}`, g.cluster, more, pod)
	}
	return []longCall{
		{name: "decision", method: "POST", path: "/v1/decisions", body: decision(`,"explain":"failures"`)},
		{name: "all rules", method: "POST", path: "/v1/decisions", body: decision(`,"explain":"all"`)},
		{name: "suggestions", method: "POST", path: "/v1/decisions", body: decision(`,"suggest":true`)},
		{name: "filter", method: "POST", path: "/clusters/" + g.cluster + "/filter", body: `{"Pod":` + pod + `,"NodeNames":["n0001","n0002"]}`},
	}
}

// ofPod is a dimension of a pod.
func ofPod(name, limit string, f func(g *growing) string) dimension {
	return dimension{name: name, limit: limit, calls: func(g *growing) []longCall { return asked(g, f(g)) }}
}

// ofSpec is a dimension of a pod's spec.
func ofSpec(name, limit string, f func(g *growing) string) dimension {
	return ofPod(name, limit, func(g *growing) string { return grownPod("", "", ","+f(g)) })
}

func nodeTerms(terms string) string {
	return `"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":{"nodeSelectorTerms":[` + terms + `]}}}`
}

func podTerms(kind, when, terms string) string {
	return `"affinity":{"` + kind + `":{"` + when + `DuringSchedulingIgnoredDuringExecution":[` + terms + `]}}`
}

func expressionOf(key, operator string, values ...string) string {
	text := ""
	if len(values) > 0 {
		text = `,"values":["` + strings.Join(values, `","`) + `"]`
	}
	return `{"key":"` + key + `","operator":"` + operator + `"` + text + `}`
}

// tagged is a name of its own in each run.
func (g *growing) tagged(i int) string { return fmt.Sprintf("%s-%d", g.tag, i) }

func (g *growing) labels() string {
	return `{` + g.list(func(i int) string { return `"k` + g.tagged(i) + `":"v"` }) + `}`
}

func (g *growing) keys() string {
	return g.list(func(i int) string { return `"k` + g.tagged(i) + `"` })
}

const absent = `{"key":"absent","operator":"Exists"}`

// hostname is the label that every node has, with a value of its own.
const hostname = "kubernetes.io/hostname"

func spread(more string) string {
	return `{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"a1"}}` + more + `}`
}

// configured is a decision under a configuration.
func configured(fields string) []longCall {
	body := `{"snapshot":"base@latest","dryRun":true,"pod":` + grownPod("", "", "") +
		`,"config":{"apiVersion":"kubescheduler.config.k8s.io/v1","kind":"KubeSchedulerConfiguration",` + fields + `}}`
	return []longCall{{name: "decision", method: "POST", path: "/v1/decisions", body: body}}
}

func ofConfig(name string, bound int, invalid bool, f func(g *growing) string) dimension {
	return dimension{
		name: name, limit: fmt.Sprintf("at most %d items", bound), bound: bound, invalid: invalid, most: 20_000,
		calls: func(g *growing) []longCall { return configured(f(g)) },
	}
}

func plugins(point, list string) string {
	return `"profiles":[{"schedulerName":"s","plugins":{"` + point + `":{` + list + `}}}]`
}

// dimensions are what grows. Those of pods and configurations are of calls about one cluster; those
// of clusters are uploaded first.
var dimensions = append(append([]dimension{
	ofPod("labels of a pod", "max-labels", func(g *growing) string { return grownPod(`,"labels":`+g.labels(), "", "") }),
	ofSpec("node selector", "max-labels", func(g *growing) string { return `"nodeSelector":` + g.labels() }),
	ofSpec("node affinity terms", "max-node-affinity-terms", func(g *growing) string {
		return nodeTerms(g.list(func(i int) string {
			return `{"matchExpressions":[` + expressionOf(hostname, "NotIn", g.tagged(i)) + `,` + absent + `]}`
		}))
	}),
	ofSpec("expressions of a node term", "max-expressions", func(g *growing) string {
		return nodeTerms(`{"matchExpressions":[` + g.list(func(i int) string { return expressionOf(hostname, "NotIn", g.tagged(i)) }) + `]}`)
	}),
	ofSpec("keys of a node term", "max-expressions", func(g *growing) string {
		return nodeTerms(`{"matchExpressions":[` + g.list(func(i int) string { return expressionOf("k"+g.tagged(i), "DoesNotExist") }) + `]}`)
	}),
	ofSpec("Gt expressions of a node term", "max-expressions", func(g *growing) string {
		return nodeTerms(`{"matchExpressions":[` + strings.Join(items(g.n-1, func(i int) string { return expressionOf("rank", "Gt", fmt.Sprint(i)) }), ",") + `,` + absent + `]}`)
	}),
	ofSpec("terms of Gt", "max-node-affinity-terms", func(g *growing) string {
		return nodeTerms(g.list(func(i int) string {
			return `{"matchExpressions":[` + expressionOf("rank", "Gt", fmt.Sprint(i)) + `,` + absent + `]}`
		}))
	}),
	ofSpec("values of In", "max-expression-values", func(g *growing) string {
		return nodeTerms(`{"matchExpressions":[` + expressionOf(hostname, "In", items(g.n, g.tagged)...) + `]}`)
	}),
	ofSpec("values of NotIn", "max-expression-values", func(g *growing) string {
		return nodeTerms(`{"matchExpressions":[` + expressionOf(hostname, "NotIn", items(g.n, g.tagged)...) + `,` + absent + `]}`)
	}),
	ofSpec("preferred node terms", "max-node-affinity-terms", func(g *growing) string {
		return `"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[` + g.list(func(i int) string {
			return `{"weight":1,"preference":{"matchExpressions":[` + expressionOf(hostname, "NotIn", g.tagged(i)) + `]}}`
		}) + `]}}`
	}),
	ofSpec("pod affinity terms", "max-pod-affinity-terms", func(g *growing) string {
		return podTerms("podAffinity", "required", g.list(func(i int) string {
			return `{"topologyKey":"zone","labelSelector":{"matchExpressions":[` + expressionOf("app", "NotIn", g.tagged(i)) + `]}}`
		}))
	}),
	ofSpec("pod anti-affinity terms", "max-pod-affinity-terms", func(g *growing) string {
		return podTerms("podAntiAffinity", "required", g.list(func(i int) string {
			return `{"topologyKey":"zone","labelSelector":{"matchExpressions":[` + expressionOf("app", "NotIn", g.tagged(i)) + `]}}`
		}))
	}),
	ofSpec("preferred pod terms", "max-pod-affinity-terms", func(g *growing) string {
		return podTerms("podAffinity", "preferred", g.list(func(i int) string {
			return `{"weight":1,"podAffinityTerm":{"topologyKey":"zone","labelSelector":{"matchExpressions":[` + expressionOf("app", "NotIn", g.tagged(i)) + `]}}}`
		}))
	}),
	ofSpec("expressions of a label selector", "max-expressions", func(g *growing) string {
		return podTerms("podAntiAffinity", "required", `{"topologyKey":"zone","labelSelector":{"matchExpressions":[`+g.list(func(i int) string { return expressionOf("app", "NotIn", g.tagged(i)) })+`]}}`)
	}),
	ofSpec("values of a label selector", "max-expression-values", func(g *growing) string {
		return podTerms("podAntiAffinity", "required", `{"topologyKey":"zone","labelSelector":{"matchExpressions":[`+expressionOf("app", "NotIn", items(g.n, g.tagged)...)+`]}}`)
	}),
	ofSpec("namespaces of a pod term", "max-expression-values", func(g *growing) string {
		return podTerms("podAntiAffinity", "required", `{"topologyKey":"zone","labelSelector":{},"namespaces":["shop",`+g.list(func(i int) string { return `"ns-` + g.tagged(i) + `"` })[len(`"ns-`+g.tagged(0)+`",`):]+`]}`)
	}),
	ofSpec("spread constraints", "max-spread-constraints", func(g *growing) string {
		return `"topologySpreadConstraints":[` + g.list(func(i int) string {
			return strings.Replace(spread(""), `"zone"`, `"k`+g.tagged(i)+`"`, 1)
		}) + `]`
	}),
	ofPod("matchLabelKeys of a constraint", "max-match-label-keys", func(g *growing) string {
		return grownPod(`,"labels":`+g.labels(), "", `,"topologySpreadConstraints":[`+spread(`,"matchLabelKeys":[`+g.keys()+`]`)+`]`)
	}),
	ofPod("matchLabelKeys of a pod term", "max-match-label-keys", func(g *growing) string {
		return grownPod(`,"labels":`+g.labels(), "", `,`+podTerms("podAntiAffinity", "required", `{"topologyKey":"zone","labelSelector":{},"matchLabelKeys":[`+g.keys()+`]}`))
	}),
	ofPod("mismatchLabelKeys of a pod term", "max-match-label-keys", func(g *growing) string {
		return grownPod(`,"labels":`+g.labels(), "", `,`+podTerms("podAntiAffinity", "required", `{"topologyKey":"zone","labelSelector":{},"mismatchLabelKeys":[`+g.keys()+`]}`))
	}),
	ofSpec("tolerations", "max-tolerations", func(g *growing) string {
		return `"tolerations":[` + g.list(func(i int) string { return `{"key":"k` + g.tagged(i) + `","operator":"Exists"}` }) + `]`
	}),
	ofPod("containers", "max-containers", func(g *growing) string {
		return grownPod("", g.list(func(i int) string {
			return fmt.Sprintf(`{"name":"c%d","image":"registry.example/%s","resources":{"requests":{"cpu":"1m"}},"ports":[{"containerPort":80,"hostPort":%d}]}`, i, g.tagged(i), 1+i%60_000)
		}), "")
	}),
	ofSpec("init containers", "max-containers", func(g *growing) string {
		return `"initContainers":[` + strings.Join(items(g.n-1, func(i int) string {
			return fmt.Sprintf(`{"name":"i%d","image":"registry.example/%s","resources":{"requests":{"cpu":"1m"}}}`, i, g.tagged(i))
		}), ",") + `]`
	}),
	ofPod("ports", "decision-max-tokens", func(g *growing) string {
		return grownPod("", `{"name":"c","image":"i","ports":[`+g.list(func(i int) string {
			return fmt.Sprintf(`{"containerPort":%d,"hostPort":%d}`, 1+i%60_000, 1+i%60_000)
		})+`]}`, "")
	}),
	ofPod("requests", "max-resource-names", func(g *growing) string {
		return grownPod("", `{"name":"c","image":"i","resources":{"requests":{`+g.list(func(i int) string {
			return `"example.com/` + g.tagged(i) + `":"1"`
		})+`},"limits":{`+g.list(func(i int) string { return `"example.com/` + g.tagged(i) + `":"1"` })+`}}}`, "")
	}),
	ofSpec("volumes of disks", "decision-max-tokens", func(g *growing) string {
		return `"volumes":[` + g.list(func(i int) string {
			return fmt.Sprintf(`{"name":"v%d","gcePersistentDisk":{"pdName":"d%s"}}`, i, g.tagged(i))
		}) + `]`
	}),
	ofSpec("volumes of claims", "decision-max-tokens", func(g *growing) string {
		return `"volumes":[` + g.list(func(i int) string {
			return fmt.Sprintf(`{"name":"v%d","persistentVolumeClaim":{"claimName":"c%s"}}`, i, g.tagged(i))
		}) + `]`
	}),
	ofSpec("resource claims of a pod", "decision-max-tokens", func(g *growing) string {
		return `"resourceClaims":[` + g.list(func(i int) string {
			return fmt.Sprintf(`{"name":"r%d","resourceClaimName":"c%s"}`, i, g.tagged(i))
		}) + `]`
	}),
	ofSpec("scheduling gates", "decision-max-tokens", func(g *growing) string {
		return `"schedulingGates":[` + g.list(func(i int) string { return `{"name":"example.com/` + g.tagged(i) + `"}` }) + `]`
	}),

	ofConfig("profiles", 32, false, func(g *growing) string {
		return `"profiles":[` + g.list(func(i int) string { return `{"schedulerName":"` + g.tagged(i) + `"}` }) + `]`
	}),
	ofConfig("profiles of one name", 32, true, func(g *growing) string {
		return `"profiles":[` + g.list(func(int) string { return `{"schedulerName":"s"}` }) + `]`
	}),
	ofConfig("unknown plugins", 200, true, func(g *growing) string {
		return plugins("multiPoint", `"enabled":[`+g.list(func(i int) string { return `{"name":"` + g.tagged(i) + `"}` })+`]`)
	}),
	ofConfig("plugins of one name", 200, true, func(g *growing) string {
		return plugins("score", `"enabled":[`+g.list(func(int) string { return `{"name":"NodeAffinity","weight":1}` })+`]`)
	}),
	ofConfig("disabled plugins", 200, true, func(g *growing) string {
		return plugins("filter", `"disabled":[`+g.list(func(i int) string { return `{"name":"` + g.tagged(i) + `"}` })+`]`)
	}),
	ofConfig("pluginConfig", 200, true, func(g *growing) string {
		return `"profiles":[{"schedulerName":"s","pluginConfig":[` + g.list(func(i int) string { return `{"name":"` + g.tagged(i) + `","args":{}}` }) + `]}]`
	}),
	ofConfig("extenders", 32, true, func(g *growing) string {
		return `"extenders":[` + g.list(func(i int) string {
			return `{"urlPrefix":"http://127.0.0.1","bindVerb":"b","managedResources":[{"name":"example.com/` + g.tagged(i) + `"}]}`
		}) + `]`
	}),
	{name: "problems of arguments", invalid: true, limit: "decision-max-tokens", calls: func(g *growing) []longCall {
		return configured(`"profiles":[{"schedulerName":"s","pluginConfig":[{"name":"NodeResourcesFit","args":{"scoringStrategy":{"type":"LeastAllocated","resources":[` +
			g.list(func(i int) string { return `{"name":"` + g.tagged(i) + `","weight":101}` }) + `]}}}]}]`)
	}},
	{name: "resources of a scoring strategy", limit: "decision-max-tokens", invalid: true, calls: func(g *growing) []longCall {
		return configured(`"profiles":[{"schedulerName":"s","pluginConfig":[{"name":"NodeResourcesFit","args":{"scoringStrategy":{"type":"LeastAllocated","resources":[` +
			g.list(func(i int) string { return `{"name":"example.com/` + g.tagged(i) + `","weight":1}` }) + `]}}}]}]`)
	}},
	{name: "unknown fields of a configuration", invalid: true, limit: "decision-max-tokens", calls: func(g *growing) []longCall {
		return configured(g.list(func(i int) string { return `"k` + g.tagged(i) + `":1` }))
	}},
	{name: "unknown fields of a pod", invalid: true, limit: "decision-max-tokens", calls: func(g *growing) []longCall {
		return asked(g, grownPod("", "", `,`+g.list(func(i int) string { return `"k` + g.tagged(i) + `":1` })))[:2]
	}},
	{name: "names of nodes", limit: "filter-max-names", most: 100_000, calls: func(g *growing) []longCall {
		body := `{"Pod":` + grownPod("", "", "") + `,"NodeNames":[` + g.list(func(i int) string { return `"n` + g.tagged(i) + `"` }) + `]}`
		return []longCall{{name: "filter", method: "POST", path: "/clusters/base/filter", body: body}, {name: "prioritize", method: "POST", path: "/clusters/base/prioritize", body: body}}
	}},
	{name: "nodes in Nodes mode", limit: "nodes-max-nodes", calls: func(g *growing) []longCall {
		body := `{"Pod":` + grownPod("", "", "") + `,"Nodes":` + listOf(items(g.n, func(i int) string { return node("n"+g.tagged(i), "4", "zone", "z") })...) + `}`
		return []longCall{{name: "filter", method: "POST", path: "/clusters/base/filter", body: body}}
	}},
	{name: "victims of a node", limit: "max-pods", most: 200_000, calls: func(g *growing) []longCall {
		return preempts(`"n0001":{"Pods":[` + g.list(func(i int) string { return fmt.Sprintf(`{"UID":"uid-p%05d"}`, i) }) + `]}`)
	}},
	{name: "nodes with victims", limit: "nodes-max-nodes", calls: func(g *growing) []longCall {
		return preempts(g.list(func(i int) string { return fmt.Sprintf(`"n%04d":{"Pods":[{"UID":"uid-p%05d"}]}`, i, i) }))
	}},
	{name: "jobs that have ended", most: 1000, objects: func(*growing) []string { return few() }, before: func(o *admit.Options, g *growing) error {
		ctx := context.Background()
		for range g.n {
			j, err := o.Simulations.Start(ctx, &simulations.Question{Cluster: g.cluster, Revision: 1, Kind: "fit", Body: []byte(onePod)})
			if err == nil {
				_, err = o.Simulations.Cancel(ctx, j.ID)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}, calls: func(g *growing) []longCall {
		return []longCall{
			{name: "jobs", method: "GET", path: "/v1/simulations?limit=100"},
			{name: "jobs of the cluster", method: "GET", path: "/v1/simulations?limit=100&cluster=" + g.cluster},
			{name: "fit as a job", method: "POST", path: "/v1/clusters/" + g.cluster + "/fit", body: `{"wait":"0s","pod":` + onePod + `}`},
		}
	}},
}, ofClusters...), ofChanges...)

func preempts(nodes string) []longCall {
	pod := grownPod("", `{"name":"c","image":"i","resources":{"requests":{"cpu":"3900m"}}}`, `,"priority":1000`)
	return []longCall{{name: "preempt", method: "POST", path: "/clusters/base/preempt", body: `{"Pod":` + pod + `,"NodeNameToMetaVictims":{` + nodes + `}}`}}
}
