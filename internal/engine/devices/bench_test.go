package devices_test

import (
	"fmt"
	"testing"

	resourcev1 "k8s.io/api/resource/v1"

	"berth/internal/engine/devices"
	et "berth/test/enginetest"
)

// BenchmarkAllocate sets the search beside its twin, which judges all that was
// given out at every device that it adds. Steps are devices that were looked at;
// the twin's are lists of devices that it judged.
func BenchmarkAllocate(b *testing.B) {
	gpus := et.Slice("s", "n", append(numbered(4, "red"), numbered(4, "blue")...)...)
	none := node(et.Slice("s", "n", append(numbered(5, "red"), numbered(5, "blue")...)...))
	stubborn, differing := impossible()
	for _, c := range []struct {
		name    string
		objects []any
		claim   *resourcev1.ResourceClaim
		bound   int
		twin    bool
	}{
		{"first", node(gpus), et.DeviceClaim("c", et.Wants("r", "any", 1)), devices.MaxSteps, true},
		{"constrained", node(gpus), with(et.DeviceClaim("c", et.Wants("r", "any", 3), et.Wants("s", "red", 1)), match("color")), devices.MaxSteps, true},
		{"partitions", partitions(), et.DeviceClaim("c", et.Wants("r", "any", 2)), devices.MaxSteps, true},
		{"none", none, et.DeviceClaim("c", et.Wants("r", "any", 5), et.Wants("s", "any", 6)), devices.MaxSteps, true},
		{"bound", stubborn, differing, devices.MaxSteps, false},
	} {
		claims := []*resourcev1.ResourceClaim{c.claim}
		b.Run(c.name+"/search", func(b *testing.B) {
			inv, set := at(b, c.objects...)
			b.ReportAllocs()
			steps := 0
			for b.Loop() {
				left := c.bound
				_, _ = inv.Allocate(b.Context(), compiled, set, 0, claims, &left)
				steps = c.bound - left
			}
			b.ReportMetric(float64(steps), "steps/op")
		})
		if !c.twin {
			continue
		}
		b.Run(c.name+"/twin", func(b *testing.B) {
			b.ReportAllocs()
			w := newTwin(c.objects)
			w.prefix = true
			for b.Loop() {
				w.judged = 0
				w.allocate(claims)
			}
			b.ReportMetric(float64(w.judged), "steps/op")
		})
	}
}

// BenchmarkKinds sorts devices into kinds for a claim that would rather have all:
// ten times as many take about ten times as long.
func BenchmarkKinds(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			inv, set := at(b, node(et.Slice("s", "n", numbered(n, "red")...))...)
			sort, err := inv.Kinds(b.Context(), compiled, set, []*resourcev1.ResourceClaim{et.DeviceClaim("c", et.FirstOf("r", et.Wants("all", "any", 0), et.Wants("one", "any", 1)))})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if _, ok, err := sort(); err != nil || !ok {
					b.Fatal(ok, err)
				}
			}
		})
	}
}
