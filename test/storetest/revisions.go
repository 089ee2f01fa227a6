package storetest

import (
	"testing"
	"time"

	"berth/internal/store"
)

func init() {
	register("Revisions", cases{
		"EmptyStoreHasNone": func(t *testing.T, s store.Store) {
			_, err := s.Newest(t.Context(), "prod")
			wantErr(t, "Newest", err, store.ErrNotFound)
			_, err = s.Revision(t.Context(), "prod", 1)
			wantErr(t, "Revision", err, store.ErrNotFound)
			rs, err := s.RevisionsAfter(t.Context(), "prod", 0, 10)
			wantErr(t, "RevisionsAfter", err, nil)
			sameList(t, "RevisionsAfter", []*store.Revision{}, rs)
		},
		"RoundTrip": func(t *testing.T, s store.Store) {
			first, second := revision("prod", 1), change("prod", 2)
			// The zone of the caller must not reach the record.
			first.Revision.CreatedAt = at(1).In(time.FixedZone("east", 7200))
			second.Revision.Change = []byte{}
			second.Revision.Woken = []byte{1, 0, 0xff}
			second.Revision.Summary = nil
			appendAll(t, s, first, second)
			first.Revision.CreatedAt = at(1)
			first.Revision.Checkpointed = true
			for _, want := range []*store.Revision{first.Revision, second.Revision} {
				got, err := s.Revision(t.Context(), "prod", want.Number)
				wantErr(t, "Revision", err, nil)
				same(t, "Revision", want, got)
			}
			got, err := s.Newest(t.Context(), "prod")
			wantErr(t, "Newest", err, nil)
			second.Revision.Change, second.Revision.Woken = nil, nil // they are not read
			same(t, "Newest", second.Revision, got)
		},
		"NanosecondsAreCut": func(t *testing.T, s store.Store) {
			e := revision("prod", 1)
			e.Revision.CreatedAt = at(1).Add(999)
			appendAll(t, s, e)
			got, err := s.Newest(t.Context(), "prod")
			wantErr(t, "Newest", err, nil)
			same(t, "CreatedAt", at(1), got.CreatedAt)
		},
		"Lists": func(t *testing.T, s store.Store) {
			for n := range int64(5) {
				appendAll(t, s, revision("prod", n+1))
			}
			appendAll(t, s, revision("test", 1))
			list := func(what string, want []int64, call func() ([]*store.Revision, error)) {
				rs, err := call()
				wantErr(t, what, err, nil)
				sameList(t, what, want, numbers(rs))
			}
			list("after 2", []int64{3, 4, 5}, func() ([]*store.Revision, error) { return s.RevisionsAfter(t.Context(), "prod", 2, 10) })
			list("after 0, limit 2", []int64{1, 2}, func() ([]*store.Revision, error) { return s.RevisionsAfter(t.Context(), "prod", 0, 2) })
			list("after the newest", nil, func() ([]*store.Revision, error) { return s.RevisionsAfter(t.Context(), "prod", 5, 2) })
			list("all", []int64{5, 4, 3, 2, 1}, func() ([]*store.Revision, error) { return s.ListRevisions(t.Context(), "prod", 0, 0) })
			list("before 4, limit 2", []int64{3, 2}, func() ([]*store.Revision, error) { return s.ListRevisions(t.Context(), "prod", 4, 2) })
		},
		"SecondChildIsRefused": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1), change("prod", 2))
			rival := change("prod", 2)
			rival.Revision.Token = "rival"
			refused(t, s, []*store.Entry{rival}, store.ErrConflict)
			got, err := s.Revision(t.Context(), "prod", 2)
			wantErr(t, "Revision", err, nil)
			same(t, "Token", token(2), got.Token)
		},
		"OnlyTheChainGoesOn": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1))
			wrongParent := change("prod", 2)
			wrongParent.Revision.ParentToken = "someone"
			noParent := change("prod", 2)
			noParent.Revision.ParentToken = ""
			gap := change("prod", 3)
			gap.Revision.ParentToken = token(1)
			firstAgain := revision("prod", 1)
			firstAgain.Revision.Token = "other"
			notFirst := revision("test", 2)
			notFirst.Revision.ParentToken = ""
			refused(t, s, []*store.Entry{wrongParent, noParent, gap, firstAgain, notFirst},
				store.ErrConflict, store.ErrConflict, store.ErrConflict, store.ErrConflict, store.ErrConflict)
			same(t, "newest of prod", int64(1), newest(t, s, "prod"))
			same(t, "newest of test", int64(0), newest(t, s, "test"))
		},
		"UsedTokenIsRefused": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1), change("prod", 2))
			again := change("prod", 3)
			again.Revision.Token = token(1)
			child := change("prod", 4)
			child.Revision.ParentToken = token(1)
			d := decision("prod", "d1", at(1))
			withDecision := &store.Entry{Revision: child.Revision, Decision: d}
			if err := s.Append(t.Context(), []*store.Entry{again, withDecision}); err != nil {
				t.Fatalf("Append: %v", err)
			}
			wantErr(t, "a second child of one token", withDecision.Err, store.ErrConflict)
			_, err := s.Decision(t.Context(), "d1")
			wantErr(t, "the decision of the refused entry", err, store.ErrNotFound)
		},
		"RetryIsNoOp": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1), change("prod", 2), change("prod", 3))
			appendAll(t, s, change("prod", 2), change("prod", 3), change("prod", 4))
			rs, err := s.RevisionsAfter(t.Context(), "prod", 0, 0)
			wantErr(t, "RevisionsAfter", err, nil)
			sameList(t, "revisions", []int64{1, 2, 3, 4}, numbers(rs))
			infos, err := s.Clusters(t.Context(), store.ClusterFilter{})
			wantErr(t, "Clusters", err, nil)
			same(t, "count", int64(4), infos[0].Revisions)
		},
		"PipelineWithRefusedParent": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1))
			// A writer that was not told of prod@2 has pipelined three revisions;
			// beside it are entries that have nothing to do with it.
			appendAll(t, s, change("prod", 2))
			var stale []*store.Entry
			parent := token(1)
			for n := int64(2); n <= 4; n++ {
				e := change("prod", n)
				e.Revision.Token, e.Revision.ParentToken = "stale-"+token(n), parent
				parent = e.Revision.Token
				stale = append(stale, e)
			}
			other := revision("test", 1)
			d := &store.Entry{Decision: decision("prod", "d1", at(1))}
			refused(t, s, []*store.Entry{stale[0], other, stale[1], d, stale[2], change("prod", 3)},
				store.ErrConflict, nil, store.ErrConflict, nil, store.ErrConflict, nil)
			same(t, "newest of prod", int64(3), newest(t, s, "prod"))
			same(t, "newest of test", int64(1), newest(t, s, "test"))
			_, err := s.Decision(t.Context(), "d1")
			wantErr(t, "the decision between", err, nil)
		},
		"LargeChange": func(t *testing.T, s store.Store) {
			e := change("prod", 2)
			e.Revision.Change = big(10 << 20)
			appendAll(t, s, revision("prod", 1), e)
			got, err := s.Revision(t.Context(), "prod", 2)
			wantErr(t, "Revision", err, nil)
			if string(got.Change) != string(e.Revision.Change) {
				t.Error("10 MiB came back otherwise")
			}
		},
	})
}
