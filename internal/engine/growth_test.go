package engine_test

import (
	"fmt"
	"runtime"
	"testing"

	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	"berth/test/enginetest"
)

// allocated returns how many bytes f allocates. Nothing else may run meanwhile.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestNominatedPodsCostLittle decides beside no nominated pods and beside 500: each adds less than
// a thousand bytes. A state and a PreFilter of its own for each node would be tens of thousands.
func TestNominatedPodsCostLittle(t *testing.T) {
	p, err := rules.Build(rules.DefaultSpec())
	if err != nil {
		t.Fatal(err)
	}
	const nominated = 500
	asked := enginetest.Pod("asked", enginetest.Requests("cpu", "100m"))
	decide := func(n int) uint64 {
		var objects []any
		for i := range nominated {
			objects = append(objects, enginetest.Node(fmt.Sprint("n", i)))
		}
		for i := range n {
			objects = append(objects, enginetest.Pod(fmt.Sprint("w", i), enginetest.Requests("cpu", "1"), enginetest.Priority(5), enginetest.NominatedTo(fmt.Sprint("n", i))))
		}
		s := enginetest.Fresh(t, objects...)
		return allocated(func() {
			r, err := engine.Decide(s, asked, p, engine.Options{})
			if err != nil {
				t.Fatal(err)
			}
			r.Release()
		})
	}
	decide(0)
	if none, many := decide(0), decide(nominated); many > none+nominated*1000 {
		t.Errorf("a decision allocates %d bytes, and %d beside %d nominated pods", none, many, nominated)
	}
}

// TestBindsToACrowdedNodeCostLittle binds pods to a node with 100 pods and to one with 30,000, in
// edits of one bind and in place.
func TestBindsToACrowdedNodeCostLittle(t *testing.T) {
	const binds = 50
	build := func(n int) *state.State {
		e := state.NewState().Edit()
		objects := []any{enginetest.Node("n1")}
		for i := range n {
			objects = append(objects, enginetest.Pod(fmt.Sprint("p", i), enginetest.On("n1")))
		}
		for _, o := range objects {
			if err := e.Put(o); err != nil {
				t.Fatal(err)
			}
		}
		return e.Done()
	}
	pods := make([]any, binds)
	for i := range pods {
		pods[i] = enginetest.Pod(fmt.Sprint("new", i), enginetest.On("n1"))
	}
	few, many := build(100), build(30_000)
	for how, bind := range map[string]func(s *state.State){
		"edits": func(s *state.State) {
			for _, p := range pods {
				e := s.Edit()
				if err := e.Put(p); err != nil {
					t.Fatal(err)
				}
				s = e.Done()
			}
		},
		"in place": func(s *state.State) {
			w := s.EditInPlace()
			for _, p := range pods {
				if err := w.Edit().Put(p); err != nil {
					t.Fatal(err)
				}
				w.Next()
			}
		},
	} {
		bind(few)
		a, b := allocated(func() { bind(few) }), allocated(func() { bind(many) })
		if b > a+binds*20_000 {
			t.Errorf("%s: %d binds allocate %d bytes on a node with 100 pods, and %d on one with 30,000", how, binds, a, b)
		}
		if got := many.PodsOn(0).Len(); got != 30_000 {
			t.Errorf("%s: the state before has %d pods", how, got)
		}
	}
}
