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
		// The time that a question named counts, and not when it was asked.
		"AsOf": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1), revision("prod", 2), revision("prod", 3))
			for i, x := range []struct {
				second, named int
				on            int64
				by            string
			}{{1, 0, 1, "NodeName"}, {2, 60, 2, "NodePorts"}, {3, 30, 3, "NodeAffinity,NodeResourcesFit"}, {4, 60, 1, ""}, {5, 0, 2, "NodeAffinity"}} {
				d := decision("prod", string(rune('a'+i)), at(x.second))
				d.Namespace, d.Pod, d.PodUID, d.Verb, d.Outcome, d.Revision, d.RejectedBy = "shop", "cart", "u1", "decide", "Unschedulable", x.on, x.by
				if x.named > 0 {
					d.AskedAsOf = at(x.named)
				}
				appendAll(t, s, &store.Entry{Decision: d})
			}
			for _, c := range []struct {
				name  string
				until int
				named bool
				want  store.FailedAttempts
			}{
				{"the last one without a time", 90, false, store.FailedAttempts{Count: 2, Last: at(5), Revision: 2, RejectedBy: "NodeAffinity"}},
				{"the last one of a time, and of those the one asked last", 90, true, store.FailedAttempts{Count: 5, Last: at(60), Revision: 1}},
				{"up to a time", 59, true, store.FailedAttempts{Count: 3, Last: at(30), Revision: 3, RejectedBy: "NodeAffinity,NodeResourcesFit"}},
				{"before those that named one", 4, true, store.FailedAttempts{Count: 1, Last: at(1), Revision: 1, RejectedBy: "NodeName"}},
			} {
				got, err := s.FailedAttempts(t.Context(), store.AttemptFilter{Cluster: "prod", Pods: []string{"cart"}, Until: at(c.until), Named: c.named, Revision: 3})
				wantErr(t, "FailedAttempts", err, nil)
				c.want.Namespace, c.want.Pod, c.want.UID = "shop", "cart", "u1"
				same(t, c.name, []store.FailedAttempts{c.want}, got)
			}
			list, err := s.ListDecisions(t.Context(), store.DecisionFilter{Cluster: "prod", AsOf: at(30)})
			wantErr(t, "ListDecisions", err, nil)
			ids := ""
			for _, d := range list {
				ids += d.ID
			}
			same(t, "decisions up to a time", "eca", ids)
		},
	})
}
