package devices_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine/devices"
	et "berth/test/enginetest"
)

const (
	red = `device.attributes["gpu.example.com"].color == "red"`
)

func with[T any](o T, f func(T)) T {
	f(o)
	return o
}

// text writes what was given as request=pool/device, claims apart by a semicolon.
func text(given []devices.Given) string {
	var claims []string
	for _, g := range given {
		var list []string
		for _, d := range g.Devices {
			word := d.Request + "=" + d.Pool + "/" + d.Device
			if d.Admin {
				word += "!"
			}
			list = append(list, word)
		}
		claims = append(claims, strings.Join(list, " "))
	}
	return strings.Join(claims, "; ")
}

// node is a node with a class for all devices and what a case adds.
func node(more ...any) []any {
	return append([]any{et.Node("n"), et.DeviceClass("any", `device.driver == "gpu.example.com"`), et.DeviceClass("red", red)}, more...)
}

// numbered makes n devices of a color.
func numbered(n int, color string) (out []resourcev1.Device) {
	for i := range n {
		out = append(out, et.Device(fmt.Sprintf("%s%d", color, i), "color", color))
	}
	return out
}

func admin(r resourcev1.DeviceRequest) resourcev1.DeviceRequest {
	yes := true
	r.Exactly.AdminAccess = &yes
	return r
}

func match(attribute string, requests ...string) func(*resourcev1.ResourceClaim) {
	name := resourcev1.FullyQualifiedName("gpu.example.com/" + attribute)
	return func(c *resourcev1.ResourceClaim) {
		c.Spec.Devices.Constraints = append(c.Spec.Devices.Constraints, resourcev1.DeviceConstraint{Requests: requests, MatchAttribute: &name})
	}
}

func distinct(attribute string) func(*resourcev1.ResourceClaim) {
	name := resourcev1.FullyQualifiedName("gpu.example.com/" + attribute)
	return func(c *resourcev1.ResourceClaim) {
		c.Spec.Devices.Constraints = append(c.Spec.Devices.Constraints, resourcev1.DeviceConstraint{DistinctAttribute: &name})
	}
}

// partitions is a pool of three devices that draw 2, 2 and 1 of a counter of 3.
func partitions(held ...any) []any {
	s := et.Slice("p", "n", et.Device("half0"), et.Device("half1"), et.Device("small"))
	for i, n := range []int{2, 2, 1} {
		s.Spec.Devices[i].ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: "set", Counters: map[string]resourcev1.Counter{"a": count(n)}}}
	}
	shared := et.Slice("p", "n")
	shared.Name = "p-counters"
	shared.Spec.SharedCounters = []resourcev1.CounterSet{{Name: "set", Counters: map[string]resourcev1.Counter{"a": count(3)}}}
	s.Spec.Pool.ResourceSliceCount, shared.Spec.Pool.ResourceSliceCount = 2, 2
	return append(node(s, shared), held...)
}

// TestAllocate names the devices that claims get, in the order of upstream's first
// answer; the empty text stands for none.
func TestAllocate(t *testing.T) {
	t.Parallel()
	one, all := et.Wants("r", "any", 1), et.Wants("r", "any", 0)
	two := et.Slice("s", "n", append(numbered(1, "blue"), numbered(2, "red")...)...)
	tainted := with(et.Slice("s", "n", numbered(2, "red")...), func(s *resourcev1.ResourceSlice) {
		s.Spec.Devices[0].Taints = []resourcev1.DeviceTaint{{Key: "sick", Value: "very", Effect: resourcev1.DeviceTaintEffectNoSchedule}}
	})
	tolerating := func(o resourcev1.DeviceToleration) *resourcev1.ResourceClaim {
		return with(et.DeviceClaim("c", et.Wants("r", "any", 1)), func(c *resourcev1.ResourceClaim) {
			c.Spec.Devices.Requests[0].Exactly.Tolerations = []resourcev1.DeviceToleration{o}
		})
	}
	sharing := func(name, amount string) *resourcev1.ResourceClaim {
		return with(et.DeviceClaim(name, et.Wants("r", "any", 1)), func(c *resourcev1.ResourceClaim) {
			c.Spec.Devices.Requests[0].Exactly.Capacity = &resourcev1.CapacityRequirements{Requests: map[resourcev1.QualifiedName]resource.Quantity{"memory": resource.MustParse(amount)}}
		})
	}
	conditional := with(et.Slice("a", "n", et.Device("d")), func(s *resourcev1.ResourceSlice) { s.Spec.Devices[0].BindingConditions = []string{"ready"} })
	holder := func(devices ...string) any { return et.Given(et.DeviceClaim("holder"), "n", devices...) }
	claims := func(list ...*resourcev1.ResourceClaim) []*resourcev1.ResourceClaim { return list }
	for _, c := range []struct {
		name    string
		objects []any
		claims  []*resourcev1.ResourceClaim
		want    string
	}{
		{"the first in order", node(two), claims(et.DeviceClaim("c", one)), "r=s/blue0"},
		{"by class", node(two), claims(et.DeviceClaim("c", et.Wants("r", "red", 1))), "r=s/red0"},
		{"by request", node(two), claims(et.DeviceClaim("c", et.Wants("r", "any", 1, red))), "r=s/red0"},
		{"as many as asked for", node(two), claims(et.DeviceClaim("c", et.Wants("r", "red", 2))), "r=s/red0 r=s/red1"},
		{"or none", node(two), claims(et.DeviceClaim("c", et.Wants("r", "red", 3))), ""},
		{"not what another has", node(two, holder("s/red0")), claims(et.DeviceClaim("c", et.Wants("r", "red", 1))), "r=s/red1"},
		{"not what the pod has already", node(two), claims(et.DeviceClaim("c", one), et.DeviceClaim("d", one)), "r=s/blue0; r=s/red0"},
		{"an earlier request makes room", node(two), claims(et.DeviceClaim("c", et.Wants("r", "any", 2), et.Wants("b", "any", 1, `device.attributes["gpu.example.com"].color == "blue"`))), "r=s/red0 r=s/red1 b=s/blue0"},
		{"pools by name", node(et.Slice("z", "n", et.Device("d")), et.Slice("b", "n", et.Device("d"))), claims(et.DeviceClaim("c", one)), "r=b/d"},
		{"what takes preparation comes last", node(conditional, et.Slice("z", "n", et.Device("d"))), claims(et.DeviceClaim("c", one)), "r=z/d"},

		{"all", node(two), claims(et.DeviceClaim("c", et.Wants("r", "red", 0))), "r=s/red0 r=s/red1"},
		{"all of none", node(et.Slice("s", "n", numbered(1, "blue")...)), claims(et.DeviceClaim("c", et.Wants("r", "red", 0))), ""},
		{"all of which one is taken", node(two, holder("s/red0")), claims(et.DeviceClaim("c", et.Wants("r", "red", 0))), ""},
		{"all before some", node(two), claims(et.DeviceClaim("c", et.Wants("b", "red", 0), one)), "b=s/red0 b=s/red1 r=s/blue0"},
		{"some of all", node(two), claims(et.DeviceClaim("c", one, et.Wants("b", "any", 0))), ""},
		{"32 are not too many", node(et.Slice("s", "n", numbered(32, "red")...)), claims(et.DeviceClaim("c", all)), strings.TrimSuffix(strings.Repeat("r=s/red# ", 32), " ")},

		{"administration beside others", node(et.Slice("s", "n", et.Device("d")), holder("s/d")), claims(et.DeviceClaim("c", admin(et.Wants("r", "any", 1)))), "r=s/d!"},
		{"not twice in a claim", node(et.Slice("s", "n", et.Device("d"))), claims(et.DeviceClaim("c", admin(et.Wants("r", "any", 1)), admin(et.Wants("s", "any", 1)))), ""},
		{"but in two", node(et.Slice("s", "n", et.Device("d"))), claims(et.DeviceClaim("c", one), et.DeviceClaim("d", admin(et.Wants("r", "any", 1)))), "r=s/d; r=s/d!"},
		{"only after whoever needs it", node(et.Slice("s", "n", et.Device("d"))), claims(et.DeviceClaim("c", admin(et.Wants("r", "any", 1))), et.DeviceClaim("d", one)), ""},

		{"the first alternative that can be had", node(two), claims(et.DeviceClaim("c", et.FirstOf("r", et.Wants("x", "red", 3), et.Wants("y", "red", 2), et.Wants("z", "any", 1)))), "r/y=s/red0 r/y=s/red1"},
		{"with what follows", node(two), claims(et.DeviceClaim("c", et.FirstOf("r", et.Wants("x", "any", 3), et.Wants("y", "any", 1)), et.Wants("b", "red", 2))), "r/y=s/blue0 b=s/red0 b=s/red1"},
		{"none of the alternatives", node(two), claims(et.DeviceClaim("c", et.FirstOf("r", et.Wants("x", "any", 4), et.Wants("y", "red", 3)))), ""},

		{"of one color", node(two), claims(with(et.DeviceClaim("c", et.Wants("r", "any", 2)), match("color"))), "r=s/red0 r=s/red1"},
		{"across requests", node(two), claims(with(et.DeviceClaim("c", et.Wants("r", "any", 1), et.Wants("b", "red", 1)), match("color"))), "r=s/red0 b=s/red1"},
		{"only in those named", node(two), claims(with(et.DeviceClaim("c", et.Wants("r", "any", 1), et.Wants("b", "red", 2)), match("color", "b"))), "r=s/blue0 b=s/red0 b=s/red1"},
		{"or in an alternative", node(two), claims(with(et.DeviceClaim("c", et.FirstOf("r", et.Wants("x", "any", 3), et.Wants("y", "any", 2))), match("color", "r/x"))), "r/y=s/blue0 r/y=s/red0"},
		{"without the attribute", node(et.Slice("s", "n", et.Device("d"), et.Device("e"))), claims(with(et.DeviceClaim("c", et.Wants("r", "any", 1)), match("color"))), ""},
		{"of different colors", node(two), claims(with(et.DeviceClaim("c", et.Wants("r", "red", 1), et.Wants("b", "any", 1)), distinct("color"))), "r=s/red0 b=s/blue0"},
		{"no third color", node(two), claims(with(et.DeviceClaim("c", et.Wants("r", "red", 1), et.Wants("b", "any", 1), et.Wants("x", "any", 1)), distinct("color"))), ""},
		{"a color forgotten on the way back", node(et.Slice("s", "n", et.Device("d0", "color", "blue"), et.Device("d1", "color", "red"), et.Device("d2", "color", "blue"))), claims(with(et.DeviceClaim("c", et.Wants("r", "any", 2), et.Wants("b", "red", 1)), distinct("color"))), "r=s/d0 r=s/d2 b=s/d1"},

		{"a taint", node(tainted), claims(et.DeviceClaim("c", one)), "r=s/red1"},
		{"tolerated by key", node(tainted), claims(tolerating(resourcev1.DeviceToleration{Key: "sick", Operator: resourcev1.DeviceTolerationOpExists})), "r=s/red0"},
		{"tolerated by value", node(tainted), claims(tolerating(resourcev1.DeviceToleration{Key: "sick", Value: "very"})), "r=s/red0"},
		{"another value", node(tainted), claims(tolerating(resourcev1.DeviceToleration{Key: "sick", Value: "a bit"})), "r=s/red1"},
		{"another effect", node(tainted), claims(tolerating(resourcev1.DeviceToleration{Operator: resourcev1.DeviceTolerationOpExists, Effect: resourcev1.DeviceTaintEffectNoExecute})), "r=s/red1"},

		{"partitions", partitions(), claims(et.DeviceClaim("c", et.Wants("r", "any", 2))), "r=p/half0 r=p/small"},
		{"too many of them", partitions(), claims(et.DeviceClaim("c", et.Wants("r", "any", 3))), ""},
		{"beside held ones", partitions(holder("p/half1")), claims(et.DeviceClaim("c", one)), "r=p/small"},

		{"shares", node(et.Slice("s", "n", et.Capacity(et.Device("d"), "10Gi", true))), claims(sharing("c", "6Gi"), sharing("d", "4Gi")), "r=s/d; r=s/d"},
		{"too large ones", node(et.Slice("s", "n", et.Capacity(et.Device("d"), "10Gi", true))), claims(sharing("c", "6Gi"), sharing("d", "5Gi")), ""},
		{"of what there is not", node(et.Slice("s", "n", et.Device("d"))), claims(sharing("c", "1Gi")), ""},
		{"one of its own has room for what is asked", node(et.Slice("s", "n", et.Capacity(et.Device("d"), "1Gi", false), et.Capacity(et.Device("e"), "10Gi", false))), claims(sharing("c", "6Gi")), "r=s/e"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inv, set := at(t, c.objects...)
			got, err := allocate(inv, set, c.claims...)
			if err != nil {
				t.Fatal(err)
			}
			want := c.want
			for i := 0; strings.Contains(want, "#"); i++ {
				want = strings.Replace(want, "#", fmt.Sprint(i), 1)
			}
			if text(got) != want || (got == nil) != (want == "") {
				t.Errorf("got %q, want %q", text(got), want)
			}
		})
	}
}

// TestAllocateFails names what ends a decision, and where a search does not come
// to it.
func TestAllocateFails(t *testing.T) {
	t.Parallel()
	plain := et.Slice("s", "n", et.Device("d"), et.Device("e", "color", "red"))
	pool := with(et.Slice("s", "n", et.Device("d")), func(s *resourcev1.ResourceSlice) { s.Spec.Pool.ResourceSliceCount = 2 })
	for _, c := range []struct {
		name    string
		objects []any
		claim   *resourcev1.ResourceClaim
		want    string
	}{
		{"a selector that fails", node(plain), et.DeviceClaim("c", et.Wants("r", "any", 1, red)), "claim default/c: selector #0: CEL runtime error: no such key: color"},
		{"behind the answer", node(et.Slice("s", "n", et.Device("d", "color", "red"), et.Device("e"))), et.DeviceClaim("c", et.Wants("r", "any", 1, red)), ""},
		{"on a device that is taken", node(plain, et.Given(et.DeviceClaim("holder"), "n", "s/d")), et.DeviceClaim("c", et.Wants("r", "any", 1, red)), ""},
		{"one that does not compile", node(plain), et.DeviceClaim("c", et.Wants("r", "any", 1, "device.nothing")), "claim default/c: selector #0: CEL compile error: "},
		{"one of a class", node(plain), et.DeviceClaim("c", et.Wants("r", "red", 1)), "class red: selector #0: CEL runtime error: no such key: color"},
		{"all of an incomplete pool", node(pool), et.DeviceClaim("c", et.Wants("r", "any", 0)), "asks for all devices, but resource pool gpu.example.com/s is currently being updated"},
		{"all of an invalid one", node(et.Slice("s", "n", et.Device("d"), et.Device("d"))), et.DeviceClaim("c", et.Wants("r", "any", 0)), "is currently invalid"},
		{"some of an invalid one", node(et.Slice("s", "n", et.Device("d"), et.Device("d"))), et.DeviceClaim("c", et.Wants("r", "any", 1)), "invalid resource pools"},
		{"all under a constraint", node(plain), with(et.DeviceClaim("c", et.Wants("r", "any", 0)), match("color")), "cannot add device gpu.example.com/s/d because a claim constraint would not be satisfied"},
		{"more than an allocation holds", node(plain), et.DeviceClaim("c", et.Wants("r", "any", 33)), "number of requested devices 33 exceeds the claim limit of 32"},
		{"in all alternatives", node(et.Slice("s", "n", numbered(40, "red")...)), et.DeviceClaim("c", et.FirstOf("r", et.Wants("x", "any", 20), et.Wants("y", "any", 30)), et.FirstOf("s", et.Wants("x", "any", 12), et.Wants("y", "any", 13)), et.FirstOf("t", et.Wants("x", "any", 1))), "exceeds the claim limit"},
		{"no class", node(plain), et.DeviceClaim("c", et.Wants("r", "gone", 1)), `could not retrieve device class gone: deviceclass.resource.k8s.io "gone" not found`},
		{"no constraint that is known", node(plain), with(et.DeviceClaim("c", et.Wants("r", "any", 1)), func(c *resourcev1.ResourceClaim) {
			c.Spec.Devices.Constraints = make([]resourcev1.DeviceConstraint, 1)
		}), "constraint #0: empty constraint"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inv, set := at(t, c.objects...)
			got, err := allocate(inv, set, c.claim)
			switch {
			case c.want == "" && (err != nil || got == nil):
				t.Errorf("got %q, %v", text(got), err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %q, %v, want %s", text(got), err, c.want)
			}
		})
	}
}

// impossible is a search that upstream would go on with for hours: values have to
// differ within a request, so that nothing can be left out.
func impossible() ([]any, *resourcev1.ResourceClaim) {
	list := numbered(16, "red")
	for i := range list {
		n := int64(i)
		list[i].Attributes["size"] = resourcev1.DeviceAttribute{IntValue: &n}
	}
	return node(et.Slice("s", "n", list...)), with(et.DeviceClaim("c", et.Wants("r", "any", 8), et.Wants("s", "any", 8), et.Wants("t", "any", 1)), distinct("size"))
}

func TestABudgetIsForAllNodes(t *testing.T) {
	t.Parallel()
	objects, claim := impossible()
	inv, set := at(t, objects...)
	for _, budget := range []int{0, 1, 5000} {
		left := budget
		if _, err := inv.Allocate(t.Context(), compiled, set, 0, []*resourcev1.ResourceClaim{claim}, &left); !errors.Is(err, devices.ErrGaveUp) || left > 0 {
			t.Errorf("a budget of %d: %v, %d left", budget, err, left)
		}
	}
	left := devices.Budget
	if _, err := inv.Allocate(t.Context(), compiled, set, 0, []*resourcev1.ResourceClaim{claim}, &left); !errors.Is(err, devices.ErrGaveUp) || devices.Budget-left != devices.MaxSteps+1 {
		t.Errorf("%v, %d steps", err, devices.Budget-left)
	}
}

// TestHardSearchesEnd has searches come to an end that would take more steps than
// there are atoms, were devices that are alike not tried but once.
func TestHardSearchesEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		claim *resourcev1.ResourceClaim
	}{
		{"two requests for more than there is", et.DeviceClaim("c", et.Wants("r", "any", 12), et.Wants("s", "any", 13))},
		{"one color each", with(et.DeviceClaim("c", et.Wants("r", "any", 8), et.Wants("s", "any", 8)), match("color"))},
		{"a choice", et.DeviceClaim("c", et.FirstOf("r", et.Wants("x", "any", 12), et.Wants("y", "any", 11)), et.Wants("s", "any", 14))},
	} {
		inv, set := at(t, node(et.Slice("s", "n", append(numbered(12, "red"), numbered(12, "blue")...)...))...)
		budget := devices.Budget
		got, err := inv.Allocate(t.Context(), compiled, set, 0, []*resourcev1.ResourceClaim{c.claim}, &budget)
		if used := devices.Budget - budget; err != nil || got != nil || used > 100_000 {
			t.Errorf("%s: got %q, %v after %d steps", c.name, text(got), err, used)
		}
	}
}

func TestSurvey(t *testing.T) {
	t.Parallel()
	sick := et.Device("sick", "color", "red")
	sick.Taints = []resourcev1.DeviceTaint{{Key: "sick", Effect: resourcev1.DeviceTaintEffectNoExecute}}
	inv, set := at(t, node(et.Slice("s", "n", append(numbered(3, "red"), append(numbered(1, "blue"), sick)...)...),
		et.Slice("twice", "n", et.Device("d"), et.Device("d")),
		with(et.Slice("part", "n", et.Device("d")), func(s *resourcev1.ResourceSlice) { s.Spec.Pool.ResourceSliceCount = 2 }),
		et.Given(et.DeviceClaim("holder"), "n", "s/red0"))...)
	needs, broken := inv.Availability(compiled, set, 0, []*resourcev1.ResourceClaim{et.DeviceClaim("c", et.Wants("r", "red", 4), et.FirstOf("s", et.Wants("x", "any", 5)))})
	want := []devices.Need{{Claim: "c", Request: "r", Class: "red", Needed: 4, Matching: 4, Free: 2}, {Claim: "c", Request: "s/x", Class: "any", Needed: 5, Matching: 5, Free: 3}}
	if diff := cmp.Diff(want, needs); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]devices.BrokenPool{{"gpu.example.com/part", "incomplete"}, {"gpu.example.com/twice", "duplicate device name d"}}, broken); diff != "" {
		t.Error(diff)
	}
}

// TestExtendedRequests writes containers' requests for resources as requests for
// devices.
func TestExtendedRequests(t *testing.T) {
	t.Parallel()
	class := func(name corev1.ResourceName) *resourcev1.DeviceClass {
		if name == "example.com/gpu" {
			return et.DeviceClass("any")
		}
		return nil
	}
	container := func(n string) corev1.Container {
		return corev1.Container{Resources: corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("1"), "example.com/gpu": resource.MustParse(n)}}}
	}
	always := corev1.ContainerRestartPolicyAlways
	sidecar := container("1")
	sidecar.RestartPolicy = &always
	for _, c := range []struct {
		name        string
		first, last []corev1.Container
		want        string
	}{
		{"each its own", nil, []corev1.Container{container("1"), container("2")}, "container-0-request-1=1 container-1-request-1=2"},
		{"what ends makes room", []corev1.Container{container("2")}, []corev1.Container{container("1"), container("1")}, "container-1-request-1=1 container-2-request-1=1"},
		{"what it needs besides", []corev1.Container{container("5"), container("4")}, []corev1.Container{container("2")}, "container-0-request-1=3 container-2-request-1=2"},
		{"a sidecar stays", []corev1.Container{sidecar}, []corev1.Container{container("2")}, "container-0-request-1=1 container-1-request-1=2"},
		{"nothing", nil, []corev1.Container{container("0")}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: corev1.PodSpec{InitContainers: c.first, Containers: c.last}}
			var got []string
			for _, r := range devices.ExtendedRequests(pod, []corev1.ResourceName{"example.com/gpu", "example.com/other"}, class) {
				got = append(got, fmt.Sprintf("%s=%d", r.Name, r.Exactly.Count))
				if r.Exactly.DeviceClassName != "any" || r.Exactly.AllocationMode != resourcev1.DeviceAllocationModeExactCount {
					t.Errorf("%+v", r.Exactly)
				}
			}
			if strings.Join(got, " ") != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
