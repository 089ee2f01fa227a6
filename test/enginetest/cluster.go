package enginetest

import (
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/rules"
	"berth/internal/engine/state"
	"berth/internal/semantics"
)

// Case is one question: a cluster, the pod that wants a node, and how it is
// judged.
type Case struct {
	Objects []any
	Pod     *corev1.Pod
	Spec    rules.Spec
	Options engine.Options
	Under   *semantics.Release // stands in for that of Spec; nil: that one
}

// State compiles objects, one after the other.
func State(objects ...any) (*state.State, error) {
	e := state.NewState().Edit()
	for _, o := range objects {
		if err := e.Put(o); err != nil {
			return nil, err
		}
	}
	return e.Done(), nil
}

// Decide answers the case with the engine, every node written out.
func (c *Case) Decide() (*engine.Decision, error) {
	s, err := State(c.Objects...)
	if err != nil {
		return nil, err
	}
	return c.DecideOn(s)
}

// DecideOn answers the case's question on a given state.
func (c *Case) DecideOn(s *state.State) (*engine.Decision, error) {
	build := rules.Build
	if c.Under != nil {
		build = func(s rules.Spec) (*engine.Profile, error) { return rules.BuildUnder(s, c.Under) }
	}
	p, err := build(c.Spec)
	if err != nil {
		return nil, err
	}
	r, err := engine.Decide(s, c.Pod, p, c.Options)
	if err != nil {
		return nil, err
	}
	defer r.Release()
	return explain.Decision(r, engine.ExplainFull), nil
}

// Key names an object of a case.
func Key(obj any) (kind, namespace, name string) {
	if o, ok := obj.(metav1.Object); ok {
		return reflect.TypeOf(obj).Elem().Name(), o.GetNamespace(), o.GetName()
	}
	return fmt.Sprintf("%T", obj), "", ""
}
