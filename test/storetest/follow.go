package storetest

import (
	"fmt"
	"testing"

	"berth/internal/store"
)

// follow reads a cluster's log in pages of two, from its beginning to its end,
// and checks the order.
func follow(t *testing.T, s store.Store, cluster string) (ids []string) {
	t.Helper()
	ids, _ = followFrom(t, s, cluster, 0)
	return ids
}

func followFrom(t *testing.T, s store.Store, cluster string, after int64) (ids []string, last int64) {
	t.Helper()
	for {
		page, err := s.FollowDecisions(t.Context(), cluster, after, 2)
		if err != nil {
			t.Fatalf("FollowDecisions: %v", err)
		}
		if len(page) == 0 {
			return ids, after
		}
		for _, d := range page {
			if d.Cluster != cluster || d.Seq <= after {
				t.Fatalf("%s of %s has place %d after %d", d.ID, d.Cluster, d.Seq, after)
			}
			after = d.Seq
			ids = append(ids, d.ID)
		}
	}
}

func init() {
	register("Following", cases{
		"InTheOrderOfWriting": func(t *testing.T, s store.Store) {
			plant(t, s)
			same(t, "prod", []string{"a", "b", "c", "d", "f"}, follow(t, s, "prod"))
			same(t, "test", []string{"e"}, follow(t, s, "test"))
			sameList(t, "unknown", []string{}, follow(t, s, "PROD"))
			all, err := s.FollowDecisions(t.Context(), "prod", 0, 0)
			wantErr(t, "without a limit", err, nil)
			same(t, "records", 5, len(all))
			d, err := s.Decision(t.Context(), "a")
			wantErr(t, "Decision", err, nil)
			same(t, "the same number as in the list", all[0].Seq, d.Seq)
			same(t, "the first number", int64(1), d.Seq)
		},
		"WhatComesLateComesLast": func(t *testing.T, s store.Store) {
			appendAll(t, s, &store.Entry{Decision: decision("prod", "at 5", at(5))}, &store.Entry{Decision: decision("prod", "at 4", at(4))},
				&store.Entry{Decision: decision("prod", "at 9", at(9))})
			got, last := followFrom(t, s, "prod", 0)
			same(t, "at first", []string{"at 5", "at 4", "at 9"}, got)
			// A month before the others: in a partition of its own, where there are any.
			appendAll(t, s, &store.Entry{Decision: decision("prod", "late", at(-30*86400))})
			appendAll(t, s, &store.Entry{Decision: decision("prod", "at 7", at(7))})
			got, _ = followFrom(t, s, "prod", last)
			same(t, "then", []string{"late", "at 7"}, got)
		},
		"RewrittenRecordsKeepTheirPlace": func(t *testing.T, s store.Store) {
			again := func() *store.Entry { return &store.Entry{Decision: decision("prod", "twice", at(1))} }
			appendAll(t, s, again(), &store.Entry{Decision: decision("prod", "b", at(2))}, again())
			got, last := followFrom(t, s, "prod", 0)
			same(t, "at first", []string{"twice", "b"}, got)
			appendAll(t, s, again(), &store.Entry{Decision: decision("prod", "c", at(3))})
			got, _ = followFrom(t, s, "prod", last)
			same(t, "then", []string{"c"}, got)
		},
		"RefusedRecordsHaveNoPlace": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1), &store.Entry{Decision: decision("prod", "a", at(1))})
			lost := revision("prod", 3)
			lost.Decision = decision("prod", "lost", at(2))
			nowhere := decision("prod", "nowhere", at(2))
			nowhere.Revision = 7
			es := []*store.Entry{lost, {Decision: decision("prod", "b", at(3))}, {Decision: nowhere}, {Decision: decision("prod", "c", at(4))}}
			refused(t, s, es, store.ErrConflict, nil, store.ErrNotFound, nil)
			same(t, "followed", []string{"a", "b", "c"}, follow(t, s, "prod"))
		},
		"GoesOnWhereAClusterComesAgain": func(t *testing.T, s store.Store) {
			for round := range 3 {
				sameList(t, "what is left", []string{}, follow(t, s, "prod"))
				appendAll(t, s, revision("prod", 1), &store.Entry{Decision: decision("prod", fmt.Sprint("a", round), at(1))},
					&store.Entry{Decision: decision("prod", fmt.Sprint("b", round), at(2))})
				got, _ := followFrom(t, s, "prod", int64(2*round))
				same(t, "after what was seen of the one before", []string{fmt.Sprint("a", round), fmt.Sprint("b", round)}, got)
				wantErr(t, "DeleteCluster", s.DeleteCluster(t.Context(), "prod"), nil)
				wantErr(t, "a second time", s.DeleteCluster(t.Context(), "prod"), store.ErrNotFound)
			}
			infos, err := s.Clusters(t.Context(), store.ClusterFilter{})
			wantErr(t, "Clusters", err, nil)
			sameList(t, "clusters", []store.ClusterInfo{}, infos)
		},
		"RetainTakesNoNumberBack": func(t *testing.T, s store.Store) {
			appendAll(t, s, &store.Entry{Decision: decision("prod", "a", at(1))}, &store.Entry{Decision: decision("prod", "b", at(2))})
			_, err := s.Retain(t.Context(), at(9))
			wantErr(t, "Retain", err, nil)
			appendAll(t, s, &store.Entry{Decision: decision("prod", "c", at(10))})
			got, last := followFrom(t, s, "prod", 2)
			same(t, "followed", []string{"c"}, got)
			same(t, "its number", int64(3), last)
		},
	})
}
