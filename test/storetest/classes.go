package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"berth/internal/store"
)

func priorityClass(cluster, name string, value int32) *store.PriorityClass {
	return &store.PriorityClass{
		Cluster: cluster, Name: name, Value: value, PreemptionPolicy: "Never",
		Payload: fmt.Appendf(nil, `{"name":%q,"value":%d}`, name, value),
	}
}

func putClass(t *testing.T, s store.Store, c *store.PriorityClass, expect int64) int64 {
	t.Helper()
	v, err := s.PutPriorityClass(t.Context(), c, expect)
	if err != nil {
		t.Fatalf("PutPriorityClass %s: %v", c.Name, err)
	}
	return v
}

func withDefault(c *store.PriorityClass) *store.PriorityClass {
	c.GlobalDefault = true
	c.Payload = append(c.Payload[:len(c.Payload)-1], `,"globalDefault":true}`...)
	return c
}

func init() {
	register("PriorityClasses", cases{
		"WrittenAndRead": func(t *testing.T, s store.Store) {
			list, version, err := s.PriorityClasses(t.Context(), "prod", true)
			wantErr(t, "PriorityClasses of none", err, nil)
			same(t, "version of none", int64(0), version)
			sameList(t, "none", []*store.PriorityClass{}, list)
			_, err = s.PriorityClass(t.Context(), "prod", "b")
			wantErr(t, "PriorityClass of none", err, store.ErrNotFound)

			b, a, big := priorityClass("prod", "b", -5), withDefault(priorityClass("prod", "a", 1_000_000_000)), priorityClass("test", "b", 7)
			for _, c := range []*store.PriorityClass{b, a, big} {
				c.Version = putClass(t, s, c, 0)
			}
			if a.Version <= b.Version {
				t.Errorf("versions %d and then %d", b.Version, a.Version)
			}
			list, version, err = s.PriorityClasses(t.Context(), "prod", true)
			wantErr(t, "PriorityClasses", err, nil)
			same(t, "by name", []*store.PriorityClass{a, b}, list)
			same(t, "version", a.Version, version)
			got, err := s.PriorityClass(t.Context(), "test", "b")
			wantErr(t, "PriorityClass", err, nil)
			same(t, "the other cluster's", big, got)
			versions, err := s.PriorityClassVersions(t.Context())
			wantErr(t, "PriorityClassVersions", err, nil)
			same(t, "versions", map[string]int64{"prod": a.Version, "test": big.Version}, versions)
		},
		"ExistsAlready": func(t *testing.T, s store.Store) {
			v := putClass(t, s, priorityClass("prod", "a", 1), 0)
			_, err := s.PutPriorityClass(t.Context(), priorityClass("prod", "a", 2), 0)
			wantErr(t, "once more", err, store.ErrExists)
			same(t, "a retry of the same", v, putClass(t, s, priorityClass("prod", "a", 1), 0))
		},
		"StaleVersionIsRefused": func(t *testing.T, s store.Store) {
			first := putClass(t, s, priorityClass("prod", "a", 1), 0)
			second := putClass(t, s, priorityClass("prod", "a", 2), first)
			if second <= first {
				t.Errorf("version %d after %d", second, first)
			}
			_, err := s.PutPriorityClass(t.Context(), priorityClass("prod", "a", 3), first)
			wantErr(t, "stale", err, store.ErrConflict)
			_, err = s.PutPriorityClass(t.Context(), priorityClass("prod", "b", 3), second)
			wantErr(t, "one that is not there", err, store.ErrNotFound)
			got, err := s.PriorityClass(t.Context(), "prod", "a")
			wantErr(t, "PriorityClass", err, nil)
			same(t, "value", int32(2), got.Value)
			wantErr(t, "stale delete", s.DeletePriorityClass(t.Context(), "prod", "a", first), store.ErrConflict)
			wantErr(t, "delete", s.DeletePriorityClass(t.Context(), "prod", "a", second), nil)
		},
		"VersionsNeverGoBack": func(t *testing.T, s store.Store) {
			v := putClass(t, s, priorityClass("prod", "a", 1), 0)
			wantErr(t, "DeletePriorityClass", s.DeletePriorityClass(t.Context(), "prod", "a", 0), nil)
			wantErr(t, "a second time", s.DeletePriorityClass(t.Context(), "prod", "a", 0), store.ErrNotFound)
			versions, err := s.PriorityClassVersions(t.Context())
			wantErr(t, "PriorityClassVersions", err, nil)
			if versions["prod"] <= v {
				t.Errorf("version %d after a delete, %d before", versions["prod"], v)
			}
			again := putClass(t, s, priorityClass("prod", "a", 1), 0)
			wantErr(t, "DeleteCluster of classes alone", s.DeleteCluster(t.Context(), "prod"), nil)
			wantErr(t, "a second time", s.DeleteCluster(t.Context(), "prod"), store.ErrNotFound)
			list, version, err := s.PriorityClasses(t.Context(), "prod", true)
			wantErr(t, "PriorityClasses", err, nil)
			sameList(t, "what is left", []*store.PriorityClass{}, list)
			if version <= again {
				t.Errorf("version %d after the cluster was deleted, %d before", version, again)
			}
		},
		"OneDefaultOnly": func(t *testing.T, s store.Store) {
			a := putClass(t, s, withDefault(priorityClass("prod", "a", 1)), 0)
			putClass(t, s, withDefault(priorityClass("test", "b", 1)), 0)
			b := putClass(t, s, priorityClass("prod", "b", 1), 0)
			var taken *store.DefaultTakenError
			for what, expect := range map[string]int64{"b": b, "c": 0} {
				_, err := s.PutPriorityClass(t.Context(), withDefault(priorityClass("prod", what, 3)), expect)
				if !errors.As(err, &taken) || taken.Name != "a" || taken.Cluster != "prod" {
					t.Errorf("%s: %v", what, err)
				}
			}
			a = putClass(t, s, withDefault(priorityClass("prod", "a", 2)), a) // it may stay the default
			putClass(t, s, priorityClass("prod", "a", 3), a)
			putClass(t, s, withDefault(priorityClass("prod", "b", 4)), b)
		},
		// Replicas race for the default: the first has it.
		"DefaultUnderRaces": func(t *testing.T, s store.Store) {
			const writers = 8
			won := make([]bool, writers)
			var wg sync.WaitGroup
			for w := range writers {
				wg.Go(func() {
					_, err := s.PutPriorityClass(context.Background(), withDefault(priorityClass("prod", fmt.Sprint("c", w), 1)), 0)
					var taken *store.DefaultTakenError
					if won[w] = err == nil; err != nil && !errors.As(err, &taken) {
						t.Errorf("PutPriorityClass: %v", err)
					}
				})
			}
			wg.Wait()
			n := 0
			for _, w := range won {
				if w {
					n++
				}
			}
			list, _, err := s.PriorityClasses(t.Context(), "prod", true)
			wantErr(t, "PriorityClasses", err, nil)
			if n != 1 || len(list) != 1 || !list[0].GlobalDefault {
				t.Errorf("%d writers were told that they have the default; stored: %d", n, len(list))
			}
		},
		"InvalidIsRefused": func(t *testing.T, s store.Store) {
			for what, change := range map[string]func(*store.PriorityClass){
				"no cluster": func(c *store.PriorityClass) { c.Cluster = "" },
				"no name":    func(c *store.PriorityClass) { c.Name = "" },
				"a NUL":      func(c *store.PriorityClass) { c.Name = "a\x00" },
				"no JSON":    func(c *store.PriorityClass) { c.Payload = []byte("{") },
				"no UTF-8":   func(c *store.PriorityClass) { c.Payload = []byte("\"\xff\"") },
			} {
				c := priorityClass("prod", "a", 1)
				change(c)
				_, err := s.PutPriorityClass(t.Context(), c, 0)
				wantErr(t, what, err, store.ErrInvalid)
			}
		},
	}, calls{
		"PriorityClasses": func(ctx context.Context, s store.Store) error {
			_, _, err := s.PriorityClasses(ctx, "prod", true)
			return err
		},
		"PriorityClassVersions": func(ctx context.Context, s store.Store) error { _, err := s.PriorityClassVersions(ctx); return err },
		"PriorityClass": func(ctx context.Context, s store.Store) error {
			_, err := s.PriorityClass(ctx, "prod", "c")
			return err
		},
		"PutPriorityClass": func(ctx context.Context, s store.Store) error {
			_, err := s.PutPriorityClass(ctx, priorityClass("prod", "c", 1), 7)
			return err
		},
		"DeletePriorityClass": func(ctx context.Context, s store.Store) error { return s.DeletePriorityClass(ctx, "prod", "c", 0) },
	})
}
