package enginetest

import (
	"encoding/json"
	"os"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/explain/digest"
	"berth/internal/engine/recall"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	"berth/internal/jsonscan"
)

// Seeds returns how many random cases a test goes through: n, or what
// BERTH_CASES sets. BERTH_SEED sets the first one.
func Seeds(t testing.TB, n uint64) (from, to uint64) {
	t.Helper()
	read := func(name string, value uint64) uint64 {
		s := os.Getenv(name)
		if s == "" {
			return value
		}
		v, err := strconv.ParseUint(s, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return v
	}
	from = read("BERTH_SEED", 1)
	return from, from + read("BERTH_CASES", n)
}

// Fresh compiles objects into a state of its own.
func Fresh(t testing.TB, objects ...any) *state.State {
	t.Helper()
	s, err := State(objects...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// DecideFunc is what engine.Decide and Decider.Decide have in common.
type DecideFunc func(*state.State, *corev1.Pod, *engine.Profile, engine.Options) (*engine.Result, error)

// Everything is all that can be read off an answer, as text. It checks that Encode writes the
// answer as Decision and WriteMembers do.
func Everything(t testing.TB, decide DecideFunc, s *state.State, pod *corev1.Pod, p *engine.Profile, o engine.Options) string {
	t.Helper()
	r, err := decide(s, pod, p, o)
	if err != nil {
		return "error: " + err.Error()
	}
	defer r.Release()
	totals := make([]int64, s.Nodes().Len())
	for row := range totals {
		totals[row] = r.Total(row)
	}
	raw, err := json.Marshal([]any{digest.Of(r), explain.Decision(r, engine.ExplainFull), explain.TopScores(r, 5), rejectedNames(r), explain.Failures(r), totals, r.Top, r.Scored})
	if err != nil {
		t.Fatal(err)
	}
	var w jsonscan.Writer
	explain.Decision(r, engine.ExplainFailures).WriteMembers(&w)
	if _, e := explain.Encode(r, engine.ExplainFailures); string(e.Append(nil)) != string(w.JSON) {
		t.Errorf("%s: encoded\n%s\nwritten\n%s", pod.Name, e.Append(nil), w.JSON)
	}
	return string(raw)
}

// rejectedNames names the nodes of each entry of explain.Failures.
func rejectedNames(r *engine.Result) (names [][]string) {
	list, _ := explain.RejectedRows(r)
	for _, rows := range list {
		var own []string
		for row := range r.Nodes().ByName(rows) {
			own = append(own, r.Nodes().Node(row).Name)
		}
		names = append(names, own)
	}
	return names
}

// Only is the default profile with nothing but these plugins filtering and
// scoring.
func Only(names ...string) rules.Spec {
	all := rules.DefaultSpec()
	s := rules.Spec{SchedulerName: all.SchedulerName, Args: all.Args}
	for _, n := range names {
		weight, _ := rules.Known(n)
		s.Enable(n, weight)
	}
	return s
}

// InTwoSteps compiles objects, every other pod by an edit of its own.
func InTwoSteps(t testing.TB, objects []any) (early, late *state.State) {
	t.Helper()
	var first, second []any
	for i, o := range objects {
		if _, isPod := o.(*corev1.Pod); isPod && i%2 == 0 {
			second = append(second, o)
		} else {
			first = append(first, o)
		}
	}
	early = Fresh(t, first...)
	e := early.Edit()
	for _, o := range second {
		if err := e.Put(o); err != nil {
			t.Fatal(err)
		}
	}
	return early, e.Done()
}

// Remembering decides by a Decider that has met the pod before, on another state.
func Remembering(early *state.State, pod *corev1.Pod, p *engine.Profile, o engine.Options) DecideFunc {
	d := recall.NewDecider(0)
	if r, err := d.Decide(early, pod, p, o); err == nil {
		r.Release()
	}
	return d.Decide
}
