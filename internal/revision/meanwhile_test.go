package revision

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/store"
)

// What a step does meanwhile does not wait for the step's write, with a revision and without.
func TestMeanwhileTheStepIsWritten(t *testing.T) {
	h, g := gated(t)
	for name, step := range map[string]*Step{
		"bind":   {Bind: &Bind{Pod: pod(t, "p", "").Value.(*corev1.Pod), Node: "n1"}},
		"record": {Decision: &store.Decision{ID: "d", Cluster: "prod", Revision: 1}},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		hold, called := make(chan struct{}), false
		g.set(hold)
		step.Meanwhile = func() {
			called = true
			close(hold)
		}
		_, _, err := h.Update(ctx, "prod", 0, func(*View) (*Step, error) { return step, nil })
		if cancel(); err != nil || !called {
			t.Errorf("%s: %v, called: %v", name, err, called)
		}
	}
}

// Whatever becomes of the caller, the outcome of a write is recorded.
func TestUnsettledWriteEnds(t *testing.T) {
	h, g := gated(t)
	for name, meanwhile := range map[string]func(context.CancelFunc){
		"panic": func(context.CancelFunc) { panic("a bug") },
		"gone":  func(cancel context.CancelFunc) { cancel() },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		hold := make(chan struct{})
		g.set(hold)
		func() {
			defer func() { _ = recover() }()
			_, _, err := h.Update(ctx, "prod", 0, func(*View) (*Step, error) {
				return &Step{Bind: &Bind{Pod: pod(t, name, "").Value.(*corev1.Pod), Node: "n1"}, Meanwhile: func() { meanwhile(cancel) }}, nil
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", name, err)
			}
		}()
		cancel()
		close(hold)
		within, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		_, _, err := h.Update(within, "prod", 0, func(v *View) (*Step, error) {
			_, err := v.Pod("d", name)
			return nil, err
		})
		if cancel(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
