package handlers

import (
	"fmt"
	"strings"
)

// few are nodes for clusters whose other parts grow.
func few() []string {
	return items(20, func(i int) string { return node(fmt.Sprintf("n%04d", i), "4", "zone", fmt.Sprint(i%3)) })
}

// ofCluster is a dimension of a cluster: beside the nodes, n objects. The calls name the parts of
// calledOn, and a pod to decide about.
func ofCluster(name, limit string, most int, object func(g *growing, i int) string, pod string, parts ...string) dimension {
	return dimension{
		name: name, limit: limit, most: most,
		objects: func(g *growing) []string {
			return append(few(), items(g.n, func(i int) string { return object(g, i) })...)
		},
		calls: func(g *growing) []longCall { return calledOn(g, pod, parts) },
	}
}

// calledOn are calls about a cluster that has grown.
func calledOn(g *growing, pod string, parts []string) (calls []longCall) {
	if pod != "" {
		calls = asked(g, pod)
	}
	for _, part := range parts {
		c := longCall{name: part, method: "GET", path: "/v1/clusters/" + g.cluster + "/" + part}
		switch part {
		case "pending":
			c.path += "?limit=100"
		case "objects":
			c.path = "/v1/snapshots/" + g.cluster + "@latest/objects?limit=500"
		case "garbage":
			c.method, c.body = "POST", `{"now":"2026-01-31T12:00:00Z"}`
		case "fit":
			c.method, c.body = "POST", `{"max":20,"sensitivity":false,"pod":`+onePod+`}`
		case "drains":
			c.method, c.body = "POST", `{"nodes":["n0000"],"force":true}`
		case "losses":
			c.method, c.body = "POST", `{"nodes":["n0000"],"removeAfterSeconds":600}`
		case "change":
			c.method, c.path, c.body = "POST", "/v1/snapshots/"+g.cluster+"@latest/changes", `{"apply":[`+node("n0001", "5", "new", "v")+`]}`
		}
		calls = append(calls, c)
	}
	return calls
}

func objectJSON(apiVersion, kind, name, rest string) string {
	return fmt.Sprintf(`{"apiVersion":%q,"kind":%q,"metadata":{"name":%q,"namespace":"shop"},%s}`, apiVersion, kind, name, rest)
}

// global is an object without a namespace.
func global(apiVersion, kind, name, rest string) string {
	return strings.Replace(objectJSON(apiVersion, kind, name, rest), `,"namespace":"shop"`, "", 1)
}

var (
	onePod    = grownPod(`,"labels":{"app":"a1"}`, "", "")
	greedyPod = grownPod(`,"labels":{"app":"a1"}`, `{"name":"c","image":"i","resources":{"requests":{"cpu":"3900m"}}}`, `,"priority":1000`)
	claimPod  = grownPod("", "", `,"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"c0"}}]`)
	devicePod = grownPod("", "", `,"resourceClaims":[{"name":"r","resourceClaimName":"wanted"}]`)
)

// onNodes is a pod on one of the few nodes, or on the node that is named.
func onNodes(i int, node, more string) string {
	if node == "" {
		node = fmt.Sprintf("n%04d", i%20)
	}
	return labelled(pod(fmt.Sprintf("p%06d", i), "1m", fmt.Sprintf(`,"nodeName":%q,"priority":%d%s`, node, i%50, more)), i)
}

var ofClusters = []dimension{
	{name: "nodes", limit: "max-nodes", most: 20_001, objects: func(g *growing) []string {
		return items(g.n, func(i int) string { return node(fmt.Sprintf("n%05d", i), "4", "zone", fmt.Sprint(i%7)) })
	}, calls: func(g *growing) []longCall {
		return calledOn(g, onePod, []string{"queue", "classes", "objects", "garbage", "change", "capacity", "fit"})
	}},
	ofCluster("pods", "max-pods", 200_001, func(_ *growing, i int) string { return onNodes(i, "", "") }, greedyPod, "queue", "classes", "objects", "garbage", "change", "capacity", "fit"),
	ofCluster("pods on one node", "max-pods", 200_001, func(_ *growing, i int) string { return onNodes(i, "n0000", "") }, greedyPod, "garbage", "change", "capacity", "drains", "losses"),
	ofCluster("pods on an unknown node", "max-pods", 200_001, func(_ *growing, i int) string { return onNodes(i, "gone", "") }, onePod, "garbage", "change"),
	{name: "pods before their node", limit: "max-pods", most: 100_000, objects: func(g *growing) []string {
		return append(items(g.n, func(i int) string { return onNodes(i, "n0000", "") }), few()...)
	}},
	ofCluster("pods that wait", "max-pods", 200_001, func(_ *growing, i int) string {
		return labelled(pod(fmt.Sprintf("w%06d", i), "64", fmt.Sprintf(`,"priority":%d`, i%50)), i)
	}, onePod, "queue", "classes", "garbage"),
	ofCluster("pods that wait, judged", "max-pods", 1000, func(_ *growing, i int) string {
		return labelled(pod(fmt.Sprintf("w%06d", i), "64", fmt.Sprintf(`,"priority":%d`, i%50)), i)
	}, "", "pending"),
	ofCluster("nominated pods", "max-pods", 20_000, func(_ *growing, i int) string {
		return strings.Replace(pod(fmt.Sprintf("w%06d", i), "1m", `,"priority":2000`), `"spec":`, `"status":{"nominatedNodeName":"n0000"},"spec":`, 1)
	}, onePod, "queue"),
	ofCluster("pods with anti-affinity", "max-pods", 20_000, func(g *growing, i int) string {
		return onNodes(i, "", `,"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"topologyKey":"zone","labelSelector":{"matchLabels":{"app":"`+g.tagged(i)+`"}}}]}}`)
	}, onePod, "change"),
	ofCluster("pods with preferences", "max-pods", 20_000, func(g *growing, i int) string {
		return onNodes(i, "", `,"affinity":{"podAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[{"weight":1,"podAffinityTerm":{"topologyKey":"zone","labelSelector":{"matchLabels":{"app":"`+g.tagged(i)+`"}}}}]}}`)
	}, onePod),
	ofCluster("pods with host ports", "max-pods", 20_000, func(_ *growing, i int) string {
		return strings.Replace(onNodes(i, "", ""), `"image":"i"`, fmt.Sprintf(`"image":"i","ports":[{"containerPort":80,"hostPort":%d}]`, 1+i), 1)
	}, grownPod("", `{"name":"c","image":"i","ports":[{"containerPort":80,"hostPort":80}]}`, "")),
	ofCluster("pods with disks", "max-pods", 20_000, func(_ *growing, i int) string {
		return onNodes(i, "", fmt.Sprintf(`,"volumes":[{"name":"v","gcePersistentDisk":{"pdName":"d%d"}}]`, i))
	}, grownPod("", "", `,"volumes":[{"name":"v","gcePersistentDisk":{"pdName":"d1"}}]`)),
	{name: "labels of a node", limit: "max-labels", objects: func(g *growing) []string {
		return append(few(), strings.Replace(node("wide", "4"), `"labels":{`, `"labels":{`+strings.Join(items(g.n-1, func(i int) string { return fmt.Sprintf(`"k%d":"v"`, i) }), ",")+`,`, 1))
	}, calls: func(g *growing) []longCall { return calledOn(g, onePod, []string{"change"}) }},
	{name: "label keys of nodes", limit: "max-nodes", most: 20_000, objects: func(g *growing) []string {
		return items(g.n, func(i int) string { return node(fmt.Sprintf("n%05d", i), "4", fmt.Sprintf("key%d", i), "v") })
	}, calls: func(g *growing) []longCall { return calledOn(g, onePod, []string{"change"}) }},
	{name: "taints of a node", limit: "max-taints", objects: func(g *growing) []string {
		return append(few(), strings.Replace(node("tainted", "4"), `"status"`, `"spec":{"taints":[`+g.list(func(i int) string { return fmt.Sprintf(`{"key":"k%d","effect":"NoSchedule"}`, i) })+`]},"status"`, 1))
	}, calls: func(g *growing) []longCall { return calledOn(g, onePod, nil) }},
	{name: "taints of nodes", limit: "max-nodes", most: 20_000, objects: func(g *growing) []string {
		return items(g.n, func(i int) string {
			return strings.Replace(node(fmt.Sprintf("n%05d", i), "4"), `"status"`, fmt.Sprintf(`"spec":{"taints":[{"key":"k%d","effect":"NoSchedule"}]},"status"`, i), 1)
		})
	}, calls: func(g *growing) []longCall { return calledOn(g, onePod, nil) }},
	{name: "resources of a node", limit: "max-resource-names", objects: func(g *growing) []string {
		return append(few(), strings.Replace(node("rich", "4"), `"pods":"110"`, strings.Join(items(g.n-3, func(i int) string { return fmt.Sprintf(`"example.com/r%d":"1"`, i) }), ",")+`,"pods":"110"`, 1))
	}, calls: func(g *growing) []longCall { return calledOn(g, onePod, nil) }},
	{name: "resources of nodes", limit: "max-nodes", most: 20_000, objects: func(g *growing) []string {
		return items(g.n, func(i int) string {
			return strings.Replace(node(fmt.Sprintf("n%05d", i), "4"), `"pods":"110"`, fmt.Sprintf(`"example.com/r%d":"1","pods":"110"`, i), 1)
		})
	}, calls: func(g *growing) []longCall { return calledOn(g, onePod, nil) }},
	ofCluster("resources of pods", "max-pods", 100_000, func(_ *growing, i int) string {
		own := fmt.Sprintf(`"example.com/r%d":"1"`, i)
		return strings.Replace(onNodes(i, "", ""), `"requests":{`, `"limits":{`+own+`},"requests":{`+own+`,`, 1)
	}, onePod, "change"),
	{name: "images of nodes", limit: "max-nodes", most: 20_000, objects: func(g *growing) []string {
		return items(g.n, func(i int) string {
			return strings.Replace(node(fmt.Sprintf("n%05d", i), "4"), `"allocatable"`, fmt.Sprintf(`"images":[{"names":["registry.example/a%d","registry.example/b%d"],"sizeBytes":1000000000}],"allocatable"`, i, i), 1)
		})
	}, calls: func(g *growing) []longCall { return calledOn(g, onePod, []string{"change"}) }},
	{name: "images of a node", objects: func(g *growing) []string {
		return append(few(), strings.Replace(node("seen", "4"), `"allocatable"`, `"images":[`+g.list(func(i int) string { return fmt.Sprintf(`{"names":["registry.example/i%d"],"sizeBytes":1000000000}`, i) })+`],"allocatable"`, 1))
	}, calls: func(g *growing) []longCall { return calledOn(g, onePod, nil) }},
	ofCluster("PodDisruptionBudgets", "max-objects", 10_000, func(_ *growing, i int) string {
		if i < 50 {
			return onNodes(i, "", "")
		}
		return objectJSON("policy/v1", "PodDisruptionBudget", fmt.Sprintf("b%d", i), `"spec":{"selector":{"matchLabels":{"app":"a1"}}}`)
	}, greedyPod),
	ofCluster("priority classes", "max-objects", 100_000, func(_ *growing, i int) string {
		return global("scheduling.k8s.io/v1", "PriorityClass", fmt.Sprintf("c%d", i), fmt.Sprintf(`"value":%d`, i))
	}, grownPod("", "", `,"priorityClassName":"c1"`), "classes", "queue"),
	ofCluster("default priority classes", "max-objects", 10_000, func(_ *growing, i int) string {
		return global("scheduling.k8s.io/v1", "PriorityClass", fmt.Sprintf("c%d", i), fmt.Sprintf(`"value":%d,"globalDefault":true`, i))
	}, onePod, "classes"),
	ofCluster("pods of unknown classes", "max-pods", 20_000, func(_ *growing, i int) string {
		return pod(fmt.Sprintf("w%06d", i), "1m", fmt.Sprintf(`,"priorityClassName":"c%d"`, i))
	}, "", "classes", "queue"),
	ofCluster("namespaces", "max-objects", 100_000, func(_ *growing, i int) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"ns%d","labels":{"team":"t%d"}}}`, i, i%9)
	}, grownPod("", "", `,`+podTerms("podAntiAffinity", "required", `{"topologyKey":"zone","labelSelector":{},"namespaceSelector":{"matchLabels":{"team":"t1"}}}`))),
	ofCluster("services", "max-objects", 100_000, func(_ *growing, i int) string {
		return objectJSON("v1", "Service", fmt.Sprintf("s%d", i), `"spec":{"selector":{"app":"a1"}}`)
	}, onePod),
	ofCluster("volumes of the cluster", "max-objects", 100_000, func(_ *growing, i int) string {
		return global("v1", "PersistentVolume", fmt.Sprintf("v%d", i), `"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"storageClassName":"late","csi":{"driver":"d","volumeHandle":"h"},"nodeAffinity":{"required":{"nodeSelectorTerms":[{"matchExpressions":[{"key":"zone","operator":"In","values":["1"]}]}]}}}`)
	}, ""),
	{name: "volumes to choose from", limit: "max-objects", most: 10_000, objects: func(g *growing) []string {
		return append(append(few(),
			global("storage.k8s.io/v1", "StorageClass", "late", `"provisioner":"kubernetes.io/no-provisioner","volumeBindingMode":"WaitForFirstConsumer"`),
			objectJSON("v1", "PersistentVolumeClaim", "c0", `"spec":{"storageClassName":"late","accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"2Gi"}}}`)),
			items(g.n, func(i int) string {
				return global("v1", "PersistentVolume", fmt.Sprintf("v%d", i), `"spec":{"capacity":{"storage":"1Gi"},"accessModes":["ReadWriteOnce"],"storageClassName":"late","hostPath":{"path":"/x"}}`)
			})...)
	}, calls: func(g *growing) []longCall { return calledOn(g, claimPod, nil) }},
	ofCluster("claims of the cluster", "max-objects", 100_000, func(_ *growing, i int) string {
		return objectJSON("v1", "PersistentVolumeClaim", fmt.Sprintf("c%d", i), `"spec":{"storageClassName":"late","accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"2Gi"}}}`)
	}, claimPod),
	{name: "devices", limit: "max-objects", most: 10_000, objects: func(g *growing) []string {
		list := append(few(), global("resource.k8s.io/v1", "DeviceClass", "gpu", `"spec":{}`),
			objectJSON("resource.k8s.io/v1", "ResourceClaim", "wanted", `"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"gpu","selectors":[{"cel":{"expression":"device.attributes[\"d\"].rank > 1000000"}}]}}]}}`))
		for at := 0; at < g.n; at += 100 {
			list = append(list, global("resource.k8s.io/v1", "ResourceSlice", fmt.Sprintf("s%d", at), fmt.Sprintf(`"spec":{"driver":"d","nodeName":"n%04d","pool":{"name":"p%d","generation":1,"resourceSliceCount":1},"devices":[%s]}`, at/100%20, at,
				strings.Join(items(min(100, g.n-at), func(i int) string {
					return fmt.Sprintf(`{"name":"d%d","attributes":{"rank":{"int":%d}}}`, i, i)
				}), ","))))
		}
		return list
	}, calls: func(g *growing) []longCall { return calledOn(g, devicePod, nil) }},
	ofCluster("resource claims of the cluster", "max-objects", 10_000, func(_ *growing, i int) string {
		return objectJSON("resource.k8s.io/v1", "ResourceClaim", fmt.Sprintf("c%d", i), fmt.Sprintf(`"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"gpu"}}]}},"status":{"allocation":{"devices":{"results":[{"request":"r","driver":"d","pool":"p","device":"d%d"}]}}}`, i))
	}, devicePod),
	ofCluster("kinds ignored", "", 100_000, func(_ *growing, i int) string {
		return fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Kind%d","metadata":{"name":"x"}}`, i)
	}, ""),
}

// ofChanges are dimensions of one change, over a cluster of as many pods.
var ofChanges = []dimension{
	ofChange("changes that delete from one node", "n0000"),
	ofChange("changes that delete from an unknown node", "gone"),
	ofChange("changes that delete pods that wait", ""),
	{
		name: "changes that add", limit: "changes-max-tokens", most: 20_000, objects: func(*growing) []string { return few() },
		calls: func(g *growing) []longCall {
			path := "/v1/snapshots/" + g.cluster + "@latest/"
			return []longCall{
				{name: "change", method: "POST", path: path + "changes", body: `{"apply":[` + g.list(func(i int) string { return onNodes(i, "n0000", "") }) + `]}`},
				{name: "diff", method: "GET", path: "/v1/snapshots/" + g.cluster + "@1/diff?to=" + g.cluster + "@2&limit=500"},
			}
		},
	},
}

func ofChange(name, on string) dimension {
	return dimension{name: name, limit: "max-pods", most: 20_000, objects: func(g *growing) []string {
		return append(few(), items(g.n, func(i int) string {
			p := onNodes(i, on, "")
			if on == "" {
				p = pod(fmt.Sprintf("p%06d", i), "1m", "")
			}
			return p
		})...)
	}, calls: func(g *growing) []longCall {
		body := `{"delete":[` + g.list(func(i int) string {
			return fmt.Sprintf(`{"kind":"Pod","namespace":"shop","name":"p%06d"}`, i)
		}) + `]}`
		return []longCall{{name: "change", method: "POST", path: "/v1/snapshots/" + g.cluster + "@latest/changes", body: body}}
	}}
}
