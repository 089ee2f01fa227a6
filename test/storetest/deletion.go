package storetest

import (
	"testing"

	"berth/internal/store"
)

func init() {
	register("Deletion", cases{
		"OldAndUnused": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1), revision("prod", 2), change("prod", 3))
			wantErr(t, "DeleteRevision", s.DeleteRevision(t.Context(), "prod", 1), nil)
			_, err := s.Revision(t.Context(), "prod", 1)
			wantErr(t, "Revision", err, store.ErrNotFound)
			_, err = s.CheckpointAt(t.Context(), "prod", 1, nil)
			wantErr(t, "its checkpoint", err, store.ErrNotFound)
			wantErr(t, "a second time", s.DeleteRevision(t.Context(), "prod", 1), store.ErrNotFound)
			appendAll(t, s, change("prod", 4))
			infos, err := s.Clusters(t.Context(), store.ClusterFilter{})
			wantErr(t, "Clusters", err, nil)
			same(t, "count", int64(3), infos[0].Revisions)
		},
		"NewestStays": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1), revision("prod", 2))
			wantErr(t, "DeleteRevision", s.DeleteRevision(t.Context(), "prod", 2), store.ErrConflict)
			wantErr(t, "unknown", s.DeleteRevision(t.Context(), "prod", 3), store.ErrNotFound)
			wantErr(t, "other cluster", s.DeleteRevision(t.Context(), "test", 1), store.ErrNotFound)
			same(t, "newest", int64(2), newest(t, s, "prod"))
		},
		"ReferredStays": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1), revision("prod", 2), revision("prod", 3), revision("prod", 4))
			d := decision("prod", "d1", at(1))
			d.Revision, d.BoundRevision = 1, 2
			appendAll(t, s, &store.Entry{Decision: d})
			wantErr(t, "decided on", s.DeleteRevision(t.Context(), "prod", 1), store.ErrInUse)
			wantErr(t, "made by a bind", s.DeleteRevision(t.Context(), "prod", 2), store.ErrInUse)
			wantErr(t, "neither", s.DeleteRevision(t.Context(), "prod", 3), nil)
		},
		"NeededByALaterChange": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1), change("prod", 2), change("prod", 3))
			wantErr(t, "before", s.DeleteRevision(t.Context(), "prod", 1), store.ErrInUse)
			wantErr(t, "PutCheckpoint", s.PutCheckpoint(t.Context(), &store.Checkpoint{Cluster: "prod", Number: 2}), nil)
			wantErr(t, "after", s.DeleteRevision(t.Context(), "prod", 1), nil)
		},
		"Cluster": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1), revision("test", 1))
			p := &store.Profile{Digest: "sha256:p"}
			for _, id := range []string{"prod", "test"} {
				d := decision(id, id, at(1))
				d.Revision = 1
				appendAll(t, s, &store.Entry{Decision: d, Profile: p})
			}
			wantErr(t, "DeleteCluster", s.DeleteCluster(t.Context(), "prod"), nil)
			_, err := s.Newest(t.Context(), "prod")
			wantErr(t, "Newest", err, store.ErrNotFound)
			_, err = s.CheckpointAt(t.Context(), "prod", 9, nil)
			wantErr(t, "CheckpointAt", err, store.ErrNotFound)
			_, err = s.Decision(t.Context(), "prod")
			wantErr(t, "Decision", err, store.ErrNotFound)
			_, err = s.Decision(t.Context(), "test")
			wantErr(t, "the other cluster's decision", err, nil)
			_, err = s.Profile(t.Context(), "sha256:p")
			wantErr(t, "the profile", err, nil)
			same(t, "the other cluster", int64(1), newest(t, s, "test"))
			wantErr(t, "a second time", s.DeleteCluster(t.Context(), "prod"), store.ErrNotFound)
			appendAll(t, s, revision("prod", 1)) // begins anew
		},
	})
}

func init() {
	register("Clusters", cases{
		"ListedByNameWithTheirBooks": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("b", 1), change("b", 2), revision("B", 1), revision("a", 1),
				&store.Entry{Decision: decision("b", "d1", at(1))}, &store.Entry{Decision: decision("b", "d2", at(1))},
				&store.Entry{Decision: decision("b", "d2", at(1))},
				&store.Entry{Decision: decision("no revisions", "d3", at(1))})
			appendAll(t, s, &store.Entry{Decision: decision("b", "d4", at(1))})
			infos, err := s.Clusters(t.Context(), store.ClusterFilter{})
			wantErr(t, "Clusters", err, nil)
			same(t, "clusters", []store.ClusterInfo{
				{Name: "B", Newest: 1, Revisions: 1, CreatedAt: at(1)},
				{Name: "a", Newest: 1, Revisions: 1, CreatedAt: at(1)},
				{Name: "b", Newest: 2, Revisions: 2, Decisions: 3, CreatedAt: at(2)},
			}, infos)
		},
		"None": func(t *testing.T, s store.Store) {
			infos, err := s.Clusters(t.Context(), store.ClusterFilter{})
			wantErr(t, "Clusters", err, nil)
			sameList(t, "clusters", []store.ClusterInfo{}, infos)
		},
	})
}
