package storetest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/store"
)

// changed is a revision with what it changed: a pod that was bound, one that was deleted, and a
// priority class.
func changed(cluster string, number int64) *store.Entry {
	e := change(cluster, number)
	if number == 1 {
		e = revision(cluster, number)
	}
	r := e.Revision
	r.Asked = store.Asked{By: "token:sre", Peer: "10.0.0.1", RequestID: fmt.Sprint("r", number)}
	r.Objects = []store.RevisionObject{
		{Action: store.Deleted, Kind: "Pod", Namespace: "shop", Name: "cart-1", UID: "u1"},
		{Action: store.Applied, Kind: "PriorityClass", Name: "rush", Changed: []byte(`["value"]`)},
		{Action: store.Applied, Kind: "Pod", Namespace: "shop", Name: "cart-2", UID: "u2", Node: "n1", Changed: []byte(`["spec.nodeName"]`)},
	}
	r.Changes = 1005
	r.Classes = []store.ClassChange{{Name: "rush", Old: &store.ClassFacts{Value: 1, Policy: "Never"}, New: &store.ClassFacts{Value: 2, Policy: "PreemptLowerPriority", GlobalDefault: true}}}
	return e
}

// rows returns the rows of a query that both dialects read alike, a row's columns joined by "|".
func rows(t *testing.T, s store.Store, sql string) []string {
	t.Helper()
	got, err := s.Query(t.Context(), &store.Query{SQL: sql, MaxBytes: 1 << 20})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	list := []string{}
	for _, row := range got.Rows {
		parts := make([]string, len(row))
		for i, v := range row {
			if v != nil {
				parts[i] = fmt.Sprint(v)
			}
		}
		list = append(list, strings.Join(parts, "|"))
	}
	return list
}

const classLog = `SELECT seq, action, name, old_value, new_value, old_policy, new_policy,
CASE WHEN old_global_default THEN 'yes' WHEN NOT old_global_default THEN 'no' END,
CASE WHEN new_global_default THEN 'yes' WHEN NOT new_global_default THEN 'no' END,
source, revision, asked_by, peer, request_id FROM priority_class_log WHERE cluster = 'prod' ORDER BY seq`

func init() {
	register("Changes", cases{
		"ObjectsOfARevision": func(t *testing.T, s store.Store) {
			appendAll(t, s, changed("prod", 1), change("prod", 2), changed("prod", 3))
			same(t, "objects", []string{
				"1|1|delete|Pod|shop|cart-1|u1|||upload|token:sre|prod@1|1005",
				"1|2|apply|PriorityClass||rush|||[\"value\"]|upload|token:sre|prod@1|1005",
				"1|3|apply|Pod|shop|cart-2|u2|n1|[\"spec.nodeName\"]|upload|token:sre|prod@1|1005",
				"3|1|delete|Pod|shop|cart-1|u1|||change|token:sre|prod@3|1005",
				"3|2|apply|PriorityClass||rush|||[\"value\"]|change|token:sre|prod@3|1005",
				"3|3|apply|Pod|shop|cart-2|u2|n1|[\"spec.nodeName\"]|change|token:sre|prod@3|1005",
			}, rows(t, s, `SELECT revision, place, action, kind, namespace, name, uid, node, changed, cause, asked_by, snapshot, objects
FROM revision_objects WHERE cluster = 'prod' ORDER BY revision, place`))
			same(t, "revision_log", []string{"1|1005", "2|", "3|1005"}, rows(t, s, `SELECT number, objects FROM revision_log WHERE cluster = 'prod' ORDER BY number`))
			same(t, "times", []string{"3"}, rows(t, s, `SELECT count(*) FROM revision_objects o JOIN revision_log r ON r.cluster = o.cluster AND r.number = o.revision AND r.created_at = o.created_at AND r.time = o.time WHERE r.number = 3`))
		},
		"BindsAreTheirDecisions": func(t *testing.T, s store.Store) {
			bind := func(number int64, id string) *store.Entry {
				e := change("prod", number)
				e.Revision.Cause, e.Revision.Asked = "bind", store.Asked{By: "token:sre"}
				e.Decision = decision("prod", id, at(int(number)))
				d := e.Decision
				d.Verb, d.Namespace, d.Pod, d.PodUID, d.Outcome, d.Node = "bind", "shop", "cart-1", "u1", "Scheduled", "n1"
				d.Revision, d.BoundRevision, d.Purpose, d.Asked = number-1, number, "live", e.Revision.Asked
				return e
			}
			effects, old, other := bind(3, "2"), bind(4, "3"), bind(5, "4")
			effects.Revision.Changes = 2
			effects.Revision.Objects = []store.RevisionObject{{Action: store.Applied, Kind: "PersistentVolumeClaim", Namespace: "shop", Name: "data"}}
			old.Decision.Purpose = "" // of a release that did not say what a revision changed
			other.Decision.Outcome = "Preempting"
			appendAll(t, s, revision("prod", 1), bind(2, "1"), effects, old, other)
			same(t, "objects", []string{
				"2|0|apply|Pod|shop|cart-1|u1|n1||bind|token:sre|prod@2|1", "3|0|apply|Pod|shop|cart-1|u1|n1||bind|token:sre|prod@3|2",
				"3|1|apply|PersistentVolumeClaim|shop|data||||bind|token:sre|prod@3|2",
			}, rows(t, s, `SELECT revision, place, action, kind, namespace, name, uid, node, changed, cause, asked_by, snapshot, objects
FROM revision_objects WHERE cluster = 'prod' AND kind <> 'x' ORDER BY revision, place`))
			same(t, "revision_log", []string{"1|", "2|1", "3|2", "4|", "5|"}, rows(t, s, `SELECT number, objects FROM revision_log WHERE cluster = 'prod' ORDER BY number`))
			same(t, "times", []string{"2"}, rows(t, s, `SELECT count(*) FROM revision_objects o JOIN decision_log d ON d.cluster = o.cluster AND d.created_at = o.created_at AND d.time = o.time AND d.bound_revision = o.revision WHERE o.place = 0`))
			chains(t, s)
		},
		"OutliveTheirRevision": func(t *testing.T, s store.Store) {
			appendAll(t, s, changed("prod", 1), changed("prod", 2))
			wantErr(t, "PutCheckpoint", s.PutCheckpoint(t.Context(), &store.Checkpoint{Cluster: "prod", Number: 2, Payload: []byte{1}}), nil)
			wantErr(t, "DeleteRevision", s.DeleteRevision(t.Context(), "prod", 1), nil)
			same(t, "rows", []string{"1|3", "2|3"}, rows(t, s, `SELECT revision, count(*) FROM revision_objects GROUP BY revision ORDER BY revision`))
		},
		"RetentionTakesThem": func(t *testing.T, s store.Store) {
			for n := int64(1); n <= 4; n++ {
				appendAll(t, s, changed("prod", n), changed("test", n))
			}
			_, err := s.Retain(t.Context(), at(3))
			wantErr(t, "Retain", err, nil)
			same(t, "rows", []string{"prod|3", "prod|4", "test|3", "test|4"}, rows(t, s, `SELECT DISTINCT cluster, revision FROM revision_objects ORDER BY cluster, revision`))
			same(t, "classes stay", []string{"4", "4"}, rows(t, s, `SELECT count(*) FROM priority_class_log GROUP BY cluster`))
			_, err = s.Retain(t.Context(), at(100))
			wantErr(t, "Retain", err, nil)
			same(t, "all", []string{"0"}, rows(t, s, `SELECT count(*) FROM revision_objects`))
			appendAll(t, s, changed("prod", 5))
		},
		"ClassesOfStoreAndSnapshots": func(t *testing.T, s store.Store) {
			ctx := store.WithAsked(t.Context(), store.Asked{By: "token:bob", Peer: "10.0.0.9", RequestID: "q1"})
			put := func(c *store.PriorityClass, expect int64) int64 {
				t.Helper()
				v, err := s.PutPriorityClass(ctx, c, expect)
				wantErr(t, "PutPriorityClass", err, nil)
				return v
			}
			rush := priorityClass("prod", "rush", 5000)
			version := put(rush, 0)
			put(rush, 0) // as it is stored: no change
			version = put(withDefault(priorityClass("prod", "rush", 9000)), version)
			_, err := s.PutPriorityClass(ctx, priorityClass("prod", "rush", 1), version-1)
			wantErr(t, "a write that is refused", err, store.ErrConflict)
			appendAll(t, s, changed("prod", 1))
			wantErr(t, "DeletePriorityClass", s.DeletePriorityClass(ctx, "prod", "rush", version), nil)
			wantErr(t, "a second time", s.DeletePriorityClass(ctx, "prod", "rush", 0), store.ErrNotFound)
			want := []string{
				"1|create|rush||5000||Never||no|store||token:bob|10.0.0.9|q1",
				"2|update|rush|5000|9000|Never|Never|no|yes|store||token:bob|10.0.0.9|q1",
				"3|update|rush|1|2|Never|PreemptLowerPriority|no|yes|snapshot|1|token:sre|10.0.0.1|r1",
				"4|delete|rush|9000||Never||yes||store||token:bob|10.0.0.9|q1",
			}
			same(t, "log", want, rows(t, s, classLog))
			// The deletion of the cluster is one of its classes, and the log stays.
			put(priorityClass("prod", "low", 3), 0)
			wantErr(t, "DeleteCluster", s.DeleteCluster(ctx, "prod"), nil)
			want = append(want, "5|create|low||3||Never||no|store||token:bob|10.0.0.9|q1", "6|delete|low|3||Never||no||store||token:bob|10.0.0.9|q1")
			same(t, "log after the deletion", want, rows(t, s, classLog))
			same(t, "objects", []string{"0"}, rows(t, s, `SELECT count(*) FROM revision_objects`))
			chains(t, s)
			put(priorityClass("prod", "low", 4), 0)
			same(t, "the place goes on", []string{"7"}, rows(t, s, `SELECT max(seq) FROM priority_class_log`))
		},
		"ClassesAlone": func(t *testing.T, s store.Store) {
			before := time.Now().Add(-time.Second)
			putClass(t, s, priorityClass("prod", "rush", 1), 0)
			heads, err := s.SealHeads(t.Context(), "")
			wantErr(t, "SealHeads", err, nil)
			if len(heads) != 1 || heads[0].Number != 1 || heads[0].Beginning != 1 {
				t.Errorf("a cluster with classes alone has the books %+v", heads)
			}
			if list, err := s.Clusters(t.Context(), store.ClusterFilter{}); err != nil || len(list) != 0 {
				t.Errorf("it has no revision: %v, %v", list, err)
			}
			got, err := s.Query(t.Context(), &store.Query{SQL: `SELECT time FROM priority_class_log WHERE created_at IS NOT NULL`, MaxBytes: 1000})
			wantErr(t, "Query", err, nil)
			if at, err := time.Parse(time.RFC3339Nano, fmt.Sprint(got.Rows[0][0])); err != nil || at.Before(before) || at.After(time.Now()) {
				t.Errorf("written at %v, %v", at, err)
			}
			appendAll(t, s, changed("prod", 1)) // the chain goes on
		},
		"EvictionsAndEndsOfPods": func(t *testing.T, s store.Store) {
			none, forbidden := "", "web,web-2"
			victims := []store.Victim{
				{
					Namespace: "shop", Pod: "cart-1", UID: "u1", Priority: 5, Node: "n1",
					Budget: &forbidden, OwnerKind: "Deployment", OwnerName: "cart",
				},
				{Namespace: "shop", Pod: "cart-9", UID: "u9", Node: "n1", Budget: &none},
				{Namespace: "shop", Pod: "other", UID: "u8", Node: "n2"}, // of another candidate
			}
			n := 0
			tried := func(pod, outcome string, on, made int64, change func(d *store.Decision)) {
				t.Helper()
				n++
				d := decision("prod", fmt.Sprint("d", n), at(n))
				d.Namespace, d.Pod, d.PodUID, d.Purpose, d.Attempt = "shop", pod, "uid-"+pod, "live", d.ID
				d.Outcome, d.Revision, d.BoundRevision = outcome, on, made
				if change != nil {
					change(d)
				}
				e := &store.Entry{Decision: d}
				if made > 0 {
					e.Revision = changed("prod", made).Revision
					e.Revision.Objects, e.Revision.Classes = nil, nil
				}
				appendAll(t, s, e)
			}
			preempts := func(d *store.Decision) {
				d.NominatedNode, d.Victims, d.Priority, d.Asked.By = "n1", victims, 9, "token:sre"
			}
			appendAll(t, s, revision("prod", 1))
			tried("urgent", "Preempting", 1, 2, preempts) // d1
			tried("urgent", "Preempting", 2, 0, preempts) // d2: not written
			tried("urgent", "Preempting", 2, 0, func(d *store.Decision) {
				preempts(d)
				d.Purpose, d.Attempt, d.Verb = "shadow", "", "preempt"
			})
			tried("lost", "Unschedulable", 2, 0, nil)  // d4
			tried("lost", "Unschedulable", 2, 0, nil)  // d5
			tried("still", "Unschedulable", 2, 0, nil) // d6
			tried("asked", "Scheduled", 2, 0, func(d *store.Decision) { d.Purpose, d.Attempt = "question", "" })
			gone := change("prod", 3)
			gone.Revision.Objects = []store.RevisionObject{
				{Action: store.Deleted, Kind: "Pod", Namespace: "shop", Name: "cart-1", UID: "u1"},
				{Action: store.Deleted, Kind: "Pod", Namespace: "shop", Name: "cart-9", UID: "another"},
				{Action: store.Deleted, Kind: "Pod", Namespace: "shop", Name: "lost", UID: "uid-lost"},
			}
			gone.Revision.Changes = 3
			appendAll(t, s, gone)
			tried("urgent", "Scheduled", 3, 4, func(d *store.Decision) { d.Node = "n1" }) // d8
			same(t, "evictions", []string{
				"d1|shop|urgent|uid-urgent|9|shop/cart-1|u1|5|Deployment|cart|n1|decide|token:sre|web,web-2|yes",
				"d1|shop|urgent|uid-urgent|9|shop/cart-9|u9|0|||n1|decide|token:sre||",
			}, rows(t, s, `SELECT e.decision_id, e.namespace, e.pod, e.pod_uid, e.priority, e.victim, e.victim_uid, e.victim_priority,
e.victim_owner_kind, e.victim_owner, e.node, e.verb, e.asked_by, e.budget_violated, CASE WHEN e.gone_at = r.created_at THEN 'yes' END
FROM evictions e JOIN revision_log r ON r.cluster = e.cluster AND r.number = 3 WHERE e.cluster = 'prod' ORDER BY e.victim`))
			same(t, "pods", []string{"lost|deleted|d4|||yes", "still|waits|d6|||", "urgent|placed|d1|yes||"},
				rows(t, s, `SELECT p.pod, p."end", p.attempt, CASE WHEN p.placed_at = d.created_at THEN 'yes' END,
CASE WHEN p.first_attempt_at > p.placed_at THEN 'wrong' END, CASE WHEN p.gone_at = r.created_at THEN 'yes' END
FROM pods_over_time p JOIN decision_log d ON d.cluster = p.cluster AND d.id = 'd8'
JOIN revision_log r ON r.cluster = p.cluster AND r.number = 3 WHERE p.cluster = 'prod' ORDER BY p.pod`))
			// What older records do not have is NULL.
			old := decision("prod", "d0", at(0))
			old.Outcome, old.NominatedNode, old.Revision, old.BoundRevision = "Preempting", "n1", 4, 4
			old.Victims = []store.Victim{{Namespace: "shop", Pod: "cart-7", UID: "u7", Node: "n1"}}
			appendAll(t, s, &store.Entry{Decision: old})
			same(t, "an older record", []string{"1"}, rows(t, s, `SELECT count(*) FROM evictions WHERE decision_id = 'd0' AND budget_violated IS NULL AND victim_owner IS NULL AND gone_at IS NULL AND purpose = 'live'`))
		},
		"TogetherWithoutGaps": func(t *testing.T, s store.Store) {
			const each = 8
			var writers sync.WaitGroup
			for w := range 4 {
				writers.Go(func() {
					for i := range each {
						if _, err := s.PutPriorityClass(context.Background(), priorityClass("prod", fmt.Sprintf("c%d-%d", w, i), 1), 0); err != nil {
							t.Errorf("PutPriorityClass: %v", err)
						}
					}
				})
			}
			for n := int64(1); n <= each; n++ {
				appendAll(t, s, changed("prod", n))
			}
			writers.Wait()
			same(t, "places", []string{"40|40"}, rows(t, s, `SELECT count(*), max(seq) FROM priority_class_log`))
		},
	})
}
