package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// forty is a cluster as a cloud gives it: 40 nodes with names of 42 characters in 3 zones and 4
// groups, 2 cordoned and 2 not Ready, with pods that wait for different causes.
type forty struct {
	items []any
	nodes [40]string
}

const (
	fortySuffix = ".eu-west-1.compute.internal"
	fortySince  = "2026-11-21T09:08:00Z"
	fortyGroup  = "eks.amazonaws.com/nodegroup"
)

func newForty() *forty {
	f := &forty{}
	f.kinds()
	for i := range f.nodes {
		f.node(i)
	}
	f.bound()
	f.waiting()
	return f
}

// group is the node group of a node: 18 general, 12 memory, 4 data and 6 with a GPU.
func (f *forty) group(i int) (name, kind string, cpu int) {
	switch {
	case i < 18:
		return "general", "m6i.2xlarge", 8
	case i < 30:
		return "memory", "r6i.2xlarge", 8
	case i < 34:
		return "data", "i4i.2xlarge", 8
	}
	return "gpu", "g5.2xlarge", 8
}

func (f *forty) node(i int) {
	group, kind, cpu := f.group(i)
	f.nodes[i] = fmt.Sprintf("ip-10-%d-%d-%d%s", i%3, 100+i*3, 100+i*2, fortySuffix)
	allocatable := jsonObject{"cpu": fmt.Sprint(cpu), "memory": "30Gi", "pods": "58", "ephemeral-storage": "80Gi"}
	labels := jsonObject{"topology.kubernetes.io/zone": "eu-west-1" + string(rune('a'+i%3)), "kubernetes.io/hostname": f.nodes[i], fortyGroup: group, "node.kubernetes.io/instance-type": kind}
	spec, ready := jsonObject{}, jsonObject{"type": "Ready", "status": "True", "reason": "KubeletReady", "lastTransitionTime": "2026-11-01T00:00:00Z"}
	var taints []any
	switch group {
	case "gpu":
		allocatable["nvidia.com/gpu"] = "1"
		taints = append(taints, jsonObject{"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"})
	case "data":
		taints = append(taints, jsonObject{"key": "dedicated", "value": "data", "effect": "NoSchedule"})
	}
	if i == 4 || i == 20 {
		spec["unschedulable"] = true
		taints = append(taints, jsonObject{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"})
	}
	if i == 7 || i == 39 {
		ready = jsonObject{"type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown", "lastTransitionTime": fortySince}
		for _, effect := range []string{"NoSchedule", "NoExecute"} {
			taints = append(taints, jsonObject{"key": "node.kubernetes.io/unreachable", "effect": effect, "timeAdded": fortySince})
		}
	}
	if taints != nil {
		spec["taints"] = taints
	}
	f.items = append(f.items, jsonObject{
		"apiVersion": "v1", "kind": "Node", "metadata": jsonObject{"name": f.nodes[i], "labels": labels}, "spec": spec,
		"status": jsonObject{"allocatable": allocatable, "capacity": allocatable, "conditions": []any{ready}},
	})
}

// kinds are the objects beside nodes and pods, one of each kind that decisions read.
func (f *forty) kinds() {
	object := func(api, kind, namespace, name string, more jsonObject) {
		o := jsonObject{"apiVersion": api, "kind": kind, "metadata": jsonObject{"name": name, "namespace": namespace}}
		for k, v := range more {
			o[k] = v
		}
		f.items = append(f.items, o)
	}
	app := func(name string) jsonObject { return jsonObject{"matchLabels": jsonObject{"app": name}} }
	for _, ns := range []string{"shop", "payments", "data", "ml", "batch", "kube-system"} {
		object("v1", "Namespace", "", ns, nil)
	}
	object("v1", "Service", "shop", "web", jsonObject{"spec": jsonObject{"selector": jsonObject{"app": "web"}}})
	object("v1", "ReplicationController", "shop", "old", jsonObject{"spec": jsonObject{"replicas": 0, "selector": jsonObject{"app": "old"}}})
	object("apps/v1", "ReplicaSet", "shop", "web-djtjm79jk", jsonObject{"spec": jsonObject{"replicas": 18, "selector": app("web")}})
	object("apps/v1", "StatefulSet", "data", "kafka", jsonObject{"spec": jsonObject{"replicas": 3, "serviceName": "kafka", "selector": app("kafka")}})
	object("scheduling.k8s.io/v1", "PriorityClass", "", "business-critical", jsonObject{"value": 1000})
	object("scheduling.k8s.io/v1", "PriorityClass", "", "platform-default", jsonObject{"value": 100, "globalDefault": true})
	object("scheduling.k8s.io/v1", "PriorityClass", "", "team-default", jsonObject{"value": 0, "globalDefault": true})
	object("policy/v1", "PodDisruptionBudget", "data", "kafka-budget-of-the-data-team", jsonObject{"spec": jsonObject{"maxUnavailable": 0, "selector": app("kafka")}, "status": jsonObject{"disruptionsAllowed": 0, "expectedPods": 3, "currentHealthy": 3, "desiredHealthy": 3}})
	object("policy/v1", "PodDisruptionBudget", "shop", "web-budget-of-the-shop-team", jsonObject{"spec": jsonObject{"maxUnavailable": 1, "selector": app("web")}, "status": jsonObject{"disruptionsAllowed": 1, "expectedPods": 18, "currentHealthy": 18, "desiredHealthy": 17}})
	object("storage.k8s.io/v1", "StorageClass", "", "gp3", jsonObject{"provisioner": "ebs.csi.aws.com", "volumeBindingMode": "WaitForFirstConsumer"})
	object("storage.k8s.io/v1", "CSINode", "", "ip-10-0-100-100"+fortySuffix, jsonObject{"spec": jsonObject{"drivers": []any{}}})
	object("v1", "PersistentVolumeClaim", "data", "data-kafka-2", jsonObject{"spec": jsonObject{"storageClassName": "gp3", "volumeName": "pv-kafka-2", "accessModes": []any{"ReadWriteOnce"}, "resources": jsonObject{"requests": jsonObject{"storage": "100Gi"}}}, "status": jsonObject{"phase": "Bound"}, "metadata": jsonObject{"name": "data-kafka-2", "namespace": "data", "annotations": jsonObject{"pv.kubernetes.io/bind-completed": "yes"}}})
	object("v1", "PersistentVolume", "", "pv-kafka-2", jsonObject{"spec": jsonObject{
		"storageClassName": "gp3", "capacity": jsonObject{"storage": "100Gi"}, "accessModes": []any{"ReadWriteOnce"}, "hostPath": jsonObject{"path": "/d"}, "claimRef": jsonObject{"kind": "PersistentVolumeClaim", "namespace": "data", "name": "data-kafka-2"},
		"nodeAffinity": jsonObject{"required": jsonObject{"nodeSelectorTerms": []any{jsonObject{"matchExpressions": []any{jsonObject{"key": "topology.kubernetes.io/zone", "operator": "In", "values": []any{"eu-west-1c"}}}}}}},
	}, "status": jsonObject{"phase": "Bound"}})
}

// pod adds a pod of an app; node is none below 0.
func (f *forty) pod(namespace, name, app, cpu string, node int, owner string, spec jsonObject) jsonObject {
	s := jsonObject{"containers": []any{jsonObject{"name": "main", "image": "i", "resources": jsonObject{"requests": jsonObject{"cpu": cpu, "memory": "1Gi"}}}}, "priority": 100, "priorityClassName": "platform-default"}
	for k, v := range spec {
		s[k] = v
	}
	status := jsonObject{"phase": "Pending"}
	if node >= 0 {
		s["nodeName"] = f.nodes[node]
		status = jsonObject{"phase": "Running", "startTime": "2026-11-20T09:00:00Z", "conditions": []any{jsonObject{"type": "Ready", "status": "True", "lastTransitionTime": "2026-11-20T09:01:00Z"}}, "containerStatuses": []any{jsonObject{"name": "main", "ready": true, "state": jsonObject{"running": jsonObject{"startedAt": "2026-11-20T09:00:30Z"}}}}}
	}
	meta := jsonObject{"name": name, "namespace": namespace, "labels": jsonObject{"app": app}, "creationTimestamp": "2026-11-21T05:10:00Z"}
	if owner != "" {
		kind, of, _ := strings.Cut(owner, "/")
		meta["ownerReferences"] = []any{jsonObject{"apiVersion": "apps/v1", "kind": kind, "name": of, "uid": of, "controller": true}}
	}
	o := jsonObject{"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": s, "status": status}
	f.items = append(f.items, o)
	return meta
}

// bound are the pods that run.
func (f *forty) bound() {
	tolerates := func(key string) jsonObject {
		return jsonObject{"tolerations": []any{jsonObject{"key": key, "operator": "Exists"}}}
	}
	for i := range f.nodes {
		f.pod("kube-system", fmt.Sprintf("aws-node-%05d", i*577+11), "aws-node", "100m", i, "DaemonSet/aws-node", jsonObject{"tolerations": []any{jsonObject{"operator": "Exists"}}, "priority": 2000001000, "priorityClassName": "system-node-critical"})
	}
	soft := jsonObject{"topologySpreadConstraints": []any{jsonObject{"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": jsonObject{"matchLabels": jsonObject{"app": "web"}}}}}
	for i := range 18 {
		meta := f.pod("shop", fmt.Sprintf("web-djtjm79jk-%05d", i*577+23), "web", "2", i, "ReplicaSet/web-djtjm79jk", soft)
		if i == 9 {
			meta["deletionTimestamp"], meta["deletionGracePeriodSeconds"] = "2026-11-21T09:14:00Z", 30
		}
	}
	for i := range 22 {
		f.pod("batch", fmt.Sprintf("report-generator-nightly-%05d", i*577+31), "report", "5", i+8, "", nil)
	}
	for i := range 2 {
		f.pod("data", fmt.Sprintf("kafka-%d", i), "kafka", "6", 30+i, "StatefulSet/kafka", tolerates("dedicated"))
	}
	f.pod("data", "adhoc-export-of-the-orders-table", "export", "6", 32, "", tolerates("dedicated"))
	for i := range 5 {
		spec := tolerates("nvidia.com/gpu")
		spec["containers"] = []any{jsonObject{"name": "main", "image": "i", "resources": jsonObject{"requests": jsonObject{"cpu": "4", "memory": "8Gi", "nvidia.com/gpu": "1"}, "limits": jsonObject{"nvidia.com/gpu": "1"}}}}
		f.pod("ml", fmt.Sprintf("train-resnet-large-%05d", i*577+41), "train", "4", 34+i, "", spec)
	}
}

// waiting are pods without a node, each for another cause.
func (f *forty) waiting() {
	f.pod("payments", "ledger-close-monthly-ttrz2", "ledger", "4", -1, "", jsonObject{"priority": 1000, "priorityClassName": "business-critical", "nodeSelector": jsonObject{fortyGroup: "memory"}})
	f.pod("batch", "spark-driver-of-the-daily-aggregation-9x2kq", "spark", "12", -1, "", nil)
	f.pod("shop", "checkout-6c5d9f7b8-2scfb", "checkout", "1", -1, "", jsonObject{"affinity": jsonObject{"nodeAffinity": jsonObject{"requiredDuringSchedulingIgnoredDuringExecution": jsonObject{"nodeSelectorTerms": []any{jsonObject{"matchExpressions": []any{jsonObject{"key": fortyGroup, "operator": "In", "values": []any{"genral"}}}}}}}}})
	f.pod("data", "kafka-2", "kafka", "3", -1, "StatefulSet/kafka", jsonObject{"tolerations": []any{jsonObject{"key": "dedicated", "operator": "Exists"}}, "nodeSelector": jsonObject{fortyGroup: "data"}, "volumes": []any{jsonObject{"name": "data", "persistentVolumeClaim": jsonObject{"claimName": "data-kafka-2"}}}})
	f.pod("ml", "train-resnet-large-77777", "train", "4", -1, "", jsonObject{"tolerations": []any{jsonObject{"key": "nvidia.com/gpu", "operator": "Exists"}}, "containers": []any{jsonObject{"name": "main", "image": "i", "resources": jsonObject{"requests": jsonObject{"cpu": "4", "memory": "8Gi", "nvidia.com/gpu": "1"}, "limits": jsonObject{"nvidia.com/gpu": "1"}}}}})
	f.pod("shop", "web-djtjm79jk-99999", "web", "1", -1, "ReplicaSet/web-djtjm79jk", nil)
	for i := range 4 {
		f.pod("batch", fmt.Sprintf("import-of-the-suppliers-catalogue-%d", i), "import", "1", -1, "", jsonObject{"schedulingGates": []any{jsonObject{"name": "kueue.x-k8s.io/admission"}, jsonObject{"name": "example.com/wait-for-the-quota-of-the-team"}}})
	}
}

// write writes the cluster to a file.
func (f *forty) write(t *testing.T, file string) string {
	t.Helper()
	js, err := json.Marshal(jsonObject{"apiVersion": "v1", "kind": "List", "items": f.items})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, js, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// Each command's first screen over the cluster is 80 columns wide, and cuts no answer.
func TestFortyNodes(t *testing.T) {
	f := newForty()
	c := call{env: map[string]string{"BERTH_SNAPSHOT": f.write(t, filepath.Join(t.TempDir(), "today.json"))}}
	for _, x := range fortyCalls(t, f) {
		first(t, x.name, x.args, c.run(t, x.args...))
	}
}

// TestFortyNodesOfAServer has the commands that need a server.
func TestFortyNodesOfAServer(t *testing.T) {
	f := newForty()
	url := serve(t)
	post(t, url+"/v1/snapshots?cluster=prod", []byte(mustRead(t, f.write(t, filepath.Join(t.TempDir(), "today.json")))))
	change := func(body string) { post(t, url+"/v1/snapshots/prod@latest/changes", []byte(body)) }
	change(`{"patch":[{"kind":"Node","name":"` + f.nodes[1] + `","type":"merge","patch":{"spec":{"unschedulable":true}}}]}`)
	change(`{"patch":[{"kind":"Node","name":"` + f.nodes[1] + `","type":"merge","patch":{"spec":{"unschedulable":null}}}]}`)
	asked := call{env: map[string]string{"BERTH_SERVER": url, "BERTH_CLUSTER": "prod"}}
	for _, x := range []fortyCall{
		{"blame", []string{"blame", "shop/web-djtjm79jk-99999"}},
		{"blame-node", []string{"blame", "shop/web-djtjm79jk-99999", "--node", f.nodes[1]}},
	} {
		r := asked.run(t, x.args...)
		times := regexp.MustCompile(`(\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d`)
		r.out = times.ReplaceAllStringFunc(r.out, func(at string) string { return "2026-01-02 03:04:05"[19-len(at):] })
		first(t, x.name, x.args, r)
	}
}

// TestFortyNodesOfADoctor has findings that name nodes.
func TestFortyNodesOfADoctor(t *testing.T) {
	f := newForty()
	answers := map[string]string{
		"/statusz": `{"version":"v1","clusters":[{"name":"prod","follow":{}}]}`, "/flagz": `[]`,
		"/doctorz": `[{"check":"disk","level":"ok","text":"is fine"},{"check":"clock","level":"warning","text":"the kubelet of node ` + f.nodes[7] + ` is 41 s ahead of this machine","remedy":"set the time of node ` + f.nodes[7] + `"}]`,
	}
	args := []string{"doctor"}
	first(t, "doctor", args, call{env: map[string]string{"BERTH_ADMIN_LISTEN": adminServer(t, answers)}}.run(t, args...))
}

// first holds a command's first screen to its golden file and to 80 columns. Its first line, which
// is the answer, is whole, and of what is cut the screen says so.
func first(t *testing.T, name string, args []string, r result) {
	t.Helper()
	if d := os.Getenv("FORTY"); d != "" {
		fmt.Printf("$ berth %s\n%s%s[%d]\n\n", strings.Join(args, " "), r.out, r.err, r.code)
	}
	if r.code == exitBroken && r.err != "" {
		t.Errorf("%q ends with %d: %s", args, r.code, r.err)
	}
	golden(t, "forty-"+name, r.out)
	within(t, standardWidth, r.out)
	if answer, _, _ := strings.Cut(r.out, "\n"); strings.TrimSpace(answer) == "" || strings.Contains(answer, "...") {
		t.Errorf("%q begins with no answer, or cuts it: %q", args, answer)
	}
	if shortened.MatchString(r.out) && !strings.Contains(r.out, " cut: -o wide shows all)") {
		t.Errorf("%q does not say that it cut a name:\n%s", args, r.out)
	}
}

// shortened finds names without their middle.
var shortened = regexp.MustCompile(`[a-z0-9]\.\.\.[a-z0-9]`)

// fortyCall is one call, with the name of its golden file.
type fortyCall struct {
	name string
	args []string
}

func fortyCalls(t *testing.T, f *forty) []fortyCall {
	t.Helper()
	packed, dir := filepath.Join("..", "..", "examples", "packed.yaml"), t.TempDir()
	write := func(name string, object any) string {
		js, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, js, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	template := jsonObject{"metadata": jsonObject{"labels": jsonObject{"app": "web"}}, "spec": jsonObject{
		"priorityClassName": "platform-default",
		"containers":        []any{jsonObject{"name": "main", "image": "i", "resources": jsonObject{"requests": jsonObject{"cpu": "2500m", "memory": "1Gi"}}}},
	}}
	deployment := write("web.json", jsonObject{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": jsonObject{"name": "web", "namespace": "shop"},
		"spec": jsonObject{"replicas": 18, "selector": jsonObject{"matchLabels": jsonObject{"app": "web"}}, "template": template},
	})
	pod := write("pod.json", jsonObject{"apiVersion": "v1", "kind": "Pod", "metadata": jsonObject{"name": "web-djtjm79jk-77777", "namespace": "shop"}, "spec": template["spec"]})
	scenario := write("scenario.json", jsonObject{
		"edits":    jsonObject{"removeNodes": jsonObject{"names": []any{f.nodes[2]}}, "addNodes": []any{jsonObject{"like": f.nodes[21]}}},
		"arrivals": jsonObject{"pending": true},
		"profiles": []any{jsonObject{"name": "today"}},
	})
	return []fortyCall{
		{"pending", []string{"pending", "-A"}},
		{"queue", []string{"queue"}},
		{"explain-device", []string{"explain", "ml/train-resnet-large-77777"}},
		{"explain-volume", []string{"explain", "data/kafka-2"}},
		{"explain-typo", []string{"explain", "shop/checkout-6c5d9f7b8-2scfb"}},
		{"explain-preempts", []string{"explain", "payments/ledger-close-monthly-ttrz2"}},
		{"explain-bound", []string{"explain", "shop/web-djtjm79jk-04062"}},
		{"explain-ending", []string{"explain", "shop/web-djtjm79jk-05216"}},
		{"explain-fits", []string{"explain", "shop/web-djtjm79jk-99999"}},
		{"explain-node", []string{"explain", "shop/web-djtjm79jk-99999", "--node", f.nodes[1]}},
		{"explain-all", []string{"explain", "shop/web-djtjm79jk-99999", "--all"}},
		{"explain-node-rejects", []string{"explain", "data/kafka-2", "--node", f.nodes[32]}},
		{"victims", []string{"victims", "payments/ledger-close-monthly-ttrz2"}},
		{"spread", []string{"spread", "shop/web-djtjm79jk-99999"}},
		{"admit", []string{"admit", "-f", pod}},
		{"fit-zone", []string{"fit", "shop/web-djtjm79jk-99999", "--by", "zone"}},
		{"fit-node", []string{"fit", "shop/web-djtjm79jk-99999", "--by", "node"}},
		{"rollout", []string{"rollout", "-f", deployment}},
		{"drain", []string{"drain", f.nodes[31]}},
		{"drain-find", []string{"drain", "--find", "3"}},
		{"lose", []string{"lose", "--zone", "eu-west-1a"}},
		{"compare", []string{"compare", "--config", packed}},
		{"capacity-zone", []string{"capacity", "--by", "zone"}},
		{"capacity-pool", []string{"capacity", "--by", "pool"}},
		{"classes", []string{"classes"}},
		{"garbage", []string{"garbage"}},
		{"evictions", []string{"evictions", f.nodes[8]}},
		{"termination", []string{"termination", "shop/web-djtjm79jk-05216"}},
		{"lifecycle", []string{"lifecycle", "shop/web-djtjm79jk-04062"}},
		{"lifecycle-ending", []string{"lifecycle", "shop/web-djtjm79jk-05216"}},
		{"pools", []string{"pools", "shop/web-djtjm79jk-99999", "--count", "50", "--like", f.nodes[0] + ",cost=0.4", "--like", f.nodes[21] + ",cost=0.5"}},
		{"upgrade", []string{"upgrade", "--to", "v1.35"}},
		{"simulate", []string{"simulate", "-f", scenario}},
	}
}

// What turned in the night is told first: a node that is Ready no more.
func TestDiffTellsOfNodesFirst(t *testing.T) {
	dir := t.TempDir()
	f := newForty()
	after := f.write(t, filepath.Join(dir, "today.json"))
	for _, o := range f.items {
		n := o.(jsonObject)
		if n["kind"] != "Node" {
			continue
		}
		c := n["status"].(jsonObject)["conditions"].([]any)[0].(jsonObject)
		switch name := n["metadata"].(jsonObject)["name"]; name {
		case f.nodes[7], f.nodes[39]:
			c["status"] = "True"
		case f.nodes[3]:
			c["status"] = "False"
		}
	}
	before := f.write(t, filepath.Join(dir, "yesterday.json"))
	r := call{}.run(t, "diff", before, after)
	out := strings.ReplaceAll(r.out, "\n        ", " ")
	for _, want := range []string{
		"LOST    2 nodes are NotReady now: " + f.nodes[39] + ", " + f.nodes[7] + "\n",
		"BACK    1 node is Ready again: " + f.nodes[3] + "\n",
		"status.conditions[Ready].status",
	} {
		if r.code != exitNo || !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, r.out)
		}
	}
	within(t, standardWidth, r.out)
}
