package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"berth/internal/store"
)

func init() {
	register("Holds", cases{
		"RoundTrip": func(t *testing.T, s store.Store) {
			_, err := s.Hold(t.Context(), "h1")
			wantErr(t, "Hold", err, store.ErrNotFound)
			made := held("prod", "h1", 2, at(60))
			appendAll(t, s, revision("prod", 1), holding(change("prod", 2), made))
			same(t, "held", made, theHold(t, s, "h1"))
			ended := endOf(made, store.HoldCommitted, 3)
			ended.EndedBy = "token:ci"
			appendAll(t, s, holding(change("prod", 3), ended))
			ended.Undo = nil
			same(t, "committed", ended, theHold(t, s, "h1"))
		},
		"OnlyWithItsRevision": func(t *testing.T, s store.Store) {
			made := held("prod", "h1", 2, at(60))
			appendAll(t, s, revision("prod", 1), holding(change("prod", 2), made))
			first, rival := change("prod", 3), change("prod", 3)
			rival.Revision.Token = "rival"
			holding(first, endOf(made, store.HoldExpired, 3))
			holding(rival, endOf(made, store.HoldCommitted, 3))
			refused(t, s, []*store.Entry{first, rival}, nil, store.ErrConflict)
			same(t, "state", store.HoldExpired, theHold(t, s, "h1").State)
			// Written again after a lost answer it changes nothing, whatever came since.
			again := holding(change("prod", 2), made)
			appendAll(t, s, again)
			same(t, "state", store.HoldExpired, theHold(t, s, "h1").State)
		},
		"InvalidSpoilsNothing": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1))
			bad := map[string]func(e *store.Entry, h *store.Hold){
				"no revision":      func(e *store.Entry, _ *store.Hold) { e.Revision = nil; e.Decision = decision("prod", "d", at(1)) },
				"another cluster":  func(_ *store.Entry, h *store.Hold) { h.Cluster = "test" },
				"another revision": func(_ *store.Entry, h *store.Hold) { h.Revision = 1 },
				"no id":            func(_ *store.Entry, h *store.Hold) { h.ID = "" },
				"no state":         func(_ *store.Entry, h *store.Hold) { h.State = "" },
				"ended while held": func(_ *store.Entry, h *store.Hold) { h.EndedAt = at(5) },
				"no JSON":          func(_ *store.Entry, h *store.Hold) { h.Pods = []byte("[") },
				"NUL":              func(_ *store.Entry, h *store.Hold) { h.Namespaces = []string{"a\x00"} },
			}
			for name, spoil := range bad {
				h := held("prod", "h1", 2, at(60))
				e := holding(change("prod", 2), h)
				spoil(e, h)
				es := []*store.Entry{e}
				wantErr(t, name, s.Append(t.Context(), es), nil)
				wantErr(t, name, es[0].Err, store.ErrInvalid)
			}
			same(t, "newest", int64(1), newest(t, s, "prod"))
		},
		"Lists": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1), revision("test", 1),
				holding(change("prod", 2), held("prod", "h1", 2, at(90)), held("prod", "h2", 2, at(60))),
				holding(change("test", 2), held("test", "h3", 2, at(61))),
				holding(change("prod", 3), held("prod", "h4", 3, at(60))))
			list := func(f store.HoldFilter, want ...string) {
				t.Helper()
				got, err := s.ListHolds(t.Context(), f)
				wantErr(t, "ListHolds", err, nil)
				for _, h := range got {
					if h.Pods != nil || h.Undo != nil {
						t.Errorf("a list has the pods of %s", h.ID)
					}
				}
				sameList(t, fmt.Sprint(f), want, holdIDs(got))
			}
			list(store.HoldFilter{}, "h4", "h3", "h2", "h1")
			list(store.HoldFilter{Cluster: "prod", Limit: 2}, "h4", "h2")
			list(store.HoldFilter{Cluster: "prod", Before: "h2", Limit: 2}, "h1")
			got, err := s.Held(t.Context(), "prod", 2)
			wantErr(t, "Held", err, nil)
			sameList(t, "by end", []string{"h2", "h4"}, holdIDs(got))
			due := func(now time.Time, want ...string) {
				t.Helper()
				got, err := s.HoldsDue(t.Context(), now)
				wantErr(t, "HoldsDue", err, nil)
				sameList(t, now.String(), want, got)
			}
			due(at(60).Add(-time.Microsecond))
			due(at(60), "prod")
			due(at(61), "prod", "test")
			appendAll(t, s, holding(change("prod", 4), endOf(theHold(t, s, "h2"), store.HoldExpired, 4), endOf(theHold(t, s, "h4"), store.HoldReleased, 4)))
			due(at(61), "test")
			states, err := s.HoldStates(t.Context())
			wantErr(t, "HoldStates", err, nil)
			same(t, "states", map[string]int64{"held": 2, "expired": 1, "released": 1}, states)
		},
		"GoWithTheirClusterAndAge": func(t *testing.T, s store.Store) {
			old, kept := held("prod", "h1", 2, at(60)), held("prod", "h2", 2, at(60))
			appendAll(t, s, revision("prod", 1), holding(change("prod", 2), old, kept, held("prod", "h3", 2, at(60))),
				holding(change("prod", 3), endOf(old, store.HoldReleased, 3)), holding(change("prod", 4), endOf(kept, store.HoldReleased, 4)))
			_, err := s.Retain(t.Context(), at(4))
			wantErr(t, "Retain", err, nil)
			list, err := s.ListHolds(t.Context(), store.HoldFilter{})
			wantErr(t, "ListHolds", err, nil)
			sameList(t, "not old, or held", []string{"h3", "h2"}, holdIDs(list))
			wantErr(t, "DeleteCluster", s.DeleteCluster(t.Context(), "prod"), nil)
			if list, err := s.ListHolds(t.Context(), store.HoldFilter{}); err != nil || len(list) > 0 {
				t.Errorf("%v are left, %v", holdIDs(list), err)
			}
		},
	}, calls{
		"Hold": func(ctx context.Context, s store.Store) error { _, err := s.Hold(ctx, "h1"); return err },
		"ListHolds": func(ctx context.Context, s store.Store) error {
			_, err := s.ListHolds(ctx, store.HoldFilter{})
			return err
		},
		"Held":       func(ctx context.Context, s store.Store) error { _, err := s.Held(ctx, "prod", 1); return err },
		"HoldsDue":   func(ctx context.Context, s store.Store) error { _, err := s.HoldsDue(ctx, at(1)); return err },
		"HoldStates": func(ctx context.Context, s store.Store) error { _, err := s.HoldStates(ctx); return err },
	})
}

// held makes a hold as a revision makes it.
func held(cluster, id string, number int64, expires time.Time) *store.Hold {
	return &store.Hold{
		ID: id, Cluster: cluster, State: store.HoldHeld, CreatedAt: at(int(number)), ExpiresAt: expires, Revision: number,
		Namespaces: []string{"shop", "ü"}, PodCount: 2, Pods: []byte(`[{"name": "a"}]`), Undo: []byte{1, 0, 0xff}, AskedBy: "token:plat",
	}
}

// endOf returns a hold as a revision ends it.
func endOf(h *store.Hold, state string, number int64) *store.Hold {
	ended := *h
	ended.State, ended.EndedAt, ended.EndedRevision, ended.Undo = state, at(int(number)), number, nil
	return &ended
}

// holding adds holds to the entry of a revision.
func holding(e *store.Entry, list ...*store.Hold) *store.Entry {
	e.Holds = list
	return e
}

func theHold(t *testing.T, s store.Store, id string) *store.Hold {
	t.Helper()
	h, err := s.Hold(t.Context(), id)
	wantErr(t, "Hold "+id, err, nil)
	return h
}

func holdIDs(list []*store.Hold) (ids []string) {
	for _, h := range list {
		ids = append(ids, h.ID)
	}
	return ids
}
