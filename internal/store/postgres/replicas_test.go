package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"berth/internal/store"

	"github.com/jackc/pgx/v5"
)

// TestTwoReplicas lets 8 writers on two pools race for two clusters' chains in
// batches that name both in either order, and checks that what was accepted is
// what is there.
func TestTwoReplicas(t *testing.T) {
	url := freshURL(t)
	replicas := []*Store{openAt(t, url, Options{}), openAt(t, url, Options{})}
	clusters := []string{"a", "b"}
	const writers, each = 8, 20
	var mu sync.Mutex
	accepted := map[string]map[string]int64{"a": {}, "b": {}}
	conflicts := 0
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			s := replicas[w%2]
			for done := 0; done < each; {
				var es []*store.Entry
				for i := range clusters {
					cluster := clusters[(i+w)%2]
					parent, err := s.Newest(context.Background(), cluster)
					if errors.Is(err, store.ErrNotFound) {
						parent, err = &store.Revision{}, nil
					}
					if err != nil {
						t.Errorf("Newest: %v", err)
						return
					}
					token := fmt.Sprint(w, "-", done, "-", cluster, "-", parent.Number)
					es = append(es, &store.Entry{
						Revision: &store.Revision{
							Cluster: cluster, Number: parent.Number + 1, Token: token, ParentToken: parent.Token,
							CreatedAt: time.Now(), Cause: "bind", Change: []byte{1},
						},
						Decision: sampleDecision(cluster, token, time.Now()),
						Fresh:    true,
					})
				}
				if err := s.Append(context.Background(), es); err != nil {
					t.Errorf("Append: %v", err)
					return
				}
				mu.Lock()
				for _, e := range es {
					switch {
					case e.Err == nil:
						accepted[e.Revision.Cluster][e.Revision.Token] = e.Revision.Number
						done++
					case errors.Is(e.Err, store.ErrConflict):
						conflicts++
					default:
						t.Errorf("refused: %v", e.Err)
					}
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for _, cluster := range clusters {
		rs, err := replicas[0].RevisionsAfter(t.Context(), cluster, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if len(rs) != len(accepted[cluster]) {
			t.Errorf("%s: %d revisions, %d were accepted", cluster, len(rs), len(accepted[cluster]))
		}
		parent := ""
		for i, r := range rs {
			if r.Number != int64(i+1) || r.ParentToken != parent || accepted[cluster][r.Token] != r.Number {
				t.Errorf("%s: revision %+v after %q", cluster, r, parent)
			}
			parent = r.Token
		}
		ds, err := replicas[1].ListDecisions(t.Context(), store.DecisionFilter{Cluster: cluster})
		if err != nil || len(ds) != len(rs) {
			t.Errorf("%s: %d decisions beside %d revisions, %v", cluster, len(ds), len(rs), err)
		}
	}
	if conflicts == 0 {
		t.Error("no conflict: the writers did not race")
	}
	t.Logf("%d conflicts", conflicts)
}

// TestSameRecordsFromTwoReplicas: both write the same ids at the same time.
func TestSameRecordsFromTwoReplicas(t *testing.T) {
	url := freshURL(t)
	replicas := []*Store{openAt(t, url, Options{}), openAt(t, url, Options{})}
	for round := range 20 {
		var wg sync.WaitGroup
		for _, s := range replicas {
			wg.Go(func() {
				var es []*store.Entry
				for i := range 1 + 10*(round%4) {
					// Another time for each: only the id shows that it is the same.
					es = append(es, &store.Entry{Decision: sampleDecision("prod", fmt.Sprint(round, "-", i), time.Now())})
				}
				if err := s.Append(context.Background(), es); err != nil {
					t.Errorf("Append: %v", err)
				}
			})
		}
		wg.Wait()
	}
	var rows, ids, books int
	if err := replicas[0].pool.QueryRow(t.Context(), `SELECT count(*), count(DISTINCT id), (SELECT decisions FROM clusters) FROM decisions`).Scan(&rows, &ids, &books); err != nil {
		t.Fatal(err)
	}
	if rows != ids || books != rows || rows == 0 {
		t.Errorf("%d rows, %d ids, %d in the books", rows, ids, books)
	}
}

func appendOne(t testing.TB, s *Store, id string) {
	t.Helper()
	e := &store.Entry{Decision: sampleDecision("prod", id, time.Now())}
	if err := errors.Join(s.Append(t.Context(), []*store.Entry{e}), e.Err); err != nil {
		t.Fatalf("Append: %v", err)
	}
}

// execRaw runs SQL as another program would.
func execRaw(t *testing.T, url, query string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer hangUp(conn)
	if _, err := conn.Exec(t.Context(), query); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// queryRaw returns the one value of a query, as text.
func queryRaw(t *testing.T, url, query string) (value string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer hangUp(conn)
	if err := conn.QueryRow(t.Context(), query).Scan(&value); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return value
}

// sampleDecision is what a decision over 5,000 nodes comes to: about 1 KB.
func sampleDecision(cluster, id string, created time.Time) *store.Decision {
	const digest = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
	return &store.Decision{
		ID: id, Cluster: cluster, Verb: "decide", CreatedAt: created, Now: created,
		Namespace: "shop", Pod: "cart-" + id, PodUID: "8f14e45f-ceea-467f-a8d2-" + id,
		Profile: "default-scheduler", ProfileDigest: digest, Engine: "v0.1.0", Semantics: "v1.36.3",
		SnapshotDigest: digest, PodDigest: digest, Outcome: "Scheduled", Node: "node-0" + id[len(id)-1:],
		NodesTotal: 5000, NodesFeasible: 4212, AnswerDigest: digest, DurationMicros: 117,
		Input: []byte(`{"pod":{"metadata":{"namespace":"shop","name":"cart","labels":{"app":"cart","tier":"web"}},"spec":{"containers":[{"resources":{"requests":{"cpu":"500m","memory":"512Mi"}}}]}}}`),
		Failures: []store.Failure{
			{Plugin: "NodeResourcesFit", Code: "Unschedulable", Reason: "Insufficient cpu", Nodes: 612, Names: []string{"node-17", "node-18"}},
			{Plugin: "TaintToleration", Code: "UnschedulableAndUnresolvable", Reason: "node(s) had untolerated taint {dedicated: gpu}", Nodes: 176},
		},
		Scores: []store.Score{
			{Rank: 1, Node: "node-0" + id[len(id)-1:], Total: 612},
			{Rank: 2, Node: "node-11", Total: 611},
			{Rank: 3, Node: "node-12", Total: 611},
			{Rank: 4, Node: "node-13", Total: 598},
			{Rank: 5, Node: "node-14", Total: 590},
		},
	}
}
