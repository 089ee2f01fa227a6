// Package differences has each difference between two releases of Kubernetes that a decision can
// show as a scene: the objects that show it, and the pod whose decision does. A scene has nodes of
// its own, which its pod selects, so that all of them fit into one cluster.
package differences

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	et "berth/test/enginetest"
)

// Scene shows a row of docs/releases.md, or a part of one.
type Scene struct {
	// Name is the row's in small letters, and the part: a5-taints is of A5.
	Name string
	// Kind is what is different, as package upgrade has it, and Causes the behaviours that make it.
	Kind   string
	Causes []string
	// Pod is the one of namespace default whose decision shows it.
	Pod string
	// Objects are none for what the pod of another scene shows.
	Objects []any
	// Unrecorded is a pod that the earlier release fails, which leaves no record.
	Unrecorded bool
}

// Row is the row in docs/releases.md.
func (s *Scene) Row() string {
	row, _, _ := strings.Cut(s.Name, "-")
	return strings.ToUpper(row)
}

// Pair are two releases in turn.
type Pair struct {
	// Heading is that of their table in docs/releases.md.
	Heading, From, To string
	// Scenes are those of a cluster of so many nodes.
	Scenes func(nodes int) []Scene
	// Unseen is why other rows of the table show in no decision.
	Unseen map[string]string
	// Objects is how many objects a row of the table concerns in a cluster of all scenes.
	Objects map[string]int
}

// Pairs are the tables of docs/releases.md.
var Pairs = []Pair{
	{Heading: "## From v1.34.4 to v1.35.4", From: "v1.34", To: "v1.35", Scenes: scenesOf135, Unseen: map[string]string{
		"Z3": "v1.35 judges no distinct attribute at all (Z2)",
		"Z7": "it is about configurations: TestOfReleases",
		"Z8": "it is about what a bind writes: TestTolerationsOfAllocations",
	}, Objects: map[string]int{"Z2": 1, "Z5": 1}},
	{Heading: "## From v1.35.4 to v1.36.3", From: "v1.35", To: "v1.36", Scenes: scenesOf136, Unseen: map[string]string{
		"A6":  "which of several choices v1.35 takes is a map's order, and berth's is always that of v1.36",
		"A9":  "it takes a search of upstream's ten seconds: TestDynamicResourcesOfReleases has one, which v1.35 does not begin for A7",
		"A12": "it is about configurations: TestUpgradeRefusesSettings",
		"A14": "it needs the gate DRAPartitionableDevices, which v1.35 has off",
		"A15": "it needs the gates DRAConsumableCapacity or DRADeviceBindingConditions, which v1.35 has off",
		"A16": "it needs the gate VolumeLimitScaling, which both have off",
	}, Objects: map[string]int{"A2": 1, "A10": 2, "A11": 1, "D1": 1}},
	{Heading: "## From v1.36.3 to v1.37.2", From: "v1.36", To: "v1.37", Scenes: scenesOf137, Unseen: map[string]string{
		"B1":  "B2 hides it",
		"B2":  "a pod is decided on without its spec.nodeName",
		"B10": "which of two pods without a start time goes first is arbitrary in every release",
		"B21": "an API server drops the fields that it is about, and they are not kept",
		"B22": "it is about configurations: TestUpgradeRefusesSettings",
	}, Objects: map[string]int{"B3": 1, "B5": 1, "B6": 1, "B9": 1, "B11": 1, "B12": 4, "B19": 1}},
}

// own is a node of a scene.
func own(row, name string, opts ...et.NodeOption) *corev1.Node {
	return et.Node(name, append([]et.NodeOption{et.NodeLabels("scene", row)}, opts...)...)
}

// asks is the pod of a scene, which goes to nodes of its own.
func asks(row string, opts ...et.PodOption) *corev1.Pod {
	return et.Pod(row, append([]et.PodOption{et.Selects("scene", row)}, opts...)...)
}

// runs is a pod that is there. All of them are of one workload, of which one is decided on.
func runs(name, node string, opts ...et.PodOption) *corev1.Pod {
	return et.Pod(name, append([]et.PodOption{et.On(node), et.Owner("apps/v1", "ReplicaSet", "there")}, opts...)...)
}

func with[T any](o T, change func(T)) T {
	change(o)
	return o
}

// claims are a scene about devices: a node, its slices, a claim for its pod, and what else there
// is.
func claims(row string, kind, cause string, claim *resourcev1.ResourceClaim, more ...any) Scene {
	claim.Name, claim.UID = row, types.UID("claim-"+row)
	objects := append([]any{own(row, row), asks(row, et.Claims(row)), claim}, more...)
	return Scene{Name: row, Kind: kind, Causes: strings.Fields(cause), Pod: row, Objects: objects}
}

// failed is a scene whose pod the earlier release fails.
func failed(s Scene) Scene {
	s.Unrecorded = true
	return s
}

func wants(r ...resourcev1.DeviceRequest) *resourcev1.ResourceClaim { return et.DeviceClaim("", r...) }

// slice is a pool of one slice on the node of a scene, named after it.
func slice(row string, devices ...resourcev1.Device) *resourcev1.ResourceSlice {
	return et.Slice(row, row, devices...)
}

// drawing is a pool of devices that draw on a counter, on the node of a scene.
func drawing(row, driver string, there int64, devices ...resourcev1.Device) []any {
	amount := func(n int64) map[string]resourcev1.Counter {
		return map[string]resourcev1.Counter{"a": {Value: *resource.NewQuantity(n, resource.DecimalSI)}}
	}
	for i := range devices {
		devices[i].ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: "set", Counters: amount(2)}}
	}
	s, counters := slice(row, devices...), slice(row)
	s.Name, counters.Name = row+"-devices-"+driver, row+"-counters-"+driver
	counters.Spec.SharedCounters = []resourcev1.CounterSet{{Name: "set", Counters: amount(there)}}
	for _, o := range []*resourcev1.ResourceSlice{s, counters} {
		o.Spec.Driver, o.Spec.Pool.ResourceSliceCount = driver, 2
	}
	return []any{s, counters}
}

func shared(name string) resourcev1.Device { return et.Capacity(et.Device(name), "10Gi", true) }

// asking has a claim's first request ask for an amount of memory.
func asking(c *resourcev1.ResourceClaim, amount string) *resourcev1.ResourceClaim {
	c.Spec.Devices.Requests[0].Exactly.Capacity = &resourcev1.CapacityRequirements{
		Requests: map[resourcev1.QualifiedName]resource.Quantity{"memory": resource.MustParse(amount)},
	}
	return c
}

// held is a claim of another pod that has a device of the scene's pool.
func held(row, device string) *resourcev1.ResourceClaim {
	return et.Given(et.DeviceClaim(row+"-held", et.Wants("r", "any", 1)), row, row+"/"+device)
}

// share makes it a share of the device.
func share(c *resourcev1.ResourceClaim, memory string) *resourcev1.ResourceClaim {
	id := types.UID("share")
	r := &c.Status.Allocation.Devices.Results[0]
	if r.ShareID = &id; memory != "" {
		r.ConsumedCapacity = map[resourcev1.QualifiedName]resource.Quantity{"memory": resource.MustParse(memory)}
	}
	return c
}

func distinct(c *resourcev1.ResourceClaim) *resourcev1.ResourceClaim {
	color := resourcev1.FullyQualifiedName(et.Driver + "/color")
	c.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{DistinctAttribute: &color}}
	return c
}

const (
	red  = `device.attributes["gpu.example.com"].color == "red"`
	blue = `device.attributes["gpu.example.com"].color == "blue"`
)

// Surroundings are what several scenes need.
func Surroundings() []any {
	return []any{
		et.DeviceClass("any", `device.driver == "gpu.example.com"`), et.DeviceClass("other", `device.driver == "other.example.com"`),
		own("idle", "idle"), runs("a-first", "idle", et.Selects("scene", "idle")),
	}
}

func imageVolume(p *corev1.Pod) {
	p.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: "web:1"}}}}
}
