package cluster

import (
	"context"
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
