package audit

import (
	"context"
	"errors"
	"testing"

	"berth/internal/cluster"
	"berth/internal/engine"
	"berth/internal/objects"
	"berth/internal/store"
)

// TestNobodyRecordsAStoppedDecision asks for devices on behalf of a caller that is
// gone: what comes of it is the context's error, whichever way it was asked, and
// no record. The same question is answered in full afterwards.
func TestNobodyRecordsAStoppedDecision(t *testing.T) {
	h := open(t, t.TempDir())
	claiming := object(t, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"w","namespace":"d","uid":"uid-w"},"spec":{"resourceClaims":[{"name":"g","resourceClaimName":"c"}],"containers":[{"name":"c"}]}}`)
	upload(t, h, node(t, "n1", 4), node(t, "n2", 4), claiming,
		object(t, `{"apiVersion":"resource.k8s.io/v1","kind":"DeviceClass","metadata":{"name":"any"},"spec":{}}`),
		object(t, `{"apiVersion":"resource.k8s.io/v1","kind":"ResourceSlice","metadata":{"name":"s"},"spec":{"driver":"gpu.example.com","allNodes":true,"pool":{"name":"p","generation":1,"resourceSliceCount":1},"devices":[{"name":"d"}]}}`),
		object(t, `{"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":{"name":"c","namespace":"d"},"spec":{"devices":{"requests":[{"name":"r","exactly":{"deviceClassName":"any","allocationMode":"ExactCount","count":1}}]}}}`))
	ref := &objects.Key{Kind: "Pod", Namespace: "d", Name: "w"}
	past, cancel := context.WithCancel(t.Context())
	cancel()
	for name, ask := range map[string]func(context.Context) error{
		"decide": func(ctx context.Context) error { _, err := h.Decide(ctx, Question{PodRef: ref}); return err },
		"dry": func(ctx context.Context) error {
			_, err := h.Decide(ctx, Question{PodRef: ref, DryRun: true})
			return err
		},
		"decide and bind": func(ctx context.Context) error {
			_, err := h.Decide(ctx, Question{PodRef: ref, Bind: true})
			return err
		},
		"judge": func(ctx context.Context) error {
			_, err := h.Judge(ctx, Question{Verb: VerbFilter, PodRef: ref}, func(*cluster.View, *engine.Result) error { return nil })
			return err
		},
	} {
		var input *InputError
		if err := ask(past); !errors.Is(err, context.Canceled) || errors.As(err, &input) {
			t.Errorf("%s: %v", name, err)
		}
	}
	list, err := h.List(t.Context(), store.DecisionFilter{Cluster: "default", Limit: 10})
	if err != nil || len(list) > 0 {
		t.Fatalf("%d records, %v", len(list), err)
	}
	a := decide(t, h, Question{PodRef: ref})
	if a.Outcome != engine.Scheduled || len(a.Devices) != 1 {
		t.Fatalf("%+v", a.Decision)
	}
	if _, err := h.Replay(past, a.ID, Overrides{}); !errors.Is(err, context.Canceled) {
		t.Errorf("replay: %v", err)
	}
	if r, err := h.Replay(t.Context(), a.ID, Overrides{}); err != nil || !r.Identical {
		t.Errorf("replay: %v", err)
	}
}
