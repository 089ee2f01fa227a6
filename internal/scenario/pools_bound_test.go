package scenario_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine/rules"
	"berth/internal/revision"
	"berth/internal/scenario"
	"berth/internal/world"
	"berth/test/enginetest"
)

// twoPools is a problem with two pools.
type twoPools struct {
	v        *revision.View
	o        world.Options
	arrivals []world.Arrival
	pools    []scenario.NodePool
}

// placed returns how many pods a run with the counts places.
func (p *twoPools) placed(t *testing.T, counts ...int) int {
	t.Helper()
	e := &scenario.Edits{}
	for i, n := range counts {
		if n > 0 {
			e.AddNodes = append(e.AddNodes, scenario.AddNodes{Like: p.pools[i].Like, Count: &n})
		}
	}
	edited, err := wide().Apply(t.Context(), p.v, "edits", e)
	if err != nil {
		t.Fatal(err)
	}
	f := world.NewFork(edited.View, p.o)
	if _, err := f.Run(t.Context(), edited.Daemons, world.Limits{}, nil); err != nil {
		t.Fatal(err)
	}
	out, err := f.Run(t.Context(), p.arrivals, world.Limits{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return out.Placed
}

// choice is counts, what they cost and how many pods they place.
type choice struct {
	cost   float64
	placed int
}

// all runs every combination of counts.
func (p *twoPools) all(t *testing.T) (list []choice) {
	t.Helper()
	for a := range *p.pools[0].Max + 1 {
		for b := range *p.pools[1].Max + 1 {
			list = append(list, choice{float64(a)**p.pools[0].Cost + float64(b)**p.pools[1].Cost, p.placed(t, a, b)})
		}
	}
	return list
}

// randomPools draws nodes with pods, pods that wait, and two of the nodes as pools.
func randomPools(t *testing.T, seed uint64, most, pods int) *twoPools {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 42))
	one := func(list ...string) string { return list[r.IntN(len(list))] }
	chance := func(percent int) bool { return r.IntN(100) < percent }
	var objects []any
	for i := range 2 + r.IntN(5) {
		opts := []enginetest.NodeOption{
			enginetest.Zone(one("za", "zb", "zc")), enginetest.NodeLabels("pool", one("web", "batch")),
			enginetest.Allocatable("cpu", one("2", "4", "8"), "memory", one("4Gi", "8Gi", "16Gi"), "pods", one("4", "8", "30")),
		}
		if chance(20) {
			opts = append(opts, enginetest.Taint("dedicated", "db", corev1.TaintEffectNoSchedule))
		}
		if chance(20) {
			opts = append(opts, enginetest.Allocatable("example.com/gpu", "2"))
		}
		name := fmt.Sprintf("n%d", i)
		objects = append(objects, enginetest.Node(name, opts...))
		for k := range r.IntN(4) {
			app := one("app0", "app1", "app2")
			opts := []enginetest.PodOption{enginetest.On(name), enginetest.Labels("app", app), enginetest.Requests("cpu", one("250m", "500m", "1"), "memory", one("256Mi", "1Gi"))}
			if chance(20) {
				opts = append(opts, enginetest.Owner("apps/v1", "DaemonSet", fmt.Sprintf("%s-%d", app, k)))
			}
			objects = append(objects, enginetest.Pod(fmt.Sprintf("%s-%s-%d", app, name, k), opts...))
		}
	}
	p := &twoPools{v: viewOf(t, objects...), pools: []scenario.NodePool{like("n0", most, float64(5+r.IntN(30))/10), like("n1", most, float64(5+r.IntN(30))/10)}}
	p.o = world.Options{Profiles: profileOf(t, rules.DefaultSpec()), Now: noon, NoPreemption: true}
	for app := range 1 + r.IntN(4) {
		p.arrivals = append(p.arrivals, waiting(1+r.IntN(pods), fmt.Sprintf("waits-%d", app), randomPod(fmt.Sprintf("app%d", app), one, chance)...)...)
	}
	return p
}

// randomPod draws what pods of an app request and demand.
func randomPod(app string, one func(...string) string, chance func(int) bool) []enginetest.PodOption {
	same := &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
	opts := []enginetest.PodOption{enginetest.Labels("app", app), enginetest.Requests("cpu", one("250m", "500m", "900m", "1500m", "3"), "memory", one("256Mi", "1Gi", "3Gi"))}
	for _, c := range []struct {
		percent int
		option  func() enginetest.PodOption
	}{
		{20, func() enginetest.PodOption {
			return enginetest.Spread(corev1.LabelTopologyZone, 1, corev1.DoNotSchedule, same)
		}},
		{15, func() enginetest.PodOption {
			return enginetest.Away(corev1.PodAffinityTerm{TopologyKey: corev1.LabelHostname, LabelSelector: same})
		}},
		{10, func() enginetest.PodOption { return enginetest.HostPort("", corev1.ProtocolTCP, 8080) }},
		{25, func() enginetest.PodOption { return enginetest.Selects("pool", one("web", "batch")) }},
		{40, func() enginetest.PodOption {
			return enginetest.Tolerate("dedicated", corev1.TolerationOpExists, "", "")
		}},
		{10, func() enginetest.PodOption { return enginetest.Requests("example.com/gpu", "1") }},
		{20, func() enginetest.PodOption { return enginetest.Priority(100) }},
	} {
		if chance(c.percent) {
			opts = append(opts, c.option())
		}
	}
	return opts
}

// TestPoolsBound compares the bound and the choice of random problems with every combination of
// counts: a bound that is shown is never above the cheapest that places as many pods, and within a
// tenth of it.
func TestPoolsBound(t *testing.T) {
	for _, c := range []struct {
		name                               string
		problems, most, pods, shown, worse int
	}{
		{"small", 70, 4, 6, 70, 0},
		{"larger", 20, 11, 16, 15, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			problems, shown, optimal := 0, 0, 0
			var gaps []float64
			for seed := uint64(0); problems < c.problems; seed++ {
				p := randomPools(t, seed, c.most, c.pods)
				got, err := wide().CountPools(t.Context(), p.v, p.o, p.arrivals, slices.Clone(p.pools))
				if err != nil {
					t.Fatalf("seed %d: %v", seed, err)
				}
				most, cheapest, best := 0, -1.0, -1.0
				for _, one := range p.all(t) {
					if most < one.placed {
						most, best = one.placed, one.cost
					} else if most == one.placed {
						best = min(best, one.cost)
					}
					if one.placed-got.Already >= got.Choice.Placed && (cheapest < 0 || one.cost < cheapest) {
						cheapest = one.cost
					}
				}
				if cheapest == 0 {
					continue // no node helps, or none is needed
				}
				problems++
				if most-got.Already == got.Choice.Placed && got.Choice.Cost < best+1e-9 {
					optimal++
				} else {
					t.Logf("seed %d: the choice places %d for %g, the best %d for %g", seed, got.Choice.Placed, got.Choice.Cost, most-got.Already, best)
				}
				if got.Bound == nil {
					continue
				}
				bound := got.Bound.Cost
				shown++
				gaps = append(gaps, 100*(cheapest-bound)/cheapest)
				if bound > cheapest+1e-9 || bound < 0.9*cheapest {
					t.Errorf("seed %d: bound %g, the cheapest is %g", seed, bound, cheapest)
				}
			}
			slices.Sort(gaps)
			if shown < c.shown || optimal < problems-c.worse {
				t.Errorf("%d bounds shown, want %d or more; %d choices optimal", shown, c.shown, optimal)
			}
			t.Logf("%d problems, %d choices optimal, %d bounds shown, gap median %.1f %%, worst %.1f %%", problems, optimal, shown, gaps[len(gaps)/2], gaps[len(gaps)-1])
		})
	}
}
