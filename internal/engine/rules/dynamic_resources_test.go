package rules_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine"
	"berth/internal/engine/recall"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	"berth/internal/semantics"
	et "berth/test/enginetest"
)

// two nodes, a class for all devices, and what a test adds.
func devicesOf(more ...any) []any {
	return append(list(et.Node("a"), et.Node("b"), et.DeviceClass("gpu", `device.driver == "gpu.example.com"`)), more...)
}

func change[T any](o T, f func(T)) T {
	f(o)
	return o
}

func TestDynamicResources(t *testing.T) {
	pod := et.Pod("p", et.Claims("c"))
	one := et.DeviceClaim("c", et.Wants("r", "gpu", 1))
	small, big := et.Device("small", "model", "t4"), et.Device("big", "model", "a100")
	none := rules.ReasonNoDevices + "!"
	onA, onB := map[string]string{"a": "ok", "b": none}, map[string]string{"a": none, "b": "ok"}
	nowhere, both := map[string]string{"a": none, "b": none}, map[string]string{"a": "ok", "b": "ok"}
	a100 := `device.attributes["gpu.example.com"].model == "a100"`
	twice := func(d resourcev1.Device) resourcev1.Device { return et.Capacity(d, "10Gi", true) }
	capacity := func(amount string) *resourcev1.ResourceClaim {
		return change(et.DeviceClaim("c", et.Wants("r", "gpu", 1)), func(c *resourcev1.ResourceClaim) {
			c.Spec.Devices.Requests[0].Exactly.Capacity = &resourcev1.CapacityRequirements{Requests: map[resourcev1.QualifiedName]resource.Quantity{"memory": resource.MustParse(amount)}}
		})
	}
	admin := func() *resourcev1.ResourceClaim {
		return change(et.DeviceClaim("c", et.Wants("r", "gpu", 1)), func(c *resourcev1.ResourceClaim) {
			yes := true
			c.Spec.Devices.Requests[0].Exactly.AdminAccess = &yes
		})
	}
	constrained := func(same bool, n int64) *resourcev1.ResourceClaim {
		return change(et.DeviceClaim("c", et.Wants("r", "gpu", n), et.Wants("s", "gpu", 1)), func(c *resourcev1.ResourceClaim) {
			name := resourcev1.FullyQualifiedName("gpu.example.com/model")
			k := resourcev1.DeviceConstraint{DistinctAttribute: &name}
			if same {
				k = resourcev1.DeviceConstraint{MatchAttribute: &name}
			}
			c.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{k}
		})
	}
	tainted := func(effect resourcev1.DeviceTaintEffect) resourcev1.Device {
		d := et.Device("d")
		d.Taints = []resourcev1.DeviceTaint{{Key: "sick", Effect: effect}}
		return d
	}
	pool := func(generation, count int64, s *resourcev1.ResourceSlice, name string) *resourcev1.ResourceSlice {
		s.Spec.Pool = resourcev1.ResourcePool{Name: "p", Generation: generation, ResourceSliceCount: count}
		s.Name = name
		return s
	}
	check(t, "DynamicResources", []ruleCase{
		{name: "a node with a device takes the pod", objects: devicesOf(one, et.Slice("s", "a", small)), pod: pod, want: onA},
		{name: "a device for all nodes is there on each", objects: devicesOf(one, et.Slice("s", "", small)), pod: pod, want: both},
		{name: "a device that another claim holds is gone", objects: devicesOf(one, et.Slice("s", "a", small), et.Slice("t", "b", small), et.Given(et.DeviceClaim("other"), "a", "s/small")), pod: pod, want: onB},
		{name: "one that is given for administration is taken from nobody", objects: devicesOf(one, et.Slice("s", "a", small), change(et.Given(et.DeviceClaim("other"), "a", "s/small"), func(c *resourcev1.ResourceClaim) {
			yes := true
			c.Status.Allocation.Devices.Results[0].AdminAccess = &yes
		})), pod: pod, want: onA},
		{name: "administration takes what others hold", objects: devicesOf(admin(), et.Slice("s", "a", small), et.Given(et.DeviceClaim("other"), "a", "s/small")), pod: pod, want: onA},
		{name: "a request's selector decides", objects: devicesOf(et.DeviceClaim("c", et.Wants("r", "gpu", 1, a100)), et.Slice("s", "a", small), et.Slice("t", "b", small, big)), pod: pod, want: onB},
		{name: "a class's selector decides", objects: devicesOf(et.DeviceClaim("c", et.Wants("r", "best", 1)), et.DeviceClass("best", a100), et.Slice("s", "a", small), et.Slice("t", "b", big)), pod: pod, want: onB},
		{name: "as many as are asked for must be there", objects: devicesOf(et.DeviceClaim("c", et.Wants("r", "gpu", 2)), et.Slice("s", "a", small), et.Slice("t", "b", small, big)), pod: pod, want: onB},
		{name: "two claims do not share a device", objects: devicesOf(one, et.DeviceClaim("d", et.Wants("r", "gpu", 1)), et.Slice("s", "a", small), et.Slice("t", "b", small, big)), pod: et.Pod("p", et.Claims("c", "d")), want: onB},
		{name: "a search that starts badly goes back", objects: devicesOf(et.DeviceClaim("c", et.Wants("r", "gpu", 1), et.Wants("s", "gpu", 1, `device.attributes["gpu.example.com"].model == "t4"`)), et.Slice("s", "a", small, big)), pod: pod, want: onA},
		{name: "all means every one that matches, and one at least", objects: devicesOf(et.DeviceClaim("c", et.Wants("r", "gpu", 0)), et.Slice("s", "a", small, big)), pod: pod, want: onA},
		{name: "all fails where one is taken", objects: devicesOf(et.DeviceClaim("c", et.Wants("r", "gpu", 0)), et.Slice("s", "a", small, big), et.Slice("t", "b", big), et.Given(et.DeviceClaim("other"), "a", "s/small")), pod: pod, want: onB},
		{name: "equal attributes are found among others", objects: devicesOf(constrained(true, 1), et.Slice("s", "a", small, big), et.Slice("t", "b", big, small, et.Device("big2", "model", "a100"))), pod: pod, want: onB},
		{name: "distinct attributes too", objects: devicesOf(constrained(false, 1), et.Slice("s", "a", big, et.Device("big2", "model", "a100")), et.Slice("t", "b", big, small)), pod: pod, want: onB},
		{name: "within a request only neighbours have to differ, as upstream has it", objects: devicesOf(constrained(false, 3), et.Slice("s", "a", big, small, et.Device("z", "model", "a100"), et.Device("x", "model", "other"))), pod: pod, want: onA},
		{name: "a device without the attribute satisfies no constraint", objects: devicesOf(constrained(true, 1), et.Slice("s", "a", et.Device("x"), et.Device("y"))), pod: pod, want: nowhere},
		{name: "a taint keeps a device from being allocated", objects: devicesOf(one, et.Slice("s", "a", tainted(resourcev1.DeviceTaintEffectNoSchedule)), et.Slice("t", "b", tainted(resourcev1.DeviceTaintEffectNone))), pod: pod, want: onB},
		{name: "a toleration lets it", objects: devicesOf(change(et.DeviceClaim("c", et.Wants("r", "gpu", 1)), func(c *resourcev1.ResourceClaim) {
			c.Spec.Devices.Requests[0].Exactly.Tolerations = []resourcev1.DeviceToleration{{Key: "sick", Operator: resourcev1.DeviceTolerationOpExists}}
		}), et.Slice("s", "a", tainted(resourcev1.DeviceTaintEffectNoExecute))), pod: pod, want: onA},
		{name: "shares add up to a device's capacity", objects: devicesOf(capacity("6Gi"), et.DeviceClaim("d", et.Wants("r", "gpu", 1)), et.Slice("s", "a", twice(small)), et.Slice("t", "b", twice(small), big)), pod: et.Pod("p", et.Claims("c", "d")), want: onB},
		{name: "a share that is left is taken", objects: devicesOf(capacity("6Gi"), et.Slice("s", "a", twice(small)), change(et.Given(et.DeviceClaim("other"), "a", "s/small"), func(c *resourcev1.ResourceClaim) {
			share := metav1.ObjectMeta{UID: "share"}.UID
			r := &c.Status.Allocation.Devices.Results[0]
			r.ShareID, r.ConsumedCapacity = &share, map[resourcev1.QualifiedName]resource.Quantity{"memory": resource.MustParse("4Gi")}
		})), pod: pod, want: onA},
		{name: "one that is not left is not", objects: devicesOf(capacity("6Gi"), et.Slice("s", "a", twice(small)), change(et.Given(et.DeviceClaim("other"), "a", "s/small"), func(c *resourcev1.ResourceClaim) {
			share := metav1.ObjectMeta{UID: "share"}.UID
			r := &c.Status.Allocation.Devices.Results[0]
			r.ShareID, r.ConsumedCapacity = &share, map[resourcev1.QualifiedName]resource.Quantity{"memory": resource.MustParse("5Gi")}
		})), pod: pod, want: nowhere},
		{name: "a pool that is not all there gives nothing", objects: devicesOf(one, pool(1, 2, et.Slice("", "a", small), "s1"), et.Slice("t", "b", small)), pod: pod, want: onB},
		{name: "its slices for other nodes count", objects: devicesOf(one, pool(1, 2, et.Slice("", "a", small), "s1"), pool(1, 2, et.Slice("", "b", big), "s2")), pod: pod, want: both},
		{name: "a newer generation replaces an older one", objects: devicesOf(one, pool(1, 1, et.Slice("", "a", small), "s1"), pool(2, 1, et.Slice("", "", big), "s2"), et.Given(et.DeviceClaim("other"), "a", "p/small")), pod: pod, want: both},
		{name: "even where it has nothing for the node", objects: devicesOf(one, pool(1, 2, et.Slice("", "a", small), "s1"), pool(2, 1, et.Slice("", "b", big), "s2")), pod: pod, want: onB},
		{name: "a name twice makes a pool invalid", objects: devicesOf(one, et.Slice("s", "a", small, small), et.Slice("t", "b", small)), pod: pod, want: map[string]string{"a": "invalid resource pools were encountered!", "b": "ok"}},
		{name: "an allocated claim is good for its node", objects: devicesOf(et.Given(et.DeviceClaim("c", et.Wants("r", "gpu", 1)), "a", "s/small")), pod: pod, want: map[string]string{"a": "ok", "b": rules.ReasonClaimElsewhere + "!"}},
		{name: "or for all", objects: devicesOf(et.Given(et.DeviceClaim("c", et.Wants("r", "gpu", 1)), "", "s/small")), pod: pod, want: both},
		{name: "a reservation of another pod does not matter", objects: devicesOf(change(et.Given(et.DeviceClaim("c", et.Wants("r", "gpu", 1)), "", "s/small"), func(c *resourcev1.ResourceClaim) {
			c.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", Name: "other", UID: "other"}}
		})), pod: pod, want: both},
		{name: "a class that is not there rejects the pod", objects: list(et.Node("a"), one), pod: pod, want: map[string]string{"a": "request r: device class gpu does not exist!"}},
		{name: "also that of an alternative", objects: devicesOf(et.DeviceClaim("c", et.FirstOf("r", et.Wants("x", "gpu", 1), et.Wants("y", "gone", 1)))), pod: pod, want: map[string]string{"a": "request r/y: device class gone does not exist!", "b": "request r/y: device class gone does not exist!"}},
		{
			name: "earlier alternatives score higher", objects: devicesOf(et.DeviceClaim("c", et.FirstOf("r", et.Wants("x", "gpu", 1, a100), et.Wants("y", "gpu", 1))), et.Slice("s", "a", small), et.Slice("t", "b", small, big)), pod: pod,
			want: both, scores: map[string]string{"a": "7/87", "b": "8/100"},
		},
	})
}

func TestClaimsThatAreNotThereHoldPodsBack(t *testing.T) {
	deleted := change(et.DeviceClaim("c"), func(c *resourcev1.ResourceClaim) { c.DeletionTimestamp = &metav1.Time{Time: et.Epoch} })
	for _, tc := range []struct {
		name string
		pod  *corev1.Pod
		more []any
		want string
	}{
		{"a claim that does not exist", et.Pod("p", et.Claims("c")), nil, `could not find ResourceClaim "default/c"`},
		{"one that goes", et.Pod("p", et.Claims("c")), list(deleted), `resourceclaim "c" is being deleted`},
		{"one that is not made yet", et.Pod("p", et.FromTemplate("")), nil, `pod "default/p": ResourceClaim not created yet`},
		{"one that was made for somebody else", et.Pod("p", et.FromTemplate("c")), list(et.DeviceClaim("c")), "ResourceClaim default/c was not created for Pod default/p (Pod is not owner)"},
		{"a reference to nothing", change(et.Pod("p"), func(p *corev1.Pod) { p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "x"}} }), nil, `pod "default/p", spec.resourceClaim "x": none of the supported fields are set`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := decide(t, ruleCase{objects: devicesOf(tc.more...), pod: tc.pod})
			if d.Outcome != engine.Gated || d.Message != tc.want || len(d.Gates) > 0 {
				t.Errorf("got %s %q %v, want Gated %q", d.Outcome, d.Message, d.Gates, tc.want)
			}
		})
	}
	yes := true
	mine := change(et.DeviceClaim("c", et.Wants("r", "gpu", 1)), func(c *resourcev1.ResourceClaim) {
		c.OwnerReferences = []metav1.OwnerReference{{Name: "p", UID: "pod-p", Controller: &yes}}
	})
	if d := decide(t, ruleCase{objects: devicesOf(mine, et.Slice("s", "a", et.Device("d"))), pod: et.Pod("p", et.FromTemplate("c"))}); d.Node != "a" {
		t.Errorf("a claim made for the pod: %s %q", d.Outcome, d.Message)
	}
	left := change(et.Pod("p", et.FromTemplate("")), func(p *corev1.Pod) {
		p.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: "made"}}
	})
	if d := decide(t, ruleCase{objects: devicesOf(), pod: left}); d.Outcome != engine.Scheduled {
		t.Errorf("a claim left out on purpose: %s %q", d.Outcome, d.Message)
	}
}

// TestDevicesAreNamed: a decision names the devices that the pod would get, its digest covers them,
// and a rejected node names what it lacks.
func TestDevicesAreNamed(t *testing.T) {
	pod := et.Pod("p", et.Claims("c"))
	claim := et.DeviceClaim("c", et.Wants("r", "gpu", 1), et.FirstOf("s", et.Wants("x", "gpu", 9), et.Wants("y", "gpu", 1)))
	d := decide(t, ruleCase{objects: devicesOf(claim, et.Slice("s", "a", et.Device("d0"), et.Device("d1")), et.Slice("t", "b", et.Device("d0"))), pod: pod})
	want := []engine.AllottedDevice{
		{Claim: "c", Request: "r", Driver: et.Driver, Pool: "s", Device: "d0"}, {Claim: "c", Request: "s/y", Driver: et.Driver, Pool: "s", Device: "d1"},
	}
	if diff := cmp.Diff(want, d.Devices); diff != "" {
		t.Errorf("devices (-want +got):\n%s", diff)
	}
	n := func(i int64) *int64 { return &i }
	lacking := []engine.Detail{
		{Kind: "device", Claim: "c", Request: "r", Name: "gpu", Requested: n(1), Matching: n(1), Available: n(1)},
		{Kind: "device", Claim: "c", Request: "s/x", Name: "gpu", Requested: n(9), Matching: n(1), Available: n(1)},
		{Kind: "device", Claim: "c", Request: "s/y", Name: "gpu", Requested: n(1), Matching: n(1), Available: n(1)},
	}
	if diff := cmp.Diff(lacking, details(t, d, "b")); diff != "" {
		t.Errorf("details (-want +got):\n%s", diff)
	}
	other := decide(t, ruleCase{objects: devicesOf(claim, et.Slice("s", "a", et.Device("d0"), et.Device("d2")), et.Slice("t", "b", et.Device("d0"))), pod: pod})
	if other.Devices[1].Device != "d2" || other.Digest == d.Digest {
		t.Errorf("another device, %s, and the same digest", other.Devices[1].Device)
	}
}

// TestClaimsThatCannotBeJudged: what ends upstream's cycle with an error is an
// error here, and no verdict.
func TestClaimsThatCannotBeJudged(t *testing.T) {
	incomplete := change(et.Slice("s", "a", et.Device("d")), func(s *resourcev1.ResourceSlice) { s.Spec.Pool.ResourceSliceCount = 2 })
	same := resourcev1.FullyQualifiedName("gpu.example.com/model")
	for _, tc := range []struct {
		name    string
		objects []any
		want    string
	}{
		{"a selector that fails", devicesOf(et.DeviceClaim("c", et.Wants("r", "gpu", 1, `device.attributes["gpu.example.com"].none == "x"`)), et.Slice("s", "a", et.Device("d"))), "CEL runtime error: no such key: none"},
		{"one that does not compile", devicesOf(et.DeviceClaim("c", et.Wants("r", "gpu", 1, `device.nothing`)), et.Slice("s", "a", et.Device("d"))), "CEL compile error"},
		{"one that costs too much", devicesOf(et.DeviceClaim("c", et.Wants("r", "gpu", 1, `"`+strings.Repeat("x", 2000)+`".matches("(x+x+)+y") || [1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, [1,2,3,4,5,6,7,8,9,10].all(d, [1,2,3,4,5,6,7,8,9,10].all(e, [1,2,3,4,5,6,7,8,9,10].all(f, a+b+c+d+e+f > 0))))))`)), et.Slice("s", "a", et.Device("d"))), "cost limit"},
		{"all of a pool that is being updated", devicesOf(et.DeviceClaim("c", et.Wants("r", "gpu", 0)), incomplete), "is currently being updated"},
		{"all, against a constraint", devicesOf(change(et.DeviceClaim("c", et.Wants("r", "gpu", 0)), func(c *resourcev1.ResourceClaim) {
			c.Spec.Devices.Constraints = []resourcev1.DeviceConstraint{{MatchAttribute: &same}}
		}), et.Slice("s", "a", et.Device("d", "model", "x"), et.Device("e", "model", "y"))), "a claim constraint would not be satisfied"},
		{"more than a claim can hold", devicesOf(et.DeviceClaim("c", et.Wants("r", "gpu", 33)), et.Slice("s", "a", et.Device("d"))), "exceeds the claim limit of 32"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := et.Case{Objects: tc.objects, Pod: et.Pod("p", et.Claims("c")), Spec: rules.DefaultSpec()}
			if d, err := c.Decide(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, %v; want an error with %q", d, err, tc.want)
			}
		})
	}
}

// TestExtendedResourcesBehindClasses: a node that offers nothing of the resource
// itself has to have the devices, and NodeResourcesFit leaves it alone.
func TestExtendedResourcesBehindClasses(t *testing.T) {
	name := "example.com/gpu"
	class := change(et.DeviceClass("gpu"), func(c *resourcev1.DeviceClass) { c.Spec.ExtendedResourceName = &name })
	objects := list(et.Node("a"), et.Node("b"), et.Node("plugin", et.Allocatable(name, "4")), class, et.Slice("s", "a", et.Device("d0"), et.Device("d1"), et.Device("d2")))
	pod := et.Pod("p", et.InitContainer(name, "3"), et.Requests(name, "1"))
	none := rules.ReasonNoDevices + "!"
	check(t, "DynamicResources", []ruleCase{
		{name: "by the class's resource", objects: objects, pod: pod, want: map[string]string{"a": "ok", "b": none, "plugin": "ok"}},
		{name: "by the name that every class has", objects: objects, pod: et.Pod("p", et.Requests("deviceclass.resource.kubernetes.io/gpu", "2")), want: map[string]string{"a": "ok", "b": none, "plugin": none}},
		{name: "an amount in another spelling", objects: objects, pod: et.Pod("p", et.Requests(name, "2000m")), want: map[string]string{"a": "ok", "b": none, "plugin": "ok"}},
		{name: "more than there are, in another spelling", objects: objects, pod: et.Pod("p", et.Requests("deviceclass.resource.kubernetes.io/gpu", "4.0")), want: map[string]string{"a": none, "b": none, "plugin": none}},
		{name: "a resource without a class is none of its business", objects: objects, pod: et.Pod("p", et.Requests("example.com/other", "1")), want: map[string]string{"a": "Insufficient example.com/other!", "b": "Insufficient example.com/other!", "plugin": "Insufficient example.com/other!"}},
	})
	d := decide(t, ruleCase{objects: objects[:1:1], pod: pod})
	if d.Outcome != engine.UnschedulableOK || d.Failures[0].Plugin != "NodeResourcesFit" {
		t.Errorf("without a class: %+v", d.Failures)
	}
	d = decide(t, ruleCase{objects: list(et.Node("a"), class, et.Slice("s", "a", et.Device("d0"), et.Device("d1"), et.Device("d2"))), pod: pod})
	var got []string
	for _, v := range d.Devices {
		got = append(got, v.Claim+" "+v.Request+" "+v.Device)
	}
	// The init container uses what the main one will have, and two more.
	want := []string{"<extended-resources> container-0-request-0 d0", "<extended-resources> container-0-request-0 d1", "<extended-resources> container-1-request-0 d2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("devices (-want +got):\n%s", diff)
	}
}

// TestDeallocationIsAnnounced: PostFilter's words, and that the time of the
// decision says when devices should have been ready.
func TestDeallocationIsAnnounced(t *testing.T) {
	mine := func(f func(*resourcev1.ResourceClaim)) []any {
		return list(et.Node("b"), et.DeviceClass("gpu"), change(et.Given(et.DeviceClaim("c", et.Wants("r", "gpu", 1)), "a", "s/d"), f))
	}
	waiting := func(conditions ...metav1.Condition) func(*resourcev1.ResourceClaim) {
		return func(c *resourcev1.ResourceClaim) {
			c.Status.Allocation.NodeSelector = nil
			r := &c.Status.Allocation.Devices.Results[0]
			r.BindingConditions, r.BindingFailureConditions = []string{"ready"}, []string{"failed"}
			c.Status.Devices = []resourcev1.AllocatedDeviceStatus{{Driver: et.Driver, Pool: "s", Device: "d", Conditions: conditions}}
		}
	}
	for _, tc := range []struct {
		name  string
		claim func(*resourcev1.ResourceClaim)
		after time.Duration
		want  string // of the message; empty where the pod is scheduled
	}{
		{"nobody else uses it", func(*resourcev1.ResourceClaim) {}, 0, "deallocation of ResourceClaim completed"},
		{"somebody does", func(c *resourcev1.ResourceClaim) {
			c.Status.ReservedFor = []resourcev1.ResourceClaimConsumerReference{{Resource: "pods", UID: "other"}}
		}, 0, "still not schedulable"},
		{"its devices are on their way", waiting(), 0, ""},
		{"they are ready", waiting(metav1.Condition{Type: "ready", Status: "True"}), time.Hour, ""},
		{"they failed", waiting(metav1.Condition{Type: "failed", Status: "True"}), 0, "deallocation of ResourceClaim completed"},
		{"they take too long", waiting(), 10 * time.Minute, "deallocation of ResourceClaim completed"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, silent := range []bool{false, true} {
				c := et.Case{
					Objects: mine(tc.claim), Pod: et.Pod("p", et.Claims("c")), Spec: rules.DefaultSpec(), Options: engine.Options{Now: et.Epoch.Add(tc.after)},
					Under: releaseWith(func(r *semantics.Release) { r.SilentAboutClaims = silent }),
				}
				d, err := c.Decide()
				if err != nil {
					t.Fatal(err)
				}
				want := "0/1 nodes are available: 1 resourceclaim not available on the node. " + tc.want + ", preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
				switch {
				case tc.want == "":
					want = ""
				case silent: // only what is not done
					want = strings.Replace(want, "still not schedulable, ", "", 1)
				}
				if d.Message != want {
					t.Errorf("silent %v: message %q, want %q", silent, d.Message, want)
				}
			}
		})
	}
}

// TestClaimOfAnotherPod: the text about it, before v1.36.
func TestClaimOfAnotherPod(t *testing.T) {
	of := ruleCase{objects: devicesOf(et.DeviceClaim("c")), pod: et.Pod("p", et.FromTemplate("c")), under: func(r *semantics.Release) { r.ClaimNotOwned = "%s/%s of pod %s/%s" }}
	if d := decide(t, of); d.Message != "default/c of pod default/p" {
		t.Errorf("%s %q", d.Outcome, d.Message)
	}
}

// TestNoClaimsToDeallocate: a pod without claims that fits nowhere has a text about them in its
// message, or none.
func TestNoClaimsToDeallocate(t *testing.T) {
	const full, rest = "0/1 nodes are available: 1 Insufficient cpu.", "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
	for silent, want := range map[bool]string{false: full + " no new claims to deallocate, " + rest, true: full + " " + rest} {
		c := et.Case{
			Objects: list(et.Node("n", et.Allocatable("cpu", "1"))), Pod: et.Pod("p", et.Requests("cpu", "2")), Spec: rules.DefaultSpec(),
			Under: releaseWith(func(r *semantics.Release) { r.SilentAboutClaims = silent }),
		}
		d, err := c.Decide()
		if err != nil {
			t.Fatal(err)
		}
		if d.Message != want {
			t.Errorf("silent %v: %q, want %q", silent, d.Message, want)
		}
	}
}

// TestScoresByDevicesAreNotGuessed: a profile that scores by a resource behind
// which a class stands leaves devices out, and says so.
func TestScoresByDevicesAreNotGuessed(t *testing.T) {
	name := "example.com/gpu"
	class := change(et.DeviceClass("gpu"), func(c *resourcev1.DeviceClass) { c.Spec.ExtendedResourceName = &name })
	spec := rules.DefaultSpec()
	spec.Args.NodeResourcesFit.Resources = []rules.ResourceWeight{{Name: "cpu", Weight: 1}, {Name: name, Weight: 1}}
	spec.Args.Balanced.Resources = spec.Args.NodeResourcesFit.Resources
	objects := list(et.Node("a"), et.Slice("s", "a", et.Device("d")))
	for _, tc := range []struct {
		name    string
		objects []any
		pod     *corev1.Pod
		want    []string
	}{
		{"asked for, and a class stands behind it", append(objects, class), et.Pod("p", et.Requests(name, "1")), []string{"NodeResourcesFit", "NodeResourcesBalancedAllocation"}},
		{"not asked for", append(objects, class), et.Pod("p"), nil},
		{"no class", objects, et.Pod("p", et.Requests(name, "1")), nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			for _, n := range decide(t, ruleCase{objects: tc.objects, pod: tc.pod, spec: &spec}).NotEvaluated {
				got = append(got, n.Plugin)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("not evaluated (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAlphaDevicesAreNotGuessed: what is behind gates that are off fails as it
// fails upstream.
func TestAlphaDevicesAreNotGuessed(t *testing.T) {
	d := et.Device("d")
	d.Attributes["models"] = resourcev1.DeviceAttribute{StringValues: []string{"x", "y"}}
	c := et.Case{Objects: devicesOf(et.DeviceClaim("c", et.Wants("r", "gpu", 1)), et.Slice("s", "a", d)), Pod: et.Pod("p", et.Claims("c")), Spec: rules.DefaultSpec()}
	if d, err := c.Decide(); err == nil || !strings.Contains(err.Error(), "unsupported attribute value") {
		t.Errorf("got %v, %v", d, err)
	}
}

// TestDevicesFollowTheState: what is remembered of claims, slices and classes
// goes with them, also while a Decider or a Walk remembers more.
func TestDevicesFollowTheState(t *testing.T) {
	profile, err := rules.Build(rules.DefaultSpec())
	if err != nil {
		t.Fatal(err)
	}
	s, err := et.State(devicesOf(et.DeviceClaim("c", et.Wants("r", "gpu", 1)))...)
	if err != nil {
		t.Fatal(err)
	}
	w := recall.NewDecider(0).Walk(s)
	pod := et.Pod("p", et.Claims("c"))
	for _, step := range []struct {
		name   string
		change func(*state.Edit) error
		want   string
	}{
		{"nothing is published", func(*state.Edit) error { return nil }, ""},
		{"a device is", func(e *state.Edit) error { return e.Put(et.Slice("s", "a", et.Device("d"))) }, "a"},
		{"somebody takes it", func(e *state.Edit) error { return e.Put(et.Given(et.DeviceClaim("other"), "a", "s/d")) }, ""},
		{"another one comes", func(e *state.Edit) error { return e.Put(et.Slice("t", "b", et.Device("d"))) }, "b"},
		{"a node goes", func(e *state.Edit) error { e.Delete("Node", "", "b"); return nil }, ""},
		{"the first is given back", func(e *state.Edit) error { e.Delete("ResourceClaim", "default", "other"); return nil }, "a"},
		{"the class changes its mind", func(e *state.Edit) error { return e.Put(et.DeviceClass("gpu", "false")) }, ""},
	} {
		if err := step.change(w.Changes()); err != nil {
			t.Fatal(err)
		}
		r, err := w.Decide(pod, profile, engine.Options{NoPreemption: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Node(); got != step.want {
			t.Errorf("%s: %q, want %q", step.name, got, step.want)
		}
		r.Release()
	}
}
