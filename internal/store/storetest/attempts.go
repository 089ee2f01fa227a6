package storetest

import (
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"berth/internal/store"

	"github.com/google/go-cmp/cmp"
)

func init() {
	register("Attempts", cases{
		"FailedOnly": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1), revision("prod", 2), revision("prod", 3))
			n := 0
			add := func(cluster, pod, uid, verb, outcome string, second int, on, made int64) {
				n++
				d := decision(cluster, string(rune('a'+n)), at(second))
				d.Namespace, d.Pod, d.PodUID, d.Verb, d.Outcome, d.Revision, d.BoundRevision = "shop", pod, uid, verb, outcome, on, made
				appendAll(t, s, &store.Entry{Decision: d})
			}
			add("prod", "cart", "u1", "decide", "Unschedulable", 1, 1, 0)
			add("prod", "cart", "u1", "filter", "Preempting", 3, 1, 2)
			add("prod", "cart", "u1", "preempt", "Preempting", 4, 2, 0)
			add("prod", "cart", "u1", "decide", "Scheduled", 5, 2, 0)
			add("prod", "cart", "u1", "decide", "Unschedulable", 6, 3, 0)
			add("prod", "cart", "u2", "decide", "Unschedulable", 2, 1, 0)
			add("prod", "web", "u3", "decide", "Gated", 1, 1, 0)
			add("prod", "other", "u4", "decide", "Unschedulable", 1, 1, 0)
			add("test", "cart", "u1", "decide", "Unschedulable", 9, 0, 0)
			for _, c := range []struct {
				name   string
				filter store.AttemptFilter
				want   []store.FailedAttempts
			}{
				{"all", store.AttemptFilter{Cluster: "prod", Pods: []string{"cart", "web"}, Until: at(9), Revision: 3}, []store.FailedAttempts{
					{Namespace: "shop", Pod: "cart", UID: "u1", Count: 3, Last: at(6), Revision: 3},
					{Namespace: "shop", Pod: "cart", UID: "u2", Count: 1, Last: at(2), Revision: 1},
				}},
				{"until", store.AttemptFilter{Cluster: "prod", Pods: []string{"cart"}, Until: at(3), Revision: 3}, []store.FailedAttempts{
					{Namespace: "shop", Pod: "cart", UID: "u1", Count: 2, Last: at(3), Revision: 2},
					{Namespace: "shop", Pod: "cart", UID: "u2", Count: 1, Last: at(2), Revision: 1},
				}},
				{"revision", store.AttemptFilter{Cluster: "prod", Pods: []string{"cart"}, Until: at(9), Revision: 1}, []store.FailedAttempts{
					{Namespace: "shop", Pod: "cart", UID: "u1", Count: 1, Last: at(1), Revision: 1},
					{Namespace: "shop", Pod: "cart", UID: "u2", Count: 1, Last: at(2), Revision: 1},
				}},
				{"nobody", store.AttemptFilter{Cluster: "prod", Until: at(9), Revision: 3}, nil},
			} {
				got, err := s.FailedAttempts(t.Context(), c.filter)
				wantErr(t, "FailedAttempts", err, nil)
				if d := cmp.Diff(c.want, got, cmpopts.SortSlices(func(a, b store.FailedAttempts) bool { return a.UID < b.UID })); d != "" {
					t.Errorf("%s (-want +got):\n%s", c.name, d)
				}
			}
		},
		"LastChange": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1), revision("prod", 2), revision("prod", 3), revision("prod", 4))
			for i, outcome := range []string{"Scheduled", "Unschedulable", "Preempting"} {
				d := decision("prod", outcome, at(i))
				d.Outcome, d.Revision, d.BoundRevision = outcome, int64(1+i), int64(2+i)
				appendAll(t, s, &store.Entry{Decision: d})
			}
			for revision, want := range map[int64]int64{0: 0, 1: 1, 2: 2, 3: 2, 4: 2, 9: 2} {
				got, err := s.LastChange(t.Context(), "prod", revision)
				wantErr(t, "LastChange", err, nil)
				same(t, "last change", want, got)
			}
			got, err := s.LastChange(t.Context(), "nothing", 9)
			wantErr(t, "LastChange", err, nil)
			same(t, "last change", int64(0), got)
		},
	})
}
