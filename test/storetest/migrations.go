package storetest

import (
	"fmt"
	"reflect"
	"testing"

	"berth/internal/store"
)

// Migrating is a store whose schema can be taken to any version while it is
// closed.
type Migrating struct {
	Open   func(t *testing.T) store.Store
	To     func(t *testing.T, version int)
	Latest int
}

// RunMigrations takes a store with records of every kind down to each version
// and up to the newest again, and wants every record as it was.
func RunMigrations(t *testing.T, versions []int, m Migrating) {
	t.Helper()
	s := m.Open(t)
	records := migratedRecords()
	es := []*store.Entry{revision("prod", 1), change("prod", 2), change("prod", 3)}
	for _, d := range records {
		es = append(es, &store.Entry{Decision: d, Profile: &store.Profile{Digest: d.ProfileDigest, Name: d.Profile, Payload: []byte(d.Profile)}})
	}
	for _, e := range es {
		if e.Profile != nil && e.Profile.Digest == "" {
			e.Profile = nil
		}
	}
	appendAll(t, s, es...)
	simulation(t, s, "s1")
	same(t, "the job", "drains", simulated(t, s, "s1").Verb)
	wantErr(t, "PutCapacities", s.PutCapacities(t.Context(), measured("prod", 1)), nil)
	before := everything(t, s, records)
	places := follow(t, s, "prod")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, down := range versions {
		m.To(t, down)
		m.To(t, m.Latest)
		s := m.Open(t)
		same(t, fmt.Sprintf("after %d and %d", down, m.Latest), before, everything(t, s, records))
		wantErr(t, "PutCapacities", s.PutCapacities(t.Context(), measured("prod", 2)), nil)
		same(t, "the job", string(big(9)), part(t, s, "s1", store.SimulationQuestion, nil))
		same(t, "the log as it is followed", places, follow(t, s, "prod"))
		d := decision("prod", fmt.Sprintf("after-%02d", down), at(100))
		d.Namespace = "later"
		appendAll(t, s, &store.Entry{Decision: d})
		places = append(places, d.ID)
		if err := s.DeleteCluster(t.Context(), "none"); err == nil {
			t.Error("a cluster that is not there was deleted")
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// everything is what a store says of what was written before the migrations.
func everything(t *testing.T, s store.Store, records []*store.Decision) map[string]any {
	t.Helper()
	all := map[string]any{}
	for _, d := range records {
		got, err := s.Decision(t.Context(), d.ID)
		wantErr(t, "Decision "+d.ID, err, nil)
		same(t, d.ID, d, got)
		all[d.ID] = got
	}
	rs, err := s.RevisionsAfter(t.Context(), "prod", 0, 0)
	wantErr(t, "RevisionsAfter", err, nil)
	all["revisions"] = rs
	c, err := s.CheckpointAt(t.Context(), "prod", 9, nil)
	wantErr(t, "CheckpointAt", err, nil)
	all["checkpoint"] = c
	list, err := s.ListDecisions(t.Context(), store.DecisionFilter{Cluster: "prod", Namespace: "shop"})
	wantErr(t, "ListDecisions", err, nil)
	all["list"] = list
	p, err := s.Profile(t.Context(), "sha256:aa")
	wantErr(t, "Profile", err, nil)
	all["profile"] = p
	return all
}

// migratedRecords are records whose columns take every form that there is.
func migratedRecords() []*store.Decision {
	const digest = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	rich := full()
	bare := decision("prod", "bare", at(3))
	usual := full()
	usual.ID, usual.CreatedAt, usual.Profile = "0197a1b2-c3d4-7e5f-8a9b-0123456789ab", at(4), "packed"
	usual.PodUID = "8f14e45f-ceea-467f-a8d2-36fc7e8a5a11"
	usual.ProfileDigest, usual.SnapshotDigest, usual.PodDigest, usual.AnswerDigest = digest, digest, digest, digest
	usual.Failures = []store.Failure{
		{Plugin: "TaintToleration", Code: "UnschedulableAndUnresolvable", Reason: `taint {a: "ü"}`, Nodes: 3, Names: []string{"ip-10-0-1.ec2", "ip-10-0-2.ec2", "ip-10-0-33.ec2"}},
		{Plugin: "NodeAffinity", Code: "1", Reason: "r", Nodes: 2, Names: []string{"knoten-ü", "knoten-ü-2"}},
		{Plugin: "NodeName", Code: "Unschedulable", Reason: "r", Nodes: 1, Names: []string{"n"}, Pools: []store.PoolCount{{Pool: "m5.large", Nodes: 1}}},
		{Plugin: "NodePorts", Code: "Error", Reason: "", Nodes: 4980, Pools: []store.PoolCount{{Pool: "m5.large", Nodes: 4979}, {Nodes: 1}}},
	}
	plugins := func(raw int64) store.PluginScores {
		return store.PluginScores{{Plugin: "NodeAffinity", Raw: raw, Normalized: 100, Weight: 2, Weighted: 200}, {Plugin: "ImageLocality", Weight: 1}}
	}
	usual.Scores = []store.Score{
		{Rank: 1, Node: "node-1", Total: 200, Plugins: plugins(7)},
		{Rank: 2, Node: "node-2", Total: 200, Plugins: plugins(100)},
	}
	// Texts that the short forms could be taken for.
	odd := decision("prod", "odd", at(5))
	odd.PodUID, odd.SnapshotDigest, odd.PodDigest, odd.AnswerDigest = "sixteen-bytes-uid", "exactly-thirty-two-bytes-of-text", "exactly-thirty-two-bytes-of-text\x01\x01", "sha256:9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08"
	upper := decision("prod", "upper", at(6))
	upper.PodUID, upper.PodDigest = "8F14E45F-CEEA-467F-A8D2-36FC7E8A5A11", "0123456789abcdef"
	sixteen := decision("prod", "sixteen", at(7))
	sixteen.PodUID, sixteen.Revision, sixteen.BoundRevision = "0123456789abcdef", 2, 3
	list := []*store.Decision{rich, bare, usual, odd, upper, sixteen}
	for _, d := range list {
		for _, c := range store.DecisionColumns {
			if c.Since > 0 { // the way down has no place for it
				reflect.ValueOf(c.Field(d)).Elem().SetZero()
			}
		}
	}
	return list
}
