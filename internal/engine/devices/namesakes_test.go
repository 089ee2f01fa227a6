package devices_test

import (
	"strings"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"

	"berth/internal/engine/devices"
	et "berth/test/enginetest"
)

// other is the driver of every second pool of namesakes.
const other = "other.example.com"

// drawing is a pool p of a driver with devices d0, d1 and so on that draw so much
// of counters "a", of which there is so much in the set.
func drawing(driver, set string, there int, consumption ...int) []any {
	s := et.Slice("p", "n")
	s.Name = driver + "-devices"
	for i, n := range consumption {
		d := et.Device("d" + string(rune('0'+i)))
		d.ConsumesCounters = []resourcev1.DeviceCounterConsumption{{CounterSet: set, Counters: map[string]resourcev1.Counter{"a": count(n)}}}
		s.Spec.Devices = append(s.Spec.Devices, d)
	}
	shared := et.Slice("p", "n")
	shared.Name = driver + "-counters"
	shared.Spec.SharedCounters = []resourcev1.CounterSet{{Name: set, Counters: map[string]resourcev1.Counter{"a": count(there)}}}
	for _, o := range []*resourcev1.ResourceSlice{s, shared} {
		o.Spec.Driver, o.Spec.Pool.ResourceSliceCount = driver, 2
	}
	return []any{s, shared}
}

// TestPoolsOfOneName: upstream keeps counters by the pool's name, whatever its driver, and uses
// those of the pool that is tried first.
func TestPoolsOfOneName(t *testing.T) {
	t.Parallel()
	classes := []any{et.Node("n"), et.DeviceClass("every", "true"), et.DeviceClass("gpu", `device.driver == "gpu.example.com"`), et.DeviceClass("other", `device.driver == "other.example.com"`)}
	one := func(name, class string) resourcev1.DeviceRequest { return et.Wants(name, class, 1) }
	held := et.Given(et.DeviceClaim("holder"), "n", "p/d0")
	held.Status.Allocation.Devices.Results[0].Driver = other
	for _, c := range []struct {
		name       string
		gpu, other []any
		held       []any
		requests   []resourcev1.DeviceRequest
		want       string
	}{
		{"both draw on the first's", drawing(et.Driver, "set", 3, 2), drawing(other, "set", 9, 2), nil, []resourcev1.DeviceRequest{one("r", "gpu"), one("q", "other")}, ""},
		{"whichever that is", drawing(et.Driver, "set", 3, 2), drawing(other, "set", 9, 2), nil, []resourcev1.DeviceRequest{one("r", "other"), one("q", "gpu")}, "r=other d0 q=gpu d0"},
		{"also more than there is of the second's", drawing(et.Driver, "set", 9, 2), drawing(other, "set", 1, 2), nil, []resourcev1.DeviceRequest{one("r", "gpu"), one("q", "other")}, "r=gpu d0 q=other d0"},
		{"alone each has its own", drawing(et.Driver, "set", 9, 2), drawing(other, "set", 1, 2), nil, []resourcev1.DeviceRequest{one("q", "other")}, ""},
		{"sets of other names are not looked at", drawing(et.Driver, "set", 2, 2), drawing(other, "own", 1, 2), nil, []resourcev1.DeviceRequest{one("r", "gpu"), one("q", "other")}, "r=gpu d0 q=other d0"},
		{"a take in vain is the first, too", drawing(et.Driver, "set", 1, 2), drawing(other, "set", 9, 1, 1), nil, []resourcev1.DeviceRequest{et.Wants("r", "every", 2)}, ""},
		{"what is held of the second is not the first's", drawing(et.Driver, "set", 3, 1), drawing(other, "set", 2, 2, 2), []any{held}, []resourcev1.DeviceRequest{one("r", "gpu"), one("q", "other")}, "r=gpu d0 q=other d1"},
		{"and the other way round it is", drawing(et.Driver, "set", 3, 1), drawing(other, "set", 2, 2, 2), []any{held}, []resourcev1.DeviceRequest{one("q", "other"), one("r", "gpu")}, ""},
	} {
		objects := append(append(append(append([]any{}, classes...), c.gpu...), c.other...), c.held...)
		inv, set := at(t, objects...)
		for range 2 { // the second time with what the first left behind
			given, err := allocate(inv, set, et.DeviceClaim("c", c.requests...))
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if got := byDriver(given); got != c.want {
				t.Errorf("%s: got %q, want %q", c.name, got, c.want)
			}
		}
	}
}

// TestWhoseCountersIsSettledFirst: a search that is hard from the start leaves
// nothing out that upstream would have tried and so had open the account.
func TestWhoseCountersIsSettledFirst(t *testing.T) {
	t.Parallel()
	objects := append(append([]any{et.Node("n"), et.DeviceClass("gpu", `device.driver == "gpu.example.com"`), et.DeviceClass("other", `device.driver == "other.example.com"`)},
		drawing(et.Driver, "set", 1, 1)...), drawing(other, "set", 9, 2)...)
	claim := et.DeviceClaim("c", et.FirstOf("r", et.Wants("two", "gpu", 2), et.Wants("one", "other", 1)))
	for _, hardAfter := range []int{devices.Never, 0} {
		inv, set := at(t, objects...)
		given, _, err := inv.AllocateBy(t.Context(), compiled, set, []*resourcev1.ResourceClaim{claim}, devices.MaxSteps, hardAfter)
		if err != nil || given != nil {
			t.Errorf("hard after %d: got %q, %v, want nothing", hardAfter, byDriver(given), err)
		}
	}
}

func byDriver(given []devices.Given) string {
	var out []string
	for _, g := range given {
		for _, d := range g.Devices {
			out = append(out, d.Request+"="+strings.TrimSuffix(d.Driver, ".example.com")+" "+d.Device)
		}
	}
	return strings.Join(out, " ")
}

// namesakes moves every second pool to another driver, under the name of the pool before it. The
// text of devices stays the same.
func namesakes(objects []any) []any {
	names := map[string]string{"pool1": "pool0", "pool3": "pool2", "pool5": "pool4"}
	for i, o := range objects {
		switch o := o.(type) {
		case *resourcev1.DeviceClass:
			if o.Name == "any" {
				objects[i] = et.DeviceClass("any", "true")
			}
		case *resourcev1.ResourceSlice:
			before, ok := names[o.Spec.Pool.Name]
			if !ok {
				continue
			}
			o.Spec.Driver, o.Spec.Pool.Name = other, before
			for k := range o.Spec.Devices {
				full := map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{}
				for name, a := range o.Spec.Devices[k].Attributes {
					full[et.Driver+"/"+name] = a
				}
				o.Spec.Devices[k].Attributes = full
			}
		case *resourcev1.ResourceClaim:
			r := &o.Status.Allocation.Devices.Results[0]
			if before, ok := names[r.Pool]; ok {
				r.Driver, r.Pool = other, before
			}
		}
	}
	return objects
}
