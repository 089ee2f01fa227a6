package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"berth/internal/store"
)

// anyCalls are the calls of a store that no other file registers.
var anyCalls = calls{
	"Append": func(ctx context.Context, s store.Store) error {
		return s.Append(ctx, []*store.Entry{{Decision: decision("prod", "late", at(1))}})
	},
	"Newest":   func(ctx context.Context, s store.Store) error { _, err := s.Newest(ctx, "prod"); return err },
	"Revision": func(ctx context.Context, s store.Store) error { _, err := s.Revision(ctx, "prod", 1); return err },
	"RevisionsAfter": func(ctx context.Context, s store.Store) error {
		_, err := s.RevisionsAfter(ctx, "prod", 0, 1)
		return err
	},
	"ListRevisions": func(ctx context.Context, s store.Store) error {
		_, err := s.ListRevisions(ctx, "prod", 0, 1)
		return err
	},
	"CheckpointAt": func(ctx context.Context, s store.Store) error {
		_, err := s.CheckpointAt(ctx, "prod", 1, nil)
		return err
	},
	"PutCheckpoint": func(ctx context.Context, s store.Store) error {
		return s.PutCheckpoint(ctx, &store.Checkpoint{Cluster: "prod", Number: 1})
	},
	"DeleteRevision": func(ctx context.Context, s store.Store) error { return s.DeleteRevision(ctx, "prod", 1) },
	"Clusters": func(ctx context.Context, s store.Store) error {
		_, err := s.Clusters(ctx, store.ClusterFilter{})
		return err
	},
	"DeleteCluster": func(ctx context.Context, s store.Store) error { return s.DeleteCluster(ctx, "prod") },
	"Decision":      func(ctx context.Context, s store.Store) error { _, err := s.Decision(ctx, "d1"); return err },
	"ListDecisions": func(ctx context.Context, s store.Store) error {
		_, err := s.ListDecisions(ctx, store.DecisionFilter{})
		return err
	},
	"FollowDecisions": func(ctx context.Context, s store.Store) error {
		_, err := s.FollowDecisions(ctx, "prod", 0, 1)
		return err
	},
	"Profile": func(ctx context.Context, s store.Store) error { _, err := s.Profile(ctx, "p"); return err },
	"Retain":  func(ctx context.Context, s store.Store) error { _, err := s.Retain(ctx, at(0)); return err },
	"Sizes":   func(ctx context.Context, s store.Store) error { _, err := s.Sizes(ctx); return err },
	"Prune":   func(ctx context.Context, s store.Store) error { _, err := s.Prune(ctx, at(0)); return err },
	"Usage":   func(ctx context.Context, s store.Store) error { _, err := s.Usage(ctx); return err },
	"Heads":   func(ctx context.Context, s store.Store) error { _, err := s.Heads(ctx); return err },
	"TryLock": func(ctx context.Context, s store.Store) error {
		unlock, ok, err := s.TryLock(ctx, "work")
		if ok {
			unlock()
		}
		return err
	},
	"LockChain": func(ctx context.Context, s store.Store) error {
		end, err := s.LockChain(ctx, "prod")
		if err == nil {
			end()
		}
		return err
	},
	"Ping": func(ctx context.Context, s store.Store) error { return s.Ping(ctx) },
}

// Gated shuts a store's gate: each call but Append and Ping is refused at once, and one that is
// under way ends. block returns a call that does not end by itself, and waits until it is under
// way.
func Gated(t *testing.T, s store.Store, gate *store.Gate, block func() <-chan error) {
	t.Helper()
	appendAll(t, s, revision("prod", 1), &store.Entry{Decision: decision("prod", "d1", at(1))})
	away := fmt.Errorf("%w: as the test has it", store.ErrUnavailable)
	blocked := block()
	gate.Shut(away)
	if err := <-blocked; !errors.Is(err, away) || errors.Is(err, context.Canceled) {
		t.Errorf("the call under way: error %v, want %v", err, away)
	}
	for name, call := range allCalls {
		want := away
		if name == "Append" || name == "Ping" {
			want = nil
		}
		wantErr(t, name, call(t.Context(), s), want)
	}
	gate.Open()
	if _, err := s.Decision(t.Context(), "late"); err != nil {
		t.Errorf("through the open gate: %v", err)
	}
}

func init() {
	register("Lifecycle", cases{
		"Ping": func(t *testing.T, s store.Store) { wantErr(t, "Ping", s.Ping(t.Context()), nil) },
		"CancelledContext": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1), &store.Entry{Decision: decision("prod", "d1", at(1))})
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			for name, call := range allCalls {
				wantErr(t, name, call(ctx, s), context.Canceled)
			}
			same(t, "nothing happened", int64(1), newest(t, s, "prod"))
			sameList(t, "nothing was written", []string{"d1"}, ids(t, s, store.DecisionFilter{}))
		},
		"UseAfterClose": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1))
			wantErr(t, "Close", s.Close(), nil)
			for name, call := range allCalls {
				wantErr(t, name, call(t.Context(), s), store.ErrClosed)
			}
			wantErr(t, "a second Close", s.Close(), nil)
		},
	}, anyCalls)
}
