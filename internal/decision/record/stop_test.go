package record_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/store"
	"berth/test/logtest"
)

// ending is a context that ends when it is looked at for the nth time, so that a
// question can be cut short anywhere without a clock.
type ending struct {
	context.Context
	mu    sync.Mutex
	looks int
	done  chan struct{}
}

func (e *ending) Done() <-chan struct{} {
	_ = e.Err()
	return e.done
}

func (e *ending) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.looks--; e.looks >= 0 {
		return nil
	}
	if e.looks == -1 {
		close(e.done)
	}
	return context.DeadlineExceeded
}

// TestStoppedDecisionsAreNotRecorded allocates devices for callers whose time is up at one point or
// another. Each gets the whole answer or the context's error, and nothing else is recorded.
func TestStoppedDecisionsAreNotRecorded(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	claiming := logtest.Object(t, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"w","namespace":"d","uid":"uid-w"},"spec":{"resourceClaims":[{"name":"g","resourceClaimName":"c"}],"containers":[{"name":"c"}]}}`)
	logtest.Upload(t, h, logtest.Node(t, "n1", 4), logtest.Node(t, "n2", 4), claiming,
		logtest.Object(t, `{"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass","metadata":{"name":"any"},"spec":{}}`),
		logtest.Object(t, `{"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice","metadata":{"name":"s"},"spec":{"driver":"gpu.example.com","allNodes":true,"pool":{"name":"p","generation":1,"resourceSliceCount":1},"devices":[{"name":"d"}]}}`),
		logtest.Object(t, `{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"c","namespace":"d"},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"any","allocationMode":"ExactCount","count":1}}]}}}`))
	ref := &object.Key{Kind: "Pod", Namespace: "d", Name: "w"}
	for name, ask := range map[string]func(context.Context) (engine.Outcome, error){
		"decide": func(ctx context.Context) (engine.Outcome, error) {
			return outcome(h.Decide(ctx, decision.Question{PodRef: ref}))
		},
		"dry": func(ctx context.Context) (engine.Outcome, error) {
			return outcome(h.Decide(ctx, decision.Question{PodRef: ref, DryRun: true}))
		},
		"judge": func(ctx context.Context) (got engine.Outcome, err error) {
			_, err = logtest.Record(ctx, h, decision.Question{Verb: decision.VerbFilter, PodRef: ref}, func(_ *revision.View, r *engine.Result) error {
				got = r.Outcome
				return nil
			})
			return got, err
		},
	} {
		for looks := 0; ; looks++ {
			got, err := ask(&ending{Context: context.Background(), looks: looks, done: make(chan struct{})})
			var input *decision.Error
			if err == nil && got != engine.Scheduled || err != nil && (!errors.Is(err, context.DeadlineExceeded) || errors.As(err, &input)) {
				t.Fatalf("%s, ended at look %d: %s, %v", name, looks, got, err)
			}
			if err == nil {
				break
			}
		}
	}
	list, err := h.List(t.Context(), store.DecisionFilter{Cluster: "default", Limit: 100})
	if err != nil || len(list) < 2 {
		t.Fatalf("%d records, %v", len(list), err)
	}
	for _, d := range list {
		r, err := h.Replay(t.Context(), d.ID, record.Overrides{})
		if err != nil || !r.Identical || r.Decision.Outcome != engine.Scheduled {
			t.Fatalf("%s: %+v, %v", d.Verb, r, err)
		}
	}
}

func outcome(a *decision.Answer, err error) (engine.Outcome, error) {
	if err != nil {
		return "", err
	}
	return a.Outcome, nil
}
