package explain_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/recall"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	"berth/test/enginetest"
)

// naiveRows sorts all feasible rows.
func naiveRows(r *engine.Result, n int) []int32 {
	var rows []int32
	for _, row := range r.Nodes().Order() { // so that of equals the first by name stays first
		if r.Feasible.Has(int(row)) {
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(rows, func(a, b int32) int { return int(r.Total(int(b)) - r.Total(int(a))) })
	return rows[:min(n, len(rows))]
}

// naiveSecond looks at the total of each row.
func naiveSecond(r *engine.Result) (int64, bool) {
	second := int64(math.MinInt64)
	for row := range r.Feasible.All() {
		if t := r.Total(row); t < r.Top {
			second = max(second, t)
		}
	}
	return second, r.Scored && second > math.MinInt64
}

// checkBest compares the best rows and the second total with those that calls of Total give.
func checkBest(t *testing.T, name string, r *engine.Result) {
	t.Helper()
	for _, n := range []int{0, 1, 3, 10, 1000} {
		if want, got := naiveRows(r, n), r.BestRows(n); !slices.Equal(want, got) {
			t.Fatalf("%s: the best %d rows are %v, want %v", name, n, got, want)
		}
	}
	want, wantOK := naiveSecond(r)
	if got, ok := r.Second(); ok != wantOK || ok && got != want {
		t.Fatalf("%s: the second total is %d, %v, want %d, %v", name, got, ok, want, wantOK)
	}
}

// TestBestRows compares the best rows of decisions on several hundred nodes, which no memo and a
// memo made, whose rows are in order of names and are not, with those of a sort.
func TestBestRows(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(seed, 3))
		objects := enginetest.Large(enginetest.Size{Nodes: 150 + r.IntN(200), Pods: 3000, Apps: 50})
		if seed%2 == 1 {
			r.Shuffle(len(objects), func(i, j int) { objects[i], objects[j] = objects[j], objects[i] })
		}
		s := enginetest.Fresh(t, objects...)
		if s.Nodes().InOrder() == (seed%2 == 1) {
			t.Fatalf("seed %d: the rows are in the wrong order", seed)
		}
		d := recall.NewDecider(0)
		for range 12 {
			e := s.Edit()
			if err := e.Bind(enginetest.LargePod(r.IntN(50), fmt.Sprint(r.Uint64())), s.Nodes().Node(r.IntN(s.Nodes().Len())).Name); err != nil {
				t.Fatal(err)
			}
			s = e.Done()
			for _, q := range enginetest.Questions() {
				p, err := rules.Build(q.Spec)
				if err != nil {
					t.Fatal(err)
				}
				for _, decide := range []enginetest.DecideFunc{engine.Decide, d.Decide} {
					for _, o := range []engine.Options{{}, {NoScores: true}, {Candidates: someOf(s, r)}} {
						checkDecided(t, q.Name, decide, s, q.Pod, p, o)
					}
				}
			}
		}
	}
}

func checkDecided(t *testing.T, name string, decide enginetest.DecideFunc, s *state.State, pod *corev1.Pod, p *engine.Profile, o engine.Options) {
	t.Helper()
	res, err := decide(s, pod, p, o)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Release()
	checkBest(t, name, res)
}

// someOf returns the names of about a third of the nodes.
func someOf(s *state.State, r *rand.Rand) (names []string) {
	for row := range s.Nodes().Alive().All() {
		if r.IntN(3) == 0 {
			names = append(names, s.Nodes().Node(row).Name)
		}
	}
	return names
}
