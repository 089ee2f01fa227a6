package main

import (
	"fmt"
	"math/rand/v2"
)

type object = map[string]any

// What multiply looks for: the part of names and UIDs that another copy has another of.
const (
	nameMark = "-x000-"
	uidMark  = "-0000-4000-"
)

// workloads are what pods belong to: a kind, a name, and the team that pays.
var workloads = []struct{ namespace, kind, name, team, class, cpu, memory string }{
	{"web", "Deployment", "checkout", "shop", "customer-facing", "1500m", "2Gi"},
	{"web", "Deployment", "search", "shop", "", "1", "1Gi"},
	{"data", "StatefulSet", "ledger", "payments", "customer-facing", "3", "8Gi"},
	{"batch", "CronJob", "report", "analytics", "batch-low", "2", "4Gi"},
	{"batch", "Job", "import", "analytics", "batch-low", "2500m", "2Gi"},
	{"ml", "Deployment", "ranker", "research", "rush", "6", "12Gi"},
	{"infra", "DaemonSet", "agent", "platform", "", "200m", "128Mi"},
}

// pools are the kinds of nodes, by label; the last one is tainted.
var pools = []struct {
	name, cpu, memory string
	share             int
}{{"general", "16", "64Gi", 60}, {"memory", "16", "128Gi", 15}, {"compute", "32", "64Gi", 15}, {"gpu", "24", "96Gi", 10}}

func node(cluster string, n, of int, cordoned bool) object {
	at, pool := n*100/of, pools[0]
	for _, p := range pools {
		pool = p
		if at -= p.share; at < 0 {
			break
		}
	}
	name := fmt.Sprintf("%s-%s-%03d", cluster, pool.name, n)
	spec := object{"unschedulable": cordoned}
	if pool.name == "gpu" {
		spec["taints"] = []object{{"key": "gpu", "value": "true", "effect": "NoSchedule"}}
	}
	return object{
		"apiVersion": "v1", "kind": "Node", "spec": spec,
		"metadata": object{"name": name, "labels": object{
			"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": fmt.Sprint("z", n%3), "node.kubernetes.io/instance-type": pool.name,
		}},
		"status": object{"allocatable": object{"cpu": pool.cpu, "memory": pool.memory, "pods": "110"}},
	}
}

func class(name string, value int, policy string) object {
	return object{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": object{"name": name}, "value": value, "preemptionPolicy": policy}
}

// standing are the objects of a cluster that stay: budgets, owners of owners, its own classes,
// which hide those of the store.
func standing(customers int) []object {
	list := []object{
		class("customer-facing", customers, "PreemptLowerPriority"), class("batch-low", -10, "Never"), class("rush", 5000, "PreemptLowerPriority"),
	}
	for _, w := range workloads {
		if w.kind == "Deployment" {
			list = append(list, object{"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": object{
				"name": w.name + "-7f9", "namespace": w.namespace, "ownerReferences": owner(w.kind, w.name),
			}, "spec": object{"selector": object{"matchLabels": object{"app": w.name}}}})
		}
	}
	return append(list, object{
		"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": object{"name": "import", "namespace": "batch"},
		"spec":   object{"minAvailable": 1, "selector": object{"matchLabels": object{"app": "import"}}},
		"status": object{"disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1},
	})
}

func owner(kind, name string) []object {
	version := map[string]string{"Job": "batch/v1", "CronJob": "batch/v1"}[kind]
	if version == "" {
		version = "apps/v1"
	}
	return []object{{"apiVersion": version, "kind": kind, "name": name, "uid": "owner-" + name, "controller": true}}
}

// pod is one of the load's pods.
type pod struct {
	namespace, name, uid, class, node string
	object                            object
	tries                             int
}

func newPod(r *rand.Rand, n int64) *pod {
	w := workloads[r.IntN(len(workloads))]
	if r.IntN(5) == 0 {
		w.class = "" // not all pods have a class
	}
	p := &pod{namespace: w.namespace, class: w.class, name: fmt.Sprintf("%s%s%d", w.name, nameMark, n), uid: fmt.Sprintf("%08x%s8000-%012x", r.Uint32(), uidMark, n)}
	spec := object{"containers": []object{{
		"name": "c", "image": w.name + ":1", "resources": object{"requests": object{"cpu": w.cpu, "memory": w.memory}},
	}}}
	if w.class != "" {
		spec["priorityClassName"] = w.class
	}
	owners := owner(w.kind, w.name)
	if w.kind == "Deployment" {
		owners = owner("ReplicaSet", w.name+"-7f9")
	}
	harden(r, spec, w.name)
	p.object = object{
		"apiVersion": "v1", "kind": "Pod", "spec": spec,
		"metadata": object{"name": p.name, "namespace": p.namespace, "uid": p.uid, "ownerReferences": owners, "labels": object{"app": w.name, "team": w.team}},
	}
	return p
}

// harden gives some pods what makes them hard to place.
func harden(r *rand.Rand, spec object, app string) {
	selector := object{"matchLabels": object{"app": app}}
	switch r.IntN(30) {
	case 0: // too large for any node
		spec["containers"].([]object)[0]["resources"] = object{"requests": object{"cpu": "64"}}
	case 1:
		spec["nodeSelector"] = object{"disk": "nvme"}
	case 2:
		spec["volumes"] = []object{{"name": "d", "persistentVolumeClaim": object{"claimName": "missing"}}}
	case 3:
		spec["schedulingGates"] = []object{{"name": "example.com/quota"}}
	case 4:
		spec["tolerations"] = []object{{"key": "gpu", "operator": "Exists"}}
	case 5:
		spec["affinity"] = object{"podAntiAffinity": object{"requiredDuringSchedulingIgnoredDuringExecution": []object{{"labelSelector": selector, "topologyKey": "topology.kubernetes.io/zone"}}}}
	case 6, 7:
		spec["topologySpreadConstraints"] = []object{{"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": selector}}
	}
}
