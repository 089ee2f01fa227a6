package storetest

import (
	"fmt"
	"testing"
	"time"

	"berth/internal/store"

	"github.com/google/go-cmp/cmp"
)

// plant writes six decisions, a the oldest, over two clusters.
func plant(t *testing.T, s store.Store) {
	t.Helper()
	rows := []struct{ id, cluster, namespace, pod, node, outcome, verb string }{
		{"a", "prod", "shop", "cart", "n1", "Scheduled", "decide"},
		{"b", "prod", "shop", "cart", "", "Unschedulable", "filter"},
		{"c", "prod", "bank", "cart", "N1", "Scheduled", "decide"},
		{"d", "prod", "bank", "Cart", "n2", "Scheduled", "bind"},
		{"e", "test", "shop", "cart", "n1", "Scheduled", "decide"},
		{"f", "prod", "shop", "till", "n1", "Scheduled", "decide"},
	}
	var es []*store.Entry
	for i, r := range rows {
		d := decision(r.cluster, r.id, at(i))
		d.Namespace, d.Pod, d.Node, d.Outcome, d.Verb = r.namespace, r.pod, r.node, r.outcome, r.verb
		es = append(es, &store.Entry{Decision: d})
	}
	appendAll(t, s, es...)
}

func ids(t *testing.T, s store.Store, f store.DecisionFilter) []string {
	t.Helper()
	ds, err := s.ListDecisions(t.Context(), f)
	if err != nil {
		t.Fatalf("ListDecisions(%+v): %v", f, err)
	}
	var out []string
	for _, d := range ds {
		out = append(out, d.ID)
	}
	return out
}

func init() {
	register("List", cases{
		"Filters": func(t *testing.T, s store.Store) {
			plant(t, s)
			tests := []struct {
				name string
				f    store.DecisionFilter
				want []string
			}{
				{"all", store.DecisionFilter{}, []string{"f", "e", "d", "c", "b", "a"}},
				{"all, limit", store.DecisionFilter{Limit: 2}, []string{"f", "e"}},
				{"cluster", store.DecisionFilter{Cluster: "prod"}, []string{"f", "d", "c", "b", "a"}},
				{"cluster, limit", store.DecisionFilter{Cluster: "prod", Limit: 3}, []string{"f", "d", "c"}},
				{"cluster's case", store.DecisionFilter{Cluster: "PROD"}, nil},
				{"namespace", store.DecisionFilter{Cluster: "prod", Namespace: "shop"}, []string{"f", "b", "a"}},
				{"namespace everywhere", store.DecisionFilter{Namespace: "shop"}, []string{"f", "e", "b", "a"}},
				{"pod", store.DecisionFilter{Cluster: "prod", Pod: "cart"}, []string{"c", "b", "a"}},
				{"pod's case", store.DecisionFilter{Cluster: "prod", Pod: "Cart"}, []string{"d"}},
				{"namespace and pod", store.DecisionFilter{Cluster: "prod", Namespace: "shop", Pod: "cart"}, []string{"b", "a"}},
				{"node", store.DecisionFilter{Cluster: "prod", Node: "n1"}, []string{"f", "a"}},
				{"node's case", store.DecisionFilter{Cluster: "prod", Node: "N1"}, []string{"c"}},
				{"no pattern", store.DecisionFilter{Cluster: "prod", Node: "n%"}, nil},
				{"outcome", store.DecisionFilter{Cluster: "prod", Outcome: "Unschedulable"}, []string{"b"}},
				{"verb", store.DecisionFilter{Cluster: "prod", Verb: "bind"}, []string{"d"}},
				{"since is inclusive", store.DecisionFilter{Since: at(3)}, []string{"f", "e", "d"}},
				{"since, a nanosecond later", store.DecisionFilter{Since: at(3).Add(1)}, []string{"f", "e"}},
				{"until is exclusive", store.DecisionFilter{Until: at(2)}, []string{"b", "a"}},
				{"until, a nanosecond later", store.DecisionFilter{Until: at(2).Add(1)}, []string{"c", "b", "a"}},
				{"window in another zone", store.DecisionFilter{Since: at(1).In(time.FixedZone("east", 7200)), Until: at(4)}, []string{"d", "c", "b"}},
				{"all at once", store.DecisionFilter{
					Cluster: "prod", Namespace: "shop", Pod: "cart", Node: "n1",
					Outcome: "Scheduled", Verb: "decide", Since: at(0), Until: at(9), BeforeTime: at(8), BeforeID: "z", Limit: 9,
				}, []string{"a"}},
				{"hostile", store.DecisionFilter{Cluster: "prod' OR 1=1 --", Pod: "\"; DROP TABLE decisions"}, nil},
			}
			for _, tt := range tests {
				sameList(t, tt.name, tt.want, ids(t, s, tt.f))
			}
		},
		"WhatAListShows": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1), &store.Entry{Decision: full()})
			want := full()
			want.Input, want.Failures, want.Scores, want.Victims, want.Facts, want.Blockers = nil, nil, nil, nil, "", ""
			ds, err := s.ListDecisions(t.Context(), store.DecisionFilter{Cluster: "prod"})
			wantErr(t, "ListDecisions", err, nil)
			same(t, "list", []*store.Decision{want}, ds)
		},
		"EqualTimesInByteOrder": func(t *testing.T, s store.Store) {
			// Collations of languages would put these otherwise.
			for _, id := range []string{"é", "a", "Z", "B", "_", "-", "10", "9"} {
				appendAll(t, s, &store.Entry{Decision: decision("prod", id, at(1))})
			}
			want := []string{"é", "a", "_", "Z", "B", "9", "10", "-"}
			sameList(t, "cluster", want, ids(t, s, store.DecisionFilter{Cluster: "prod"}))
			sameList(t, "all", want, ids(t, s, store.DecisionFilter{}))
			sameList(t, "page", want[3:5], ids(t, s, store.DecisionFilter{Cluster: "prod", BeforeTime: at(1), BeforeID: "_", Limit: 2}))
		},
		"PagesAreStableWhileRowsComeIn": func(t *testing.T, s store.Store) {
			var want []string
			for i := range 50 {
				cluster := []string{"prod", "test"}[i%2]
				id := fmt.Sprintf("%02d", i)
				appendAll(t, s, &store.Entry{Decision: decision(cluster, id, at(i/4))}) // four of each time
				want = append([]string{id}, want...)
			}
			var got []string
			f := store.DecisionFilter{Limit: 7}
			for page := 0; ; page++ {
				ds, err := s.ListDecisions(t.Context(), f)
				if err != nil {
					t.Fatalf("page %d: %v", page, err)
				}
				if len(ds) == 0 {
					break
				}
				for _, d := range ds {
					got = append(got, d.ID)
				}
				last := ds[len(ds)-1]
				f.BeforeTime, f.BeforeID = last.CreatedAt, last.ID
				appendAll(t, s, &store.Entry{Decision: decision("prod", fmt.Sprintf("new-%d", page), at(1000+page))})
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("pages (-want +got):\n%s", diff)
			}
		},
		"PagesGoByTimeWhateverTheIDs": func(t *testing.T, s store.Store) {
			// Of several replicas none knows the others' ids, and a spool brings its
			// records late: the later record may well have the smaller id.
			for i, id := range []string{"d", "a", "c", "b"} {
				appendAll(t, s, &store.Entry{Decision: decision("prod", id, at(i))})
			}
			sameList(t, "first page", []string{"b", "c"}, ids(t, s, store.DecisionFilter{Cluster: "prod", Limit: 2}))
			sameList(t, "second page", []string{"a", "d"}, ids(t, s, store.DecisionFilter{Cluster: "prod", BeforeTime: at(2), BeforeID: "c", Limit: 2}))
		},
	})
}
