package storetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/internal/store"
)

func init() {
	register("Keeping", cases{
		"RetainDeletesTheOld": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1), revision("test", 1))
			for i := range 6 {
				cluster := []string{"prod", "test"}[i%2]
				appendAll(t, s, &store.Entry{Decision: decision(cluster, fmt.Sprint(i), at(i))})
			}
			n, err := s.Retain(t.Context(), at(3))
			wantErr(t, "Retain", err, nil)
			same(t, "deleted", int64(3), n)
			sameList(t, "what stays", []string{"5", "4", "3"}, ids(t, s, store.DecisionFilter{}))
			infos, err := s.Clusters(t.Context(), store.ClusterFilter{})
			wantErr(t, "Clusters", err, nil)
			same(t, "books of prod", int64(1), infos[0].Decisions)
			same(t, "books of test", int64(2), infos[1].Decisions)
			n, err = s.Retain(t.Context(), at(3))
			wantErr(t, "a second Retain", err, nil)
			same(t, "deleted again", int64(0), n)
		},
		"RetainOfNoTimeKeepsAll": func(t *testing.T, s store.Store) {
			appendAll(t, s, &store.Entry{Decision: decision("prod", "d1", at(1))})
			n, err := s.Retain(t.Context(), time.Time{})
			wantErr(t, "Retain", err, nil)
			same(t, "deleted", int64(0), n)
			same(t, "records", 1, len(ids(t, s, store.DecisionFilter{})))
		},
		"RetainFreesRevisions": func(t *testing.T, s store.Store) {
			d := decision("prod", "d1", at(1))
			d.Revision = 1
			appendAll(t, s, revision("prod", 1), revision("prod", 2), &store.Entry{Decision: d})
			wantErr(t, "DeleteRevision before", s.DeleteRevision(t.Context(), "prod", 1), store.ErrInUse)
			_, err := s.Retain(t.Context(), at(2))
			wantErr(t, "Retain", err, nil)
			wantErr(t, "DeleteRevision after", s.DeleteRevision(t.Context(), "prod", 1), nil)
		},
		// More than a backend deletes in one go, over several months.
		"RetainMany": func(t *testing.T, s store.Store) {
			const many, keep = 12000, 10
			var es []*store.Entry
			for i := range many {
				es = append(es, &store.Entry{Decision: decision("prod", fmt.Sprintf("%06d", i), at(0).Add(time.Duration(i)*10*time.Minute))})
			}
			appendAll(t, s, es...)
			n, err := s.Retain(t.Context(), es[many-keep].Decision.CreatedAt)
			wantErr(t, "Retain", err, nil)
			same(t, "deleted", int64(many-keep), n)
			same(t, "what stays", keep, len(ids(t, s, store.DecisionFilter{Cluster: "prod"})))
		},
		"SizesPerTable": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1), &store.Entry{Decision: decision("prod", "d1", at(1)), Profile: &store.Profile{Digest: "sha256:p"}})
			before, err := s.Sizes(t.Context())
			wantErr(t, "Sizes", err, nil)
			for _, table := range []string{"clusters", "revisions", "checkpoints", "profiles", "stamps", "decisions", "decision_gaps", "priority_classes", "priority_class_versions", "capacities", "tokens", "access_log"} {
				if before[table] <= 0 {
					t.Errorf("size of %s = %d", table, before[table])
				}
			}
			for table := range before {
				if strings.HasSuffix(table, "_migrations") || strings.HasPrefix(table, "decisions_") {
					t.Errorf("%s is no table of ours, or a part of one", table)
				}
			}
			d := decision("prod", "d2", at(2))
			d.Input = big(1 << 20)
			appendAll(t, s, &store.Entry{Decision: d})
			after, err := s.Sizes(t.Context())
			wantErr(t, "Sizes", err, nil)
			if after["decisions"] < before["decisions"]+8<<10 {
				t.Errorf("decisions grew from %d to %d by a record of 1 MiB", before["decisions"], after["decisions"])
			}
		},
	})
}
