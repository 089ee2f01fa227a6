package upstream

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/recall"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	"berth/internal/semantics"
	"berth/test/conformance/oracle"
	"berth/test/enginetest"
)

// release is the one of the plugins that this module links: that of berth's types, so that both fit
// into one program.
var release = semantics.OfStamp("v1.37")

// mostPods bounds the pods of large clusters, so that they fit the memory of a small machine.
const mostPods = 600_000

// size is that of the cluster: 5,000 nodes with 30 pods each, or BENCH_NODES.
func size(tb testing.TB) enginetest.Size {
	s := enginetest.FullSize
	if text := os.Getenv("BENCH_NODES"); text != "" {
		nodes, err := strconv.Atoi(text)
		if err != nil {
			tb.Fatalf("BENCH_NODES: %v", err)
		}
		s.Nodes, s.Pods = nodes, min(30*nodes, mostPods)
	}
	return s
}

// config is the configuration of a question's profile: upstream's default, but for the plugins that
// a profile of fewer names, or without default spreading.
func config(tb testing.TB, s rules.Spec) json.RawMessage {
	tb.Helper()
	type plugin struct {
		Name   string `json:"name"`
		Weight int64  `json:"weight,omitempty"`
	}
	profile := map[string]any{"schedulerName": corev1.DefaultSchedulerName}
	if full := rules.DefaultSpec(); len(s.Filter) < len(full.Filter) {
		enabled := []plugin{{Name: "DefaultBinder"}, {Name: "PrioritySort"}}
		weights := map[string]int64{}
		for _, w := range s.Score {
			weights[w.Name] = w.Weight
		}
		for _, name := range s.Filter {
			enabled = append(enabled, plugin{name, weights[name]})
			delete(weights, name)
		}
		for _, w := range s.Score {
			if weight, left := weights[w.Name]; left {
				enabled = append(enabled, plugin{w.Name, weight})
			}
		}
		profile["plugins"] = map[string]any{"multiPoint": map[string]any{"enabled": enabled, "disabled": []plugin{{Name: "*"}}}}
	}
	if !s.Args.PodTopologySpread.System {
		profile["pluginConfig"] = []any{map[string]any{"name": "PodTopologySpread", "args": map[string]any{"defaultingType": "List"}}}
	}
	raw, err := json.Marshal(map[string]any{
		"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", "profiles": []any{profile},
	})
	if err != nil {
		tb.Fatal(err)
	}
	return raw
}

// open builds upstream's scheduler over a cluster of its own.
func open(b *testing.B, s rules.Spec, objects []any, pod *corev1.Pod) *oracle.Cycles {
	b.Helper()
	c, err := oracle.Open(b.Context(), config(b, s), objects, pod.DeepCopy())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(c.Close)
	return c
}

func compiled(b *testing.B, objects ...any) *state.State {
	b.Helper()
	s, err := enginetest.State(objects...)
	if err != nil {
		b.Fatal(err)
	}
	return s
}

// bound returns states that follow one another by a bind each.
func bound(b *testing.B, s *state.State, n int) []*state.State {
	b.Helper()
	out := []*state.State{s}
	for i := range n {
		e := out[i].Edit()
		if err := e.Bind(enginetest.LargePod(i%500, fmt.Sprintf("bound-%d", i)), s.Nodes().Node(i*7%s.Nodes().Len()).Name); err != nil {
			b.Fatal(err)
		}
		out = append(out, e.Done())
	}
	return out
}

// BenchmarkDecide compares one decision over all nodes: upstream's cycle, berth's from nothing, and
// berth's in a running service, which knows the kind of pod from before the last bind.
func BenchmarkDecide(b *testing.B) {
	objects := enginetest.Large(size(b))
	chain := bound(b, compiled(b, objects...), 100)
	s := chain[0]
	for _, q := range enginetest.Questions() {
		p, err := rules.BuildUnder(q.Spec, release)
		if err != nil {
			b.Fatal(err)
		}
		r, err := engine.Decide(s, q.Pod, p, engine.Options{})
		if err != nil {
			b.Fatal(err)
		}
		feasible := r.Feasible.Count()
		r.Release()
		b.Run(q.Name+"/upstream", func(b *testing.B) {
			c := open(b, q.Spec, objects, q.Pod)
			for b.Loop() {
				if n, err := c.Schedule(b.Context()); err != nil || n != feasible {
					b.Fatalf("%d feasible nodes, berth has %d: %v", n, feasible, err)
				}
			}
		})
		b.Run(q.Name+"/first", func(b *testing.B) {
			for b.Loop() {
				ask(b, engine.Decide, s, q.Pod, p)
			}
		})
		b.Run(q.Name+"/again", func(b *testing.B) {
			d, i := recall.NewDecider(0), 0
			ask(b, d.Decide, s, q.Pod, p) // learns the kind of pod
			for b.Loop() {
				at := i % (2 * len(chain)) // forth and back
				if at >= len(chain) {
					at = 2*len(chain) - 1 - at
				}
				ask(b, d.Decide, chain[at], q.Pod, p)
				i++
			}
			if c := d.Counters(); c.Plain > 0 {
				b.Fatalf("%+v", c)
			}
		})
	}
}

func ask(b *testing.B, decide enginetest.DecideFunc, s *state.State, pod *corev1.Pod, p *engine.Profile) {
	r, err := decide(s, pod, p, engine.Options{})
	if err != nil {
		b.Fatal(err)
	}
	r.Release()
}

// BenchmarkPreempt compares one decision about a pod that fits nowhere, with all nodes tried.
func BenchmarkPreempt(b *testing.B) {
	p, err := rules.BuildUnder(rules.SpecOf(release), release)
	if err != nil {
		b.Fatal(err)
	}
	for _, budgets := range []bool{false, true} {
		objects, list := enginetest.LargeFull(size(b))
		name := "noBudgets"
		if budgets {
			name, objects = fmt.Sprintf("%dbudgets", len(list)), append(objects, list...)
		}
		s := compiled(b, objects...)
		b.Run(name+"/berth", func(b *testing.B) {
			for b.Loop() {
				r, err := engine.Decide(s, enginetest.Urgent(), p, engine.Options{Now: enginetest.Now})
				if err != nil || r.Outcome != engine.Preempting {
					b.Fatal(r.Outcome, err)
				}
				r.Release()
			}
		})
		b.Run(name+"/upstream", func(b *testing.B) {
			c := open(b, rules.DefaultSpec(), objects, enginetest.Urgent())
			for b.Loop() {
				if n, err := c.Preempt(b.Context()); err != nil || n != s.Nodes().Count() {
					b.Fatalf("%d candidates of %d nodes: %v", n, s.Nodes().Count(), err)
				}
			}
		})
	}
}
