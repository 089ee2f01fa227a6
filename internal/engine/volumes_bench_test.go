package engine_test

import (
	"fmt"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	"berth/test/enginetest"
)

// stored is the large cluster with two local volumes a node, of as many sizes as
// there are, and a volume of one zone that is bound.
var stored = sync.OnceValue(func() *state.State {
	_, s := large()
	e := s.Edit()
	put := func(o any) {
		if err := e.Put(o); err != nil {
			panic(err)
		}
	}
	put(enginetest.Class("local", "kubernetes.io/no-provisioner"))
	put(enginetest.Class("fast", "csi.example.com"))
	for i := range 2 * s.Nodes().Count() {
		put(enginetest.Volume(fmt.Sprintf("local-%05d", i), "local", fmt.Sprintf("%dMi", 10_000+i*7919%10_000), enginetest.ReachableFrom(corev1.LabelHostname, fmt.Sprintf("node-%05d", i/2))))
	}
	zones := enginetest.ReachableFrom(corev1.LabelTopologyZone, "zone-a", "zone-b", "zone-c")
	put(enginetest.Volume("zonal", "fast", "10Gi", zones, enginetest.VolumeLabels(corev1.LabelTopologyZone, "zone-a__zone-b__zone-c")))
	return e.Done()
})

// BenchmarkVolumes asks about pods that mount a claim: one that is matched to one
// of ten thousand local volumes on every node, one that a class provisions for,
// one that is bound to a volume of all zones, and one whose storage changed since
// it was last asked about.
func BenchmarkVolumes(b *testing.B) {
	for _, bench := range []struct {
		name    string
		claim   *corev1.PersistentVolumeClaim
		changes bool
	}{
		{"matched", enginetest.Claim("c", "local", "1Gi"), false},
		{"provisioned", enginetest.Claim("c", "fast", "1Gi"), false},
		{"boundZonal", enginetest.Claim("c", "fast", "1Gi", enginetest.BoundTo("zonal")), false},
		{"matchedAfterChange", enginetest.Claim("c", "local", "1Gi"), true},
	} {
		b.Run(bench.name, func(b *testing.B) {
			q := enginetest.Question{Name: bench.name, Pod: enginetest.LargePod(0, "asked", enginetest.Tolerate("dedicated", corev1.TolerationOpExists, "", ""), enginetest.Mounts("c")), Spec: rules.DefaultSpec()}
			bench.claim.Namespace = q.Pod.Namespace
			e := stored().Edit()
			if err := e.Put(bench.claim); err != nil {
				b.Fatal(err)
			}
			s := e.Done()
			p := profileOf(b, &q, s)
			b.ReportAllocs()
			for b.Loop() {
				if bench.changes {
					e := s.Edit()
					if err := e.Put(bench.claim); err != nil {
						b.Fatal(err)
					}
					s = e.Done()
				}
				r, err := engine.Decide(s, q.Pod, p, engine.Options{})
				if err != nil {
					b.Fatal(err)
				}
				r.Release()
			}
		})
	}
}
