package storetest

import (
	"fmt"
	"testing"

	"berth/internal/store"
)

func init() {
	register("Entries", cases{
		"BindIsOneThing": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1))
			bind := change("prod", 2)
			bind.Decision = decision("prod", "d1", at(1))
			bind.Decision.Revision, bind.Decision.BoundRevision = 1, 2
			appendAll(t, s, bind)
			appendAll(t, s, bind) // a retry after a lost answer

			lost := change("prod", 2)
			lost.Revision.Token = "lost-the-race"
			lost.Decision = decision("prod", "d2", at(2))
			lost.Profile = &store.Profile{Digest: "sha256:lost"}
			refused(t, s, []*store.Entry{lost}, store.ErrConflict)
			_, err := s.Decision(t.Context(), "d2")
			wantErr(t, "the decision of the lost bind", err, store.ErrNotFound)
			_, err = s.Profile(t.Context(), "sha256:lost")
			wantErr(t, "the profile of the lost bind", err, store.ErrNotFound)
			same(t, "newest", int64(2), newest(t, s, "prod"))
		},
		"PlacementIsOneThing": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1))
			placement := func(id string, number int64) *store.Entry {
				e := change("prod", number)
				for _, pod := range []string{"a", "b", "c"} {
					d := decision("prod", id+pod, at(int(number)))
					d.Revision, d.BoundRevision, d.Placement = number-1, number, id
					e.Placed = append(e.Placed, d)
				}
				e.Profiles = []*store.Profile{{Digest: "sha256:" + id + "1"}, {Digest: "sha256:" + id + "2"}}
				return e
			}
			of := func(id string, want ...string) {
				t.Helper()
				list, err := s.ListDecisions(t.Context(), store.DecisionFilter{Cluster: "prod", Placement: id})
				wantErr(t, "ListDecisions", err, nil)
				var got []string
				for _, d := range list {
					got = append(got, d.ID)
				}
				same(t, "the decisions of "+id, want, got)
			}
			first := placement("first", 2)
			appendAll(t, s, first)
			appendAll(t, s, first) // a retry after a lost answer
			of("first", "firstc", "firstb", "firsta")
			_, err := s.Profile(t.Context(), "sha256:first2")
			wantErr(t, "a profile of the placement", err, nil)

			lost := placement("lost", 2)
			lost.Revision.Token = "lost-the-race"
			refused(t, s, []*store.Entry{lost}, store.ErrConflict)
			again := placement("again", 3)
			again.Placed[2].ID = "firstb"
			refused(t, s, []*store.Entry{again}, store.ErrConflict)
			nowhere := placement("nowhere", 3)
			nowhere.Placed[2].Revision = 7
			refused(t, s, []*store.Entry{nowhere}, store.ErrNotFound)
			elsewhere := placement("elsewhere", 3)
			elsewhere.Placed[2].Cluster = "other"
			refused(t, s, []*store.Entry{elsewhere}, store.ErrInvalid)
			for _, id := range []string{"lost", "again", "nowhere", "elsewhere"} {
				of(id)
				_, err := s.Profile(t.Context(), "sha256:"+id+"1")
				wantErr(t, "a profile of what was refused", err, store.ErrNotFound)
			}
			same(t, "newest", int64(2), newest(t, s, "prod"))
			alone := placement("alone", 3)
			alone.Revision, alone.Checkpoint = nil, nil
			for _, d := range alone.Placed {
				d.BoundRevision = 0
			}
			appendAll(t, s, alone)
			of("alone", "alonec", "aloneb", "alonea")
		},
		"DecisionBindsOnce": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1), &store.Entry{Decision: decision("prod", "d1", at(1))})
			again := change("prod", 2)
			again.Decision = decision("prod", "d1", at(1))
			refused(t, s, []*store.Entry{again}, store.ErrConflict)
			same(t, "newest", int64(1), newest(t, s, "prod"))
		},
		"DecisionNeedsItsRevision": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1))
			on := func(id string, number int64) *store.Entry {
				e := &store.Entry{Decision: decision("prod", id, at(1))}
				e.Decision.Revision = number
				return e
			}
			together := change("prod", 3)
			together.Decision = on("d4", 3).Decision
			refused(t, s, []*store.Entry{on("d1", 1), on("d2", 2), change("prod", 2), on("d3", 2), together, on("d5", 4)},
				nil, store.ErrNotFound, nil, nil, nil, store.ErrNotFound)
		},
		"InvalidSpoilsNothing": func(t *testing.T, s store.Store) {
			bad := map[string]func(e *store.Entry){
				"no id":      func(e *store.Entry) { e.Decision.ID = "" },
				"no cluster": func(e *store.Entry) { e.Decision.Cluster = "" },
				"NUL":        func(e *store.Entry) { e.Decision.Pod = "a\x00b" },
				"not UTF-8":  func(e *store.Entry) { e.Decision.Message = "\xff" },
				"reason":     func(e *store.Entry) { e.Decision.Failures = []store.Failure{{Reason: "\xff"}} },
				"plugins": func(e *store.Entry) {
					e.Decision.Scores = []store.Score{{Plugins: store.PluginScores{{Plugin: "\xff"}}}}
				},
				"victim":           func(e *store.Entry) { e.Decision.Victims = []store.Victim{{Pod: "\x00"}} },
				"nothing":          func(e *store.Entry) { e.Decision = nil },
				"lone checkpoint":  func(e *store.Entry) { e.Checkpoint = &store.Checkpoint{} },
				"profile":          func(e *store.Entry) { e.Profile = &store.Profile{} },
				"no token":         func(e *store.Entry) { *e = *revision("prod", 1); e.Revision.Token = "" },
				"no state":         func(e *store.Entry) { *e = *revision("prod", 1); e.Checkpoint = nil },
				"other checkpoint": func(e *store.Entry) { *e = *revision("prod", 1); e.Checkpoint.Number = 2 },
				"other cluster": func(e *store.Entry) {
					e.Revision, e.Checkpoint = revision("test", 1).Revision, revision("test", 1).Checkpoint
				},
				"summary": func(e *store.Entry) { *e = *revision("prod", 1); e.Revision.Summary = []byte("no") },
			}
			var es []*store.Entry
			var want []error
			for name, spoil := range bad {
				e := &store.Entry{Decision: decision("prod", "bad-"+name, at(1))}
				spoil(e)
				es = append(es, e, &store.Entry{Decision: decision("prod", "good-"+name, at(1))})
				want = append(want, store.ErrInvalid, nil)
			}
			refused(t, s, es, want...)
			ds, err := s.ListDecisions(t.Context(), store.DecisionFilter{})
			wantErr(t, "ListDecisions", err, nil)
			same(t, "records", len(bad), len(ds))
		},
		"BatchSizes": func(t *testing.T, s store.Store) {
			for _, size := range []int{0, 1, 256, 257, 5000} {
				var es []*store.Entry
				cluster := fmt.Sprint("size-", size)
				for i := range size {
					es = append(es, &store.Entry{Decision: decision(cluster, fmt.Sprint(size, "-", i), at(i))})
				}
				appendAll(t, s, es...)
				ds, err := s.ListDecisions(t.Context(), store.DecisionFilter{Cluster: cluster})
				wantErr(t, "ListDecisions", err, nil)
				same(t, "records", size, len(ds))
			}
		},
	})
}
