package storetest

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"berth/internal/store"
)

func init() {
	register("ReplayReads", cases{
		"DecisionsInOrderOfRevisions": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1), change("prod", 2), change("prod", 3), revision("test", 1))
			var es []*store.Entry
			for i, r := range []int64{3, 1, 2, 1, 2, 3, 1, 2} {
				d := full()
				d.ID, d.Revision, d.BoundRevision, d.CreatedAt = fmt.Sprintf("%c", 'a'+7-i), r, 0, at(i/2)
				es = append(es, &store.Entry{Decision: d})
			}
			other := decision("test", "z", at(1))
			other.Revision = 1
			appendAll(t, s, append(es, &store.Entry{Decision: other})...)
			read := func(q store.ReplayRange, limit int) string {
				var out string
				for after := (store.ReplayCursor{}); ; {
					n := 0
					err := s.ReplayDecisions(t.Context(), q, after, limit, func(d *store.Decision) error {
						after = store.ReplayCursor{Revision: d.Revision, CreatedAt: d.CreatedAt, ID: d.ID}
						out += fmt.Sprint(d.Revision, d.ID, " ")
						n++
						return nil
					})
					wantErr(t, "ReplayDecisions", err, nil)
					if n < limit {
						return out
					}
				}
			}
			all := store.ReplayRange{Cluster: "prod", Since: at(0), Until: at(9), First: 0, Last: 9}
			for limit := 1; limit < 10; limit++ {
				same(t, fmt.Sprint("pages of ", limit), "1g 1e 1b 2f 2d 2a 3h 3c ", read(all, limit))
			}
			part := all
			part.First, part.Last = 2, 2
			same(t, "a range", "2f 2d 2a ", read(part, 2))
			part = all
			part.Since, part.Until = at(1), at(2).Add(1)
			same(t, "a window", "1e 2f 2d 3c ", read(part, 2))
			err := s.ReplayDecisions(t.Context(), all, store.ReplayCursor{Revision: 3, CreatedAt: at(0), ID: "h"}, 1, func(d *store.Decision) error {
				whole, want := full(), &store.Decision{Cluster: "prod"}
				whole.ID, whole.Revision, whole.BoundRevision, whole.CreatedAt = "c", 3, 0, at(2)
				for _, c := range store.DecisionColumns {
					if slices.Contains(store.ReplayColumns, c.Name) {
						reflect.ValueOf(c.Field(want)).Elem().Set(reflect.ValueOf(c.Field(whole)).Elem())
					}
				}
				same(t, "decision", want, d)
				return nil
			})
			wantErr(t, "ReplayDecisions", err, nil)
		},
		"PagesOfLargeRecordsEndEarly": func(t *testing.T, s store.Store) {
			large := make([]byte, store.PageBytes/2+1)
			es := []*store.Entry{revision("prod", 1)}
			for n := range int64(5) {
				c := change("prod", n+2)
				c.Revision.Change = large
				es = append(es, c)
			}
			for i := range 5 {
				d := full()
				d.ID, d.Revision, d.BoundRevision, d.CreatedAt, d.Input = fmt.Sprint(i), 1, 0, at(i), large
				es = append(es, &store.Entry{Decision: d})
			}
			appendAll(t, s, es...)
			changes, err := s.ReplayChanges(t.Context(), "prod", 1, 5)
			wantErr(t, "ReplayChanges", err, nil)
			same(t, "changes", 2, len(changes))
			rs, err := s.RevisionsAfter(t.Context(), "prod", 1, 5)
			wantErr(t, "RevisionsAfter", err, nil)
			same(t, "revisions", 2, len(rs))
			rs, err = s.ListRevisions(t.Context(), "prod", 0, 5)
			wantErr(t, "ListRevisions", err, nil)
			same(t, "revisions without changes", 5, len(rs))
			same(t, "a change in a list", 0, len(rs[0].Change))
			n, all := 0, store.ReplayRange{Cluster: "prod", Since: at(0), Until: at(9), First: 0, Last: 9}
			err = s.ReplayDecisions(t.Context(), all, store.ReplayCursor{}, 5, func(*store.Decision) error { n++; return nil })
			wantErr(t, "ReplayDecisions", err, nil)
			same(t, "decisions", 2, n)
			next, more := store.NextPage(5, n, n*len(large), 9)
			same(t, "the next page", []any{2, true}, []any{next, more})
		},
		"ChangesInOrder": func(t *testing.T, s store.Store) {
			empty := change("prod", 2)
			empty.Revision.Change = []byte{}
			appendAll(t, s, revision("prod", 1), empty, change("prod", 3), revision("prod", 4), revision("test", 1))
			list, err := s.ReplayChanges(t.Context(), "prod", 1, 9)
			wantErr(t, "ReplayChanges", err, nil)
			same(t, "changes", []*store.ReplayChange{
				{Number: 2, Digest: "sha256:2", Change: []byte{}}, {Number: 3, Digest: "sha256:3", Change: []byte{0, 1, 0xfe}}, {Number: 4, Digest: "sha256:4"},
			}, list)
			list, err = s.ReplayChanges(t.Context(), "prod", 0, 2)
			wantErr(t, "ReplayChanges", err, nil)
			same(t, "a page", []int64{1, 2}, []int64{list[0].Number, list[1].Number})
			list, err = s.ReplayChanges(t.Context(), "nowhere", 0, 2)
			wantErr(t, "ReplayChanges", err, nil)
			same(t, "unknown", 0, len(list))
		},
		"PlannedBetweenRevisions": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1))
			var es []*store.Entry
			for i := range 20 {
				n := int64(2 + i/3) // revisions 2 to 8, three decisions each, the last two
				if i < 7 {
					appendAll(t, s, change("prod", n+int64(i)-int64(i/3)))
				}
				d := decision("prod", fmt.Sprintf("%02d", i), at(i))
				d.Revision = n
				es = append(es, &store.Entry{Decision: d})
			}
			appendAll(t, s, es...)
			parts, err := s.PlanReplay(t.Context(), "prod", at(1), at(19), 4)
			wantErr(t, "PlanReplay", err, nil)
			var got []string
			for _, p := range parts {
				got = append(got, fmt.Sprint(p.Cluster, " ", p.Number, ": ", p.First, "-", p.Last, " ", p.Total))
			}
			same(t, "parts", []string{"prod 0: 2-3 5", "prod 1: 4-5 6", "prod 2: 6-7 6", "prod 3: 8-8 1"}, got)
			parts, err = s.PlanReplay(t.Context(), "nowhere", at(1), at(19), 4)
			wantErr(t, "PlanReplay", err, nil)
			same(t, "nothing", 0, len(parts))
		},
	})
}
