package scenario_test

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strconv"
	"testing"
	"time"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/kube/object"
	"berth/internal/scenario"
	"berth/internal/world"
	"berth/test/enginetest"
)

// BenchmarkCompare has 100,000 pods of 500 apps arrive under two configurations.
func BenchmarkCompare(b *testing.B) {
	v := fullSize()
	q := scenario.Request{Profiles: []scenario.Configuration{{Name: "today"}, {Name: "packed"}}}
	count := 200
	for app := range enginetest.FullSize.Apps {
		o, err := object.Of(decision.WithKind(enginetest.LargePod(app, "asked", enginetest.Priority(0))))
		if err != nil {
			b.Fatal(err)
		}
		q.Arrivals.Workloads = append(q.Arrivals.Workloads, scenario.Workload{Pod: json.RawMessage(o.JSON), Count: &count})
	}
	began := cpuTime(b)
	for b.Loop() {
		got, err := simulateWithin(b, v, q, scenario.Bounds{Pods: 100_000, Attempts: 1_000_000, Profiles: 2})
		if err != nil || got.Profiles[0].Placed != 100_000 || got.Profiles[1].Placed != 100_000 {
			b.Fatal(err)
		}
	}
	b.ReportMetric((cpuTime(b)-began).Seconds()/float64(b.N), "cpu-s/op")
}

// BenchmarkMemory measures what a run of 10,000 arrivals keeps beside its base.
func BenchmarkMemory(b *testing.B) {
	heap := func() float64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	profiles := map[string][]*engine.Profile{}
	for name, list := range configs(b) {
		profiles[name] = list
	}
	empty := heap()
	v := viewOf(b, enginetest.Large(enginetest.FullSize)...)
	base := heap() - empty
	arrivals := arrivalsOf(10_000, 500, true)
	for b.Loop() {
		before := heap()
		f := world.NewFork(v, world.Options{Profiles: profiles["today"], Now: noon})
		if _, err := f.Run(b.Context(), arrivals, world.Limits{}, nil); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(100*(heap()-before)/base, "percent-of-base")
		runtime.KeepAlive(f)
	}
	b.ReportMetric(base/(1<<20), "base-MiB")
	runtime.KeepAlive(v)
}

// BenchmarkDrainHundred drains one of 5,000 nodes, which has 100 pods.
func BenchmarkDrainHundred(b *testing.B) {
	objects := enginetest.Large(enginetest.FullSize)
	for i := range 70 {
		objects = append(objects, enginetest.LargePod(10*i, fmt.Sprintf("more-%d", i), enginetest.On("node-00000")))
	}
	v, profiles := viewOf(b, objects...), profileOf(b, rules.DefaultSpec())
	pods := v.State.PodsOn(v.State.Nodes().Row("node-00000")).Len()
	o := scenario.DrainQuestion{NodeChoice: chosen("node-00000"), Force: true}
	began := cpuTime(b)
	for b.Loop() {
		f := world.NewFork(v, world.Options{Profiles: profiles, Now: noon})
		if out, err := o.On(b.Context(), f); err != nil || out.Totals.Evicted < 100 {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(pods), "pods")
	b.ReportMetric(float64((cpuTime(b)-began).Microseconds())/1000/float64(b.N), "cpu-ms/op")
}

// BenchmarkEvents has a million things happen that no attempt follows, ten a second, on 5,000
// nodes.
func BenchmarkEvents(b *testing.B) {
	const events = 1_000_000
	f := world.NewFork(viewOf(b, enginetest.Large(enginetest.FullSize)...), world.Options{Profiles: configs(b)["today"], Now: noon})
	began := cpuTime(b)
	for b.Loop() {
		w, err := world.New(b.Context(), f, time.Second)
		if err != nil {
			b.Fatal(err)
		}
		happened := 0
		for i := range int64(events) {
			w.At(i*7919%(events/10), strconv.FormatInt(i, 36), func() error { happened++; return nil })
		}
		if err := w.Finish(); err != nil || happened != events {
			b.Fatal(happened, err)
		}
	}
	b.ReportMetric(events*float64(b.N)/(cpuTime(b)-began).Seconds(), "events/cpu-s")
}
