package storetest

import (
	"fmt"
	"math"
	"reflect"
	"testing"
	"time"

	"berth/internal/store"
)

// full has a value in every field, each another one.
func full() *store.Decision {
	return &store.Decision{
		ID: "0197-full", Cluster: "prod", Revision: 1, Verb: "filter",
		CreatedAt: at(1), Now: at(2), Namespace: "shop", Pod: "cart-0", PodUID: "uid-1",
		Profile: "default-scheduler", ProfileDigest: "sha256:aa", Engine: "v0.1.0", Semantics: "v1.36.3",
		SnapshotDigest: "sha256:bb", PodDigest: "sha256:cc", Outcome: "Preempting", Node: "node-1", NominatedNode: "node-2",
		Priority: math.MinInt32, NodesTotal: 5000, NodesFeasible: 17,
		Message:      "0/5000 nodes are available: 3 node(s) had untolerated taint {a: \"ü\\\t\u2028<&>\"}.",
		AnswerDigest: "sha256:dd", DurationMicros: 1<<53 + 1, BoundRevision: 2, Mode: "shadow", StaleMillis: new(int64(1500)), AskedAsOf: at(3), RejectedBy: "NodeResourcesFit,TaintToleration",
		Purpose: "shadow", Attempt: "0197-first", Placement: "0197-placement",
		Facts: (&store.PodFacts{
			OwnerKind: "Job", OwnerName: "ü\"\\", CPUMilli: 1,
			Requests: []byte(`{"cpu":"1m"}`), Labels: []byte("{}"), CreatedAt: at(0),
		}).Encode(),
		Blockers: store.EncodeBlockers([]store.Blocker{
			{Plugin: "NodeResourcesFit", Kind: "Pod", Namespace: "batch", Name: "job-\"1\"", OwnerKind: "Job", OwnerName: "ü"},
			{Plugin: "VolumeBinding", Kind: "PersistentVolume", Name: "pv"},
		}, 7),
		Asked: store.Asked{By: "token:ci", Peer: "10.0.0.7", RequestID: "r-1"},
		Input: []byte{0, 0xff, '{', 0xc3, 0x28},
		Failures: []store.Failure{
			{Plugin: "TaintToleration", Code: "Unschedulable", Reason: "node(s) had untolerated taint {a: \"ü\\\t\u2028<&>\"}", Nodes: 3, Names: []string{"n1", "knoten-ü"}, Pools: []store.PoolCount{{Pool: "m5\"ü", Nodes: 2}, {Nodes: 1}}},
			{Plugin: "NodeResourcesFit", Code: "Unschedulable", Reason: "Insufficient cpu", Nodes: 4980, Pools: []store.PoolCount{{Nodes: 4980}}},
			{Plugin: "NodeAffinity", Code: "Unschedulable", Reason: "r", Nodes: 2, Names: []string{"node-1", "node-2"}, Pools: []store.PoolCount{{Pool: "m5", Nodes: 2}}},
		},
		Scores: []store.Score{
			{Rank: 1, Node: "node-1", Total: math.MaxInt64, Plugins: store.PluginScores{{Plugin: "NodeAffinity", Raw: 1<<53 + 1}}},
			{Rank: 2, Node: "node-7", Total: -(1<<53 + 1)},
		},
		Victims: []store.Victim{{Namespace: "batch", Pod: "job-\"1\"", UID: "uid-2", Priority: -10, Node: "node-2"}},
	}
}

func init() {
	register("Decisions", cases{
		"RoundTrip": func(t *testing.T, s store.Store) {
			d := full()
			for i, v := 0, reflect.ValueOf(*d); i < v.NumField(); i++ {
				if name := v.Type().Field(i).Name; v.Field(i).IsZero() && name != "Seq" { // the store's own
					t.Errorf("the test writes no %s", name)
				}
			}
			d.CreatedAt = at(1).In(time.FixedZone("west", -3600))
			appendAll(t, s, revision("prod", 1), &store.Entry{Decision: d})
			got, err := s.Decision(t.Context(), d.ID)
			wantErr(t, "Decision", err, nil)
			same(t, "decision", full(), got)
		},
		"Bare": func(t *testing.T, s store.Store) {
			d := decision("prod", "bare", at(1))
			d.Now = time.Time{}
			appendAll(t, s, &store.Entry{Decision: d})
			got, err := s.Decision(t.Context(), "bare")
			wantErr(t, "Decision", err, nil)
			same(t, "decision", d, got)
		},
		"Unknown": func(t *testing.T, s store.Store) {
			_, err := s.Decision(t.Context(), "nothing")
			wantErr(t, "Decision", err, store.ErrNotFound)
		},
		"RewriteIsNoOp": func(t *testing.T, s store.Store) {
			first := &store.Entry{Decision: decision("prod", "d1", at(1))}
			again := &store.Entry{Decision: decision("prod", "d1", at(9))}
			again.Decision.Outcome = "Unschedulable"
			appendAll(t, s, first, again)
			appendAll(t, s, again)
			got, err := s.Decision(t.Context(), "d1")
			wantErr(t, "Decision", err, nil)
			same(t, "decision", first.Decision, got)
			ds, err := s.ListDecisions(t.Context(), store.DecisionFilter{Cluster: "prod"})
			wantErr(t, "ListDecisions", err, nil)
			same(t, "records", 1, len(ds))
		},
		"SealedAsStored": func(t *testing.T, s store.Store) {
			plain, other := decision("plain", "d1", at(1)), decision("other", "d2", at(1))
			other.Profile = "another" // a stamp that comes with it
			refused := &store.Entry{Decision: decision("other", "d3", at(1))}
			refused.Decision.Pod = "\xff"
			entries := []*store.Entry{{Decision: plain}, {Decision: other}, refused}
			wantErr(t, "Append", s.Append(t.Context(), entries), nil)
			wantErr(t, "an entry that is not valid", refused.Err, store.ErrInvalid)
			// A batch that was lost is handed over again, behind others.
			more := &store.Entry{Decision: decision("other", "d4", at(2))}
			appendAll(t, s, &store.Entry{Decision: decision("other", "d5", at(2))}, entries[1], more)
			for _, d := range []*store.Decision{plain, other, more.Decision} {
				got, err := s.Decision(t.Context(), d.ID)
				wantErr(t, "Decision", err, nil)
				same(t, "decision", d, got)
			}
			var sealed []byte
			seals, err := s.ListSeals(t.Context(), "other", 0, 0, false)
			wantErr(t, "ListSeals", err, nil)
			for _, x := range seals {
				sealed = append(sealed, x.RowHashes...)
			}
			rows, err := s.SealRows(t.Context(), store.SealDecisions, store.SealFormat, "other", 1, 9, 9)
			wantErr(t, "SealRows", err, nil)
			var stored []byte
			for _, r := range rows {
				stored = append(stored, r.Hash...)
			}
			same(t, "rows", 3, len(rows))
			same(t, "hashes", sealed, stored)
		},
		"ManyAtOnce": func(t *testing.T, s store.Store) {
			stored := decision("prod", "stored", at(0))
			appendAll(t, s, &store.Entry{Decision: stored})
			var list []*store.Entry
			for i := range 20 { // more than one statement, and some that are left over
				d := decision("prod", fmt.Sprint("d", i), at(i))
				d.Profile = fmt.Sprint("profile-", i%3)
				list = append(list, &store.Entry{Decision: d})
			}
			list[5] = &store.Entry{Decision: stored} // which an index refuses
			appendAll(t, s, list...)
			rows, err := s.FollowDecisions(t.Context(), "prod", 0, 100)
			wantErr(t, "FollowDecisions", err, nil)
			same(t, "records", 20, len(rows))
			for i, r := range rows {
				same(t, "place", int64(i+1), r.Seq)
			}
			for _, e := range list {
				got, err := s.Decision(t.Context(), e.Decision.ID)
				wantErr(t, "Decision", err, nil)
				same(t, "decision", e.Decision, got)
			}
		},
		"LargeInput": func(t *testing.T, s store.Store) {
			d := decision("prod", "large", at(1))
			d.Input = big(10 << 20)
			appendAll(t, s, &store.Entry{Decision: d})
			got, err := s.Decision(t.Context(), "large")
			wantErr(t, "Decision", err, nil)
			if string(got.Input) != string(d.Input) {
				t.Error("10 MiB came back otherwise")
			}
		},
		"ManyRows": func(t *testing.T, s store.Store) {
			d := decision("prod", "many", at(1))
			for i := range 20000 {
				d.Failures = append(d.Failures, store.Failure{Plugin: "P", Reason: "r", Nodes: i})
				d.Scores = append(d.Scores, store.Score{Rank: i + 1, Node: "n", Total: int64(i)})
				d.Victims = append(d.Victims, store.Victim{Pod: "p", Priority: int32(i)})
			}
			appendAll(t, s, &store.Entry{Decision: d})
			got, err := s.Decision(t.Context(), "many")
			wantErr(t, "Decision", err, nil)
			same(t, "decision", d, got)
		},
		"CaseMatters": func(t *testing.T, s store.Store) {
			appendAll(t, s, &store.Entry{Decision: decision("prod", "id", at(1))}, &store.Entry{Decision: decision("Prod", "ID", at(2))})
			got, err := s.Decision(t.Context(), "ID")
			wantErr(t, "Decision", err, nil)
			same(t, "cluster", "Prod", got.Cluster)
			_, err = s.Decision(t.Context(), "Id")
			wantErr(t, "Decision", err, store.ErrNotFound)
		},
		"Profiles": func(t *testing.T, s store.Store) {
			p := &store.Profile{Digest: "sha256:p", Name: "default-scheduler", Payload: []byte{0, 0xff}}
			var es []*store.Entry
			for _, id := range []string{"d1", "d2"} {
				es = append(es, &store.Entry{Decision: decision("prod", id, at(1)), Profile: p})
			}
			appendAll(t, s, es...)
			appendAll(t, s, es[0])
			got, err := s.Profile(t.Context(), p.Digest)
			wantErr(t, "Profile", err, nil)
			same(t, "profile", p, got)
			_, err = s.Profile(t.Context(), "sha256:P")
			wantErr(t, "Profile", err, store.ErrNotFound)
		},
	})
}
