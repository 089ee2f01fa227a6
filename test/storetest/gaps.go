package storetest

import (
	"testing"
	"time"

	"berth/internal/store"
)

func gap(cluster, id string, second int, lost int64) *store.Gap {
	return &store.Gap{
		ID: id, Cluster: cluster, Since: at(second), Until: at(second + 1), Lost: lost, Cause: "queue-full", Instance: "host-ü:1",
	}
}

func gaps(t *testing.T, s store.Store, cluster string) []*store.Gap {
	t.Helper()
	list, err := s.ListGaps(t.Context(), cluster)
	wantErr(t, "ListGaps", err, nil)
	return list
}

func init() {
	register("Gaps", cases{
		"RoundTripNewestFirst": func(t *testing.T, s store.Store) {
			first, second, other := gap("prod", "g1", 1, 17), gap("prod", "g2", 5, store.UnknownLoss), gap("test", "g3", 3, 1)
			appendAll(t, s, &store.Entry{Gap: first}, &store.Entry{Decision: decision("prod", "d1", at(1))}, &store.Entry{Gap: second}, &store.Entry{Gap: other})
			same(t, "gaps of prod", []*store.Gap{second, first}, gaps(t, s, "prod"))
			same(t, "all gaps", []*store.Gap{second, other, first}, gaps(t, s, ""))
			sameList(t, "gaps of nobody", []*store.Gap(nil), gaps(t, s, "nobody"))
			same(t, "decisions", 1, len(ids(t, s, store.DecisionFilter{})))
		},
		"RewriteIsNoOp": func(t *testing.T, s store.Store) {
			again := gap("prod", "g1", 1, 3)
			appendAll(t, s, &store.Entry{Gap: gap("prod", "g1", 1, 2)}, &store.Entry{Gap: again})
			appendAll(t, s, &store.Entry{Gap: again})
			same(t, "gaps", []*store.Gap{gap("prod", "g1", 1, 2)}, gaps(t, s, "prod"))
		},
		"MakesNoCluster": func(t *testing.T, s store.Store) {
			appendAll(t, s, &store.Entry{Gap: gap("prod", "g1", 1, 2)})
			infos, err := s.Clusters(t.Context(), store.ClusterFilter{})
			wantErr(t, "Clusters", err, nil)
			same(t, "clusters", 0, len(infos))
		},
		"InvalidSpoilsNothing": func(t *testing.T, s store.Store) {
			for name, spoil := range map[string]func(e *store.Entry){
				"no id":       func(e *store.Entry) { e.Gap.ID = "" },
				"no cluster":  func(e *store.Entry) { e.Gap.Cluster = "" },
				"no cause":    func(e *store.Entry) { e.Gap.Cause = "" },
				"none lost":   func(e *store.Entry) { e.Gap.Lost = 0 },
				"below none":  func(e *store.Entry) { e.Gap.Lost = -2 },
				"backwards":   func(e *store.Entry) { e.Gap.Until = e.Gap.Since.Add(-time.Second) },
				"NUL":         func(e *store.Entry) { e.Gap.Instance = "a\x00" },
				"not alone":   func(e *store.Entry) { e.Decision = decision("prod", "d1", at(1)) },
				"with a page": func(e *store.Entry) { e.Profile = &store.Profile{Digest: "sha256:p"} },
			} {
				e := &store.Entry{Gap: gap("prod", "bad", 1, 1)}
				spoil(e)
				good := &store.Entry{Gap: gap("prod", "good", 2, 1)}
				if err := s.Append(t.Context(), []*store.Entry{e, good}); err != nil {
					t.Fatalf("%s: Append: %v", name, err)
				}
				wantErr(t, name, e.Err, store.ErrInvalid)
				wantErr(t, name+": the other", good.Err, nil)
			}
			same(t, "gaps", 1, len(gaps(t, s, "")))
		},
		"RetainAndDeletionTakeThemAlong": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1), revision("test", 1), &store.Entry{Gap: gap("prod", "old", 1, 1)},
				&store.Entry{Gap: gap("prod", "new", 9, 1)}, &store.Entry{Gap: gap("test", "kept", 9, 1)})
			_, err := s.Retain(t.Context(), at(5))
			wantErr(t, "Retain", err, nil)
			same(t, "gaps of prod", []*store.Gap{gap("prod", "new", 9, 1)}, gaps(t, s, "prod"))
			wantErr(t, "DeleteCluster", s.DeleteCluster(t.Context(), "prod"), nil)
			same(t, "gaps", []*store.Gap{gap("test", "kept", 9, 1)}, gaps(t, s, ""))
		},
	})
}
