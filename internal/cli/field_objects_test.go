package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fieldNode is a node of 4 cpus with labels in YAML's flow style.
func fieldNode(name, labels string) string {
	return `{apiVersion: v1, kind: Node, metadata: {name: ` + name + `, labels: {kubernetes.io/hostname: ` + name + labels + `}},
  status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110", hugepages-1Gi: 36Gi}, conditions: [{type: Ready, status: "True"}]}}`
}

// fieldPod is a pod with more metadata, spec and status in flow style.
func fieldPod(name, meta, spec, status string) string {
	return `{apiVersion: v1, kind: Pod, metadata: {name: ` + name + `, namespace: default, uid: u-` + name + meta + `},
  spec: {containers: [{name: app, image: "i:1"` + spec + `}, status: {phase: Running` + status + `}}`
}

// requests is a container's request, and the end of the containers.
func requests(list string) string { return `, resources: {requests: {` + list + `}}}]` }

// limited is requests for what must have limits.
func limited(list string) string { return `, resources: {limits: {` + list + `}}}]` }

// deploymentOf is an owner reference as a Deployment's ReplicaSet is named.
func deploymentOf(name string) string {
	return `, labels: {app: ` + name + `, pod-template-hash: 5f4}, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: ` + name + `-5f4, uid: u-rs, controller: true}]`
}

const fieldSelfNames = `, affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [n2]}]}]}}}`

func fieldAffinity(kind, key, labels string) string {
	return `, affinity: {` + kind + `: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: ` + key + `, labelSelector: {matchLabels: {` + labels + `}}}]}}`
}

// fieldVolume is a claim that is bound to a volume which can be used where a label has a value.
func fieldVolume(claim, volume, key, value string) []string {
	return []string{
		`{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: ` + claim + `, namespace: default, uid: u-` + claim + `, annotations: {pv.kubernetes.io/bind-completed: "yes"}},
  spec: {volumeName: ` + volume + `, storageClassName: local, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}, status: {phase: Bound}}`,
		`{apiVersion: v1, kind: PersistentVolume, metadata: {name: ` + volume + `},
  spec: {capacity: {storage: 1Gi}, accessModes: [ReadWriteOnce], storageClassName: local, claimRef: {namespace: default, name: ` + claim + `, uid: u-` + claim + `},
    local: {path: /d}, nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: ` + key + `, operator: In, values: [` + value + `]}]}]}}}, status: {phase: Bound}}`,
	}
}

const fieldMount = `, volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]`

// fieldCases are inputs after public bug reports, each with the answer that names what is in the
// way.
var fieldCases = []struct {
	name    string
	objects []string
	pod     string
	says    []string // the verdict, in the widest form
	node    string   // and of this node
	nodeTo  []string
}{
	{
		name: "a port that is held (kubernetes 51950, 5874, 112522)", node: "n1",
		objects: []string{fieldNode("n1", ""), fieldPod("a", deploymentOf("a"), `, ports: [{containerPort: 8080, hostPort: 8080, hostIP: 10.1.1.1}]}], nodeName: n1`, "")},
		pod:     fieldPod("c", "", `, ports: [{containerPort: 8080, hostPort: 8080}]}]`, ""),
		says:    []string{"8080/TCP held by default/a (Deployment a)"},
		nodeTo:  []string{"TCP 10.1.1.1:8080 held by default/a (Deployment a)"},
	},
	{
		name: "huge pages of a pod that ends (kubernetes 80576)", node: "n1",
		objects: []string{fieldNode("n1", ""), fieldPod("user-1", `, deletionTimestamp: "2026-09-01T10:00:30Z", deletionGracePeriodSeconds: 30`, limited("cpu: 1, hugepages-1Gi: 16Gi")+`, nodeName: n1`, "")},
		pod:     fieldPod("store", "", limited("cpu: 1, hugepages-1Gi: 32Gi"), ""),
		says:    []string{"hugepages-1Gi short by 12Gi: default/user-1 16Gi (overdue: deleted 2026-09-01T10:00:00Z, to be gone by 2026-09-01T10:00:30Z)"},
		nodeTo:  []string{"default/user-1 16Gi"},
	},
	{
		name: "the anti-affinity of an old pod (kubernetes 116827, 126632)", node: "n1",
		objects: []string{fieldNode("n1", ""), fieldPod("t-1", deploymentOf("t"), requests("cpu: 100m")+`, nodeName: n1`+fieldAffinity("podAntiAffinity", "kubernetes.io/hostname", "app: t"), "")},
		pod:     fieldPod("t-2", `, labels: {app: t}`, requests("cpu: 100m"), ""),
		says:    []string{"app=t in default by kubernetes.io/hostname, a term of default/t-1 (Deployment t)"},
		nodeTo:  []string{"a term of default/t-1 (Deployment t)"},
	},
	{
		name: "its own anti-affinity", node: "n1",
		objects: []string{fieldNode("n1", ""), fieldPod("t-1", deploymentOf("t"), requests("cpu: 100m")+`, nodeName: n1`, "")},
		pod:     fieldPod("t-2", "", requests("cpu: 100m")+fieldAffinity("podAntiAffinity", "kubernetes.io/hostname", "app: t"), ""),
		says:    []string{"app=t in default by kubernetes.io/hostname; such pods: default/t-1 (Deployment t)"},
	},
	{
		name: "a DaemonSet's pod, and who fills its node (kubernetes 93934, 71466)", node: "n1",
		objects: []string{fieldNode("n1", ""), fieldNode("n2", ""), fieldNode("n3", ""), fieldPod("fat", "", requests("cpu: 3900m")+`, nodeName: n2`, "")},
		pod:     fieldPod("ds-2", `, ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: ds, uid: u-ds, controller: true}]`, requests("cpu: 500m")+fieldSelfNames, ""),
		says:    []string{"node n2 (its DaemonSet made the pod for it)", "cpu short by 400m: default/fat 3900m"},
		nodeTo:  []string{"the pod names other nodes: node n2 (its DaemonSet made the pod for it)"},
	},
	{
		name: "a resize that is deferred (kubernetes 135107, 122602)", node: "n1",
		objects: []string{fieldNode("n1", ""), fieldPod("other", "", requests("cpu: 1500m")+`, nodeName: n1`, ""), fieldPod("grow", "", requests("cpu: 3500m")+`, nodeName: n1`,
			`, conditions: [{type: PodResizePending, status: "True", reason: Deferred}], containerStatuses: [{name: app, ready: true, restartCount: 0, image: i, imageID: i, allocatedResources: {cpu: "1"}, resources: {requests: {cpu: "1"}}}]`)},
		pod:    fieldPod("small", "", requests("cpu: 500m"), ""),
		says:   []string{"cpu short by 1500m: default/grow 3500m (resize deferred, which counts for 2500m of it), default/other 1500m"},
		nodeTo: []string{"resize deferred, which counts for 2500m of it"},
	},
	{
		name: "a cycle of affinities (kubernetes 43971, 24995)", node: "n1",
		objects: []string{fieldNode("n1", ""), fieldPod("bb", `, labels: {app: bb}`, requests("cpu: 100m")+fieldAffinity("podAffinity", "kubernetes.io/hostname", "app: aa"), "")},
		pod:     fieldPod("aa", `, labels: {app: aa}`, requests("cpu: 100m")+fieldAffinity("podAffinity", "kubernetes.io/hostname", "app: bb"), ""),
		says:    []string{"such pods: default/bb (has no node itself; it waits for this pod in turn)"},
	},
	{
		name: "a local volume on a node that is gone (local-path 31, kubernetes 78756)", node: "n1",
		objects: append(fieldVolume("data", "pvc-3628", "kubernetes.io/hostname", "n9"), fieldNode("n1", ""), fieldNode("n2", "")),
		pod:     fieldPod("es-4", "", requests("cpu: 100m")+fieldMount, ""),
		says:    []string{"claim data: its volume pvc-3628 can be used where kubernetes.io/hostname In n9; node n9 (it is not in this cluster)"},
		nodeTo:  []string{"node n9 (it is not in this cluster)"},
	},
	{
		name: "a volume in one zone, the peer in another (karpenter-provider-aws 8914, 2971)", node: "a1",
		objects: append(fieldVolume("data", "pv-1", "topology.kubernetes.io/zone", "zc"), fieldNode("a1", ", topology.kubernetes.io/zone: za"), fieldNode("c1", ", topology.kubernetes.io/zone: zc"),
			fieldPod("nopvc-0", `, labels: {grp: k}`, requests("cpu: 100m")+`, nodeName: a1`, "")),
		pod:    fieldPod("pvc-0", "", requests("cpu: 100m")+fieldMount+fieldAffinity("podAffinity", "topology.kubernetes.io/zone", "grp: k"), ""),
		says:   []string{"grp=k in default by topology.kubernetes.io/zone; such pods: default/nopvc-0 (in za)", "claim data: its volume pv-1 can be used where topology.kubernetes.io/zone In zc"},
		nodeTo: []string{"claim data: its volume pv-1 can be used where topology.kubernetes.io/zone In zc"},
	},
	{
		name: "a device that another pod holds (website 54770)", node: "g1",
		objects: []string{
			fieldNode("g1", ""), `{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: gpu}, spec: {}}`,
			`{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: g1-s}, spec: {driver: d.example, nodeName: g1, pool: {name: g1, generation: 1, resourceSliceCount: 1}, devices: [{name: d0}]}}`,
			`{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: low-gpu, namespace: default, uid: u-lg}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, allocationMode: ExactCount, count: 1}}]}},
  status: {reservedFor: [{resource: pods, name: low, uid: u-low}], allocation: {devices: {results: [{request: r, driver: d.example, pool: g1, device: d0}]}}}}`,
			`{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: hi-gpu, namespace: default, uid: u-hg}, spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, allocationMode: ExactCount, count: 1}}]}}}`,
			fieldPod("low", deploymentOf("low"), `}], nodeName: g1, resourceClaims: [{name: c, resourceClaimName: low-gpu}]`, ""),
		},
		pod:    fieldPod("hi", "", `}], priority: 1000, resourceClaims: [{name: c, resourceClaimName: hi-gpu}]`, ""),
		says:   []string{"gpu; held by default/low (Deployment low; has g1/d0 by claim low-gpu)"},
		nodeTo: []string{"claim hi-gpu, request r, class gpu: needs 1, 1 here match, 0 of them free; held by default/low (Deployment low;"},
	},
	{
		name: "room that a nominated pod takes", node: "n1",
		objects: []string{fieldNode("n1", ""), strings.Replace(fieldPod("first", "", requests("cpu: 3500m")+`, priority: 2000`, `, nominatedNodeName: n1`), "phase: Running", "phase: Pending", 1)},
		pod:     fieldPod("second", "", requests("cpu: 1"), ""),
		says:    []string{"cpu short by 500m: default/first 3500m (nominated to the node)"},
		nodeTo:  []string{"cpu: short 500m (needs 1000m, 500m free of 4000m): default/first 3500m (nominated to the node)"},
	},
}

// TestFieldNamesValues: a value that means something else is told at the place.
func TestFieldNamesValues(t *testing.T) {
	zoned := func(name, zone, taints string) string {
		node := fieldNode(name, `, topology.kubernetes.io/zone: "`+zone+`"`)
		return strings.Replace(node, "status: {alloc", "spec: {taints: ["+taints+"]}, status: {alloc", 1)
	}
	const spread = `, topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: x}}}]`
	for _, c := range []struct {
		name, command string
		objects       []string
		pod           string
		says          []string
	}{
		{"50E of memory counts as 0 (kubernetes 102134)", "explain", []string{fieldNode("n1", "")}, fieldPod("crash", "", requests("memory: 50E"), ""), []string{"does not fit 64 bits"}},
		{"cpu that overflows (kubernetes 128684)", "explain", []string{fieldNode("n1", "")}, fieldPod("cpu", "", requests("cpu: 9223372036854775807"), ""), []string{"does not fit 64 bits"}},
		{"Gt with no whole number (kubernetes 86488)", "explain", []string{fieldNode("n1", "")}, fieldPod("gt", "", requests("cpu: 1")+`, affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: appVersion, operator: Gt, values: ["150.1"]}]}]}}}`, ""), []string{"appVersion Gt 150.1: only whole numbers are compared"}},
		{"a key that no node has (website 28033)", "explain", []string{fieldNode("n1", "")}, fieldPod("k", "", requests("cpu: 1")+fieldAffinity("podAntiAffinity", "rack", "app: x"), ""), []string{"no node has the label rack"}},
		{"a nomination that is stale (kubernetes 106780)", "explain", []string{fieldNode("n1", ""), fieldPod("p2", "", requests("cpu: 1500m")+`, nodeName: n1, priority: 200`, "")}, fieldPod("p1", "", requests("cpu: 3")+`, priority: 100`, `, nominatedNodeName: n1`), []string{"its nomination to node n1 is stale: the node rejects it now (Insufficient cpu)", "default/p2 1500m"}},
		{"a namespaceSelector that only excludes (kubernetes 141526)", "explain", []string{fieldNode("n1", ""), `{apiVersion: v1, kind: Namespace, metadata: {name: default, labels: {team: a}}}`, fieldPod("old", `, labels: {app: x}`, requests("cpu: 1")+`, nodeName: n1`, "")}, fieldPod("new", "", requests("cpu: 1")+`, affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {app: x}}, namespaceSelector: {matchExpressions: [{key: team, operator: NotIn, values: [a]}]}}]}}`, ""), []string{"the namespaceSelector team notin (a) of its pod anti-affinity only excludes, and so selects every namespace"}},
		{"a preference is not why a pod waits", "explain", []string{fieldNode("n1", "")}, fieldPod("p", "", requests("cpu: 9")+strings.Replace(spread, "DoNotSchedule", "ScheduleAnyway", 1), ""), []string{"NOTE a spread with ScheduleAnyway never rejects a node: what the pod has of it is not why it waits (docs/rules.md#"}},
		{"a taint that only costs points", "explain", []string{zoned("n1", "z1", "{key: spot, effect: PreferNoSchedule}")}, fieldPod("p", "", requests("cpu: 1"), ""), []string{"node n1 has the taint spot with PreferNoSchedule, which the pod does not tolerate: such a taint never rejects a pod"}},
		{"an empty zone (karpenter-provider-azure 1384)", "spread", []string{zoned("e1", "z1", ""), zoned("v0", "", "{key: v, effect: NoSchedule}"), fieldPod("x1", `, labels: {app: x}`, requests("cpu: 1")+`, nodeName: e1`, "")}, fieldPod("x2", `, labels: {app: x}`, requests("cpu: 1")+spread, ""), []string{`"" (empty) 1 0`}},
		{"pods that a domain does not count (kubernetes 94635)", "spread", []string{zoned("s1", "z1", ""), zoned("h1", "z1", ""), fieldNode("s2", ", disk: ssd, topology.kubernetes.io/zone: z2"), fieldPod("x1", `, labels: {app: x}`, requests("cpu: 1")+`, nodeName: h1`, ""), fieldPod("x2", `, labels: {app: x}`, requests("cpu: 1")+`, nodeName: s2`, "")}, fieldPod("x3", `, labels: {app: x}`, requests("cpu: 1")+spread+`, nodeSelector: {disk: ssd}`, ""), []string{"Not counted in z1: x1 on h1 (its node does not match the pod's node affinity or selector)"}},
	} {
		dir := t.TempDir()
		cluster, pod := filepath.Join(dir, "cluster.yaml"), filepath.Join(dir, "pod.yaml")
		for file, text := range map[string]string{cluster: "apiVersion: v1\nkind: List\nitems:\n- " + strings.Join(c.objects, "\n- ") + "\n", pod: "---\n" + strings.Replace(c.pod, "phase: Running", "phase: Pending", 1) + "\n"} {
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r := call{}.run(t, c.command, "-f", pod, "--snapshot", cluster, "-o", "wide")
		for _, want := range c.says {
			if !strings.Contains(strings.Join(strings.Fields(r.out), " "), want) {
				t.Errorf("%s: it does not say %q:\n%s%s", c.name, want, r.out, r.err)
			}
		}
	}
}

// TestFieldNamesWhatIsInTheWay: the verdict and the look at one node name the objects.
func TestFieldNamesWhatIsInTheWay(t *testing.T) {
	for _, c := range fieldCases {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			cluster, pod := filepath.Join(dir, "cluster.yaml"), filepath.Join(dir, "pod.yaml")
			text := "apiVersion: v1\nkind: List\nitems:\n- " + strings.Join(c.objects, "\n- ") + "\n"
			for file, text := range map[string]string{cluster: text, pod: "---\n" + strings.Replace(c.pod, "phase: Running", "phase: Pending", 1) + "\n"} {
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			ask := func(says []string, more ...string) {
				t.Helper()
				r := call{}.run(t, append([]string{"explain", "-f", pod, "--snapshot", cluster, "-o", "wide"}, more...)...)
				for _, want := range says {
					if !strings.Contains(strings.Join(strings.Fields(r.out), " "), want) {
						t.Errorf("%v does not say %q:\n%s%s", more, want, r.out, r.err)
					}
				}
			}
			ask(c.says)
			ask(c.nodeTo, "--node", c.node)
		})
	}
}
