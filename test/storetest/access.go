package storetest

import (
	"bytes"
	"context"
	"testing"
	"time"

	"berth/internal/store"
)

func accessToken(id string) *store.Token {
	hash := bytes.Repeat([]byte(id[:1]), 32)
	return &store.Token{ID: id, Name: "ci", Hash: hash, Grants: []byte(`[{"role":"viewer"}]`), CreatedAt: at(1), ExpiresAt: at(50)}
}

func accessChange(id string) *store.AccessChange {
	return &store.AccessChange{
		ID: id, CreatedAt: at(2), Action: "token.create", Object: "ci", Detail: []byte(`{"a":1}`),
		Asked: store.Asked{By: "token:root", Peer: "10.0.0.7", RequestID: "r"},
	}
}

func init() {
	register("Access", cases{
		"TokensAreWrittenAndRead": func(t *testing.T, s store.Store) {
			a, b := accessToken("a"), accessToken("b")
			b.ExpiresAt = time.Time{}
			for i, tok := range []*store.Token{a, b, a} { // the last is a retry
				c := accessChange([]string{"1", "2", "1"}[i])
				wantErr(t, "PutToken", s.PutToken(t.Context(), tok, c), nil)
			}
			revoked := *b
			revoked.RevokedAt, revoked.Name, revoked.Grants = at(9), "other", []byte(`[]`)
			bare := accessChange("3")
			bare.Asked = store.Asked{}
			wantErr(t, "revoke", s.PutToken(t.Context(), &revoked, bare), nil)
			wantErr(t, "UseTokens", s.UseTokens(t.Context(), map[string]time.Time{"a": at(20), "none": at(20)}), nil)
			wantErr(t, "UseTokens before", s.UseTokens(t.Context(), map[string]time.Time{"a": at(10)}), nil)
			a.UsedAt, b.RevokedAt = at(20), at(9) // and neither name nor grants changed
			list, err := s.Tokens(t.Context())
			wantErr(t, "Tokens", err, nil)
			same(t, "tokens", []*store.Token{a, b}, list)
			log, err := s.AccessChanges(t.Context(), "", 2)
			wantErr(t, "AccessChanges", err, nil)
			same(t, "newest first", []*store.AccessChange{bare, accessChange("2")}, log)
			log, err = s.AccessChanges(t.Context(), "2", 0)
			wantErr(t, "AccessChanges before", err, nil)
			same(t, "before", []*store.AccessChange{accessChange("1")}, log)
		},
		"TwoTokensHaveNoHashInCommon": func(t *testing.T, s store.Store) {
			wantErr(t, "PutToken", s.PutToken(t.Context(), accessToken("a"), accessChange("1")), nil)
			other := accessToken("a")
			other.ID = "a2"
			if err := s.PutToken(t.Context(), other, accessChange("2")); err == nil {
				t.Error("a second token has the hash of the first")
			}
			log, err := s.AccessChanges(t.Context(), "", 0)
			wantErr(t, "AccessChanges", err, nil)
			same(t, "records", 1, len(log))
		},
		"InvalidIsRefused": func(t *testing.T, s store.Store) {
			bad := accessToken("a")
			bad.Hash = bad.Hash[:31]
			wantErr(t, "a short hash", s.PutToken(t.Context(), bad, accessChange("1")), store.ErrInvalid)
			c := accessChange("1")
			c.Detail = []byte("{")
			wantErr(t, "no JSON", s.PutAccessChange(t.Context(), c), store.ErrInvalid)
			wantErr(t, "no JSON with a token", s.PutToken(t.Context(), accessToken("a"), c), store.ErrInvalid)
		},
		"WhoAskedForARevision": func(t *testing.T, s store.Store) {
			e := revision("prod", 1)
			e.Revision.Asked = store.Asked{By: "certificate:sched", Peer: "::1", RequestID: "x"}
			appendAll(t, s, e)
			got, err := s.Newest(t.Context(), "prod")
			wantErr(t, "Newest", err, nil)
			same(t, "asked", e.Revision.Asked, got.Asked)
		},
		"ClustersByWhoCreatedThem": func(t *testing.T, s store.Store) {
			first, second := revision("prod", 1), change("prod", 2)
			first.Revision.Asked.By, second.Revision.Asked.By = "token:ci", "token:other"
			lab := revision("lab", 1)
			lab.Revision.Asked.By = "token:ci"
			appendAll(t, s, first, second, lab, revision("old", 1))
			for by, want := range map[string][]string{"token:ci": {"lab", "prod"}, "token:other": nil, "": {"lab", "old", "prod"}} {
				infos, err := s.Clusters(t.Context(), store.ClusterFilter{CreatedBy: by})
				wantErr(t, "Clusters", err, nil)
				var names []string
				for _, c := range infos {
					names = append(names, c.Name)
				}
				sameList(t, by, want, names)
			}
			infos, err := s.Clusters(t.Context(), store.ClusterFilter{CreatedBy: "token:ci", After: "lab", Limit: 5})
			wantErr(t, "Clusters", err, nil)
			if len(infos) != 1 || infos[0].Name != "prod" {
				t.Errorf("after lab: %+v", infos)
			}
		},
		"DecisionsByWhoAsked": func(t *testing.T, s store.Store) {
			mine, other := decision("prod", "d1", at(1)), decision("prod", "d2", at(2))
			mine.Asked.By, other.Asked.By = "token:ci", "token:other"
			appendAll(t, s, &store.Entry{Decision: mine}, &store.Entry{Decision: other})
			list, err := s.ListDecisions(t.Context(), store.DecisionFilter{Cluster: "prod", AskedBy: "token:ci"})
			wantErr(t, "ListDecisions", err, nil)
			if len(list) != 1 || list[0].ID != "d1" || list[0].Asked.By != "token:ci" {
				t.Errorf("listed %+v", list)
			}
		},
	}, calls{
		"Tokens": func(ctx context.Context, s store.Store) error { _, err := s.Tokens(ctx); return err },
		"PutToken": func(ctx context.Context, s store.Store) error {
			return s.PutToken(ctx, accessToken("a"), accessChange("1"))
		},
		"UseTokens": func(ctx context.Context, s store.Store) error {
			return s.UseTokens(ctx, map[string]time.Time{"a": at(1)})
		},
		"PutAccessChange": func(ctx context.Context, s store.Store) error { return s.PutAccessChange(ctx, accessChange("1")) },
		"AccessChanges":   func(ctx context.Context, s store.Store) error { _, err := s.AccessChanges(ctx, "", 1); return err },
	})
}
