package storetest

import (
	"errors"
	"testing"
	"time"

	"berth/internal/store"
)

func init() {
	register("Leads", cases{
		"OneLeads": func(t *testing.T, s store.Store) {
			a := store.Lead{Cluster: "prod", Owner: "a", Synced: true, Stale: 1500 * time.Millisecond}
			b := store.Lead{Cluster: "prod", Owner: "b"}
			same(t, "a leads", store.Lead{Cluster: "prod", Owner: "a", Synced: true, Stale: a.Stale}, lead(t, s, a, time.Hour))
			now := lead(t, s, b, time.Hour)
			same(t, "b is told who leads, and how fresh", a, store.Lead{Cluster: now.Cluster, Owner: now.Owner, Synced: now.Synced, Stale: now.Stale})
			same(t, "another cluster is another matter", "b", lead(t, s, store.Lead{Cluster: "test", Owner: "b"}, time.Hour).Owner)
			wantErr(t, "Resign what another has", s.Resign(t.Context(), "prod", "b"), nil)
			same(t, "a still leads", "a", lead(t, s, b, time.Hour).Owner)
			wantErr(t, "Resign", s.Resign(t.Context(), "prod", "a"), nil)
			same(t, "b leads", "b", lead(t, s, b, time.Hour).Owner)
		},
		"LeaseRunsOut": func(t *testing.T, s store.Store) {
			lead(t, s, store.Lead{Cluster: "prod", Owner: "a", Synced: true}, 0)
			now := lead(t, s, store.Lead{Cluster: "prod", Owner: "b", Synced: true}, time.Hour)
			same(t, "b takes over", "b", now.Owner)
			same(t, "and cannot have read anything by then", false, now.Synced)
			now = lead(t, s, store.Lead{Cluster: "prod", Owner: "b", Synced: true}, time.Hour)
			same(t, "but later", true, now.Synced)
			same(t, "a is told", "b", lead(t, s, store.Lead{Cluster: "prod", Owner: "a"}, time.Hour).Owner)
		},
		"ClaimsAreChecked": func(t *testing.T, s store.Store) {
			for _, claim := range []store.Lead{{Owner: "a"}, {Cluster: "prod"}} {
				if _, err := s.Lead(t.Context(), claim, time.Hour); !errors.Is(err, store.ErrInvalid) {
					t.Errorf("%+v: %v, want ErrInvalid", claim, err)
				}
			}
		},
	})
}

func lead(t *testing.T, s store.Store, claim store.Lead, lease time.Duration) store.Lead {
	t.Helper()
	now, err := s.Lead(t.Context(), claim, lease)
	wantErr(t, "Lead", err, nil)
	return now
}
