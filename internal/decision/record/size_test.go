package record_test

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/store"
	"berth/internal/store/postgres"
	"berth/internal/store/sqlite"
	"berth/test/logtest"
	"berth/test/pgtest"
)

// shape is a decision as clusters have them.
type shape struct {
	name  string
	nodes int
	q     decision.Question
}

// shapes are a decision over 5,000 nodes that finds a node while 24 are
// rejected for three reasons, one that finds none, and a filter call of a trace
// with 1,523 nodes, a third of them sent.
func shapes(b *testing.B) []shape {
	fits, none := workload(b, "2"), workload(b, "64")
	var third []string
	for i := 0; i < 1523; i += 3 {
		third = append(third, fmt.Sprintf("openb-node-%04d", i))
	}
	task := logtest.Object(b, `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"openb-pod-0001","namespace":"default","uid":"0d9f1c6e-5f7a-4f7c-9c53-6a4f5a3f0001","labels":{"qos":"BE"}},
		"spec":{"containers":[{"name":"main","resources":{"requests":{"cpu":"8","memory":"30517Mi","alibabacloud.com/gpu-count":"1"},"limits":{"alibabacloud.com/gpu-count":"1"}}}]}}`).Value.(*corev1.Pod)
	return []shape{
		{"scheduled", 5000, decision.Question{Pod: fits}},
		{"unschedulable", 5000, decision.Question{Pod: none}},
		{"openb", 1523, decision.Question{Pod: task, Verb: decision.VerbFilter, NodeNames: third}},
	}
}

// workload is a pod of a deployment as an apiserver has it.
func workload(b *testing.B, cpu string) *corev1.Pod {
	return logtest.Object(b, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"basket-7c9b86f4d5-kq8zn","namespace":"shop","uid":"41d3a6c0-29fb-4c1e-b3b5-0e5c7d1f62aa",
		"labels":{"app":"basket","pod-template-hash":"7c9b86f4d5","stage":"prod","squad":"orders"},
		"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"basket-7c9b86f4d5","uid":"9be05f3d-6a17-4f0b-8d2c-f1e2a0b47c55","controller":true}]},
		"spec":{"priority":2500,"serviceAccountName":"basket","nodeSelector":{"kubernetes.io/os":"linux"},
		"tolerations":[{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300},{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}],
		"topologySpreadConstraints":[{"maxSkew":1,"topologyKey":"topology.kubernetes.io/zone","whenUnsatisfiable":"ScheduleAnyway","labelSelector":{"matchLabels":{"app":"basket"}}}],
		"containers":[{"name":"app","image":"harbor.corp.internal/orders/basket:v1.4.2","ports":[{"containerPort":8080}],"resources":{"requests":{"cpu":%q,"memory":"1Gi"},"limits":{"memory":"1Gi"}}},
		{"name":"proxy","image":"harbor.corp.internal/mesh/envoy:v1.29.4","resources":{"requests":{"cpu":"100m","memory":"128Mi"}}}]}}`, cpu)).Value.(*corev1.Pod)
}

// machines are nodes of which 24 turn a pod away: 8 by a taint, 8 cordoned and
// 8 for want of a label.
func machines(b *testing.B, n int) (list []object.Object) {
	for i := range n {
		name, more, os := fmt.Sprintf("ip-10-0-%03d-%03d.ec2.internal", i/250, i%250), "", "linux"
		if n != 5000 {
			name = fmt.Sprintf("openb-node-%04d", i)
		}
		switch {
		case i%625 == 0:
			more = `"spec":{"taints":[{"key":"dedicated","value":"gpu","effect":"NoSchedule"}]},`
		case i%625 == 1:
			more = `"spec":{"unschedulable":true},`
		case i%625 == 2:
			os = "windows"
		}
		list = append(list, logtest.Object(b, fmt.Sprintf(`{"apiVersion":"v1","kind":"Node","metadata":{"name":%q,"labels":{"kubernetes.io/hostname":%q,"kubernetes.io/os":%q,"topology.kubernetes.io/zone":"z%d"}},%s
			"status":{"allocatable":{"cpu":"%d","memory":"64Gi","pods":"110"}}}`, name, name, os, i%3, more, 8+i%24)))
	}
	return list
}

// BenchmarkRecordBytes tells how many bytes a decision takes on disk, tables and
// indexes together, on both backends, and where they go: run it with -v and
// -benchtime 1x.
func BenchmarkRecordBytes(b *testing.B) {
	const rows = 4000
	for _, s := range shapes(b) {
		h := logtest.Open(b, b.TempDir())
		logtest.Upload(b, h, machines(b, s.nodes)...)
		q := s.q
		q.Cluster = "default"
		var sample *store.Decision
		if q.Verb == decision.VerbFilter {
			id, err := logtest.Record(b.Context(), h, q, nothing)
			if err != nil {
				b.Fatal(err)
			}
			sample = recorded(b, h, id)
		} else {
			sample = recorded(b, h, logtest.Decide(b, h, q).ID)
		}
		sample.Revision = 0
		for _, backend := range []string{"sqlite", "postgres"} {
			b.Run(s.name+"/"+backend, func(b *testing.B) {
				for range b.N {
					var st store.Store
					var objects func() map[string]float64
					if backend == "sqlite" {
						st, objects = sqliteParts(b)
					} else {
						st, objects = postgresParts(b)
					}
					var es []*store.Entry
					for i := range rows {
						es = append(es, &store.Entry{Decision: another(sample, i)})
						if len(es) == 200 {
							if err := st.Append(b.Context(), es); err != nil {
								b.Fatal(err)
							}
							es = nil
						}
					}
					parts := objects()
					total := 0.0
					for _, name := range sortedKeys(parts) {
						b.Logf("%-40s %7.1f B", name, parts[name]/rows)
						total += parts[name] / rows
					}
					b.ReportMetric(total, "B/decision")
				}
			})
		}
		all, in := size(sample)
		b.Logf("%s: record %d, input %d, message %d %q, failures %d, scores %d", s.name, all, in, len(sample.Message), sample.Message, len(sample.Failures), len(sample.Scores))
	}
}

// another is the same decision about another pod.
func another(d *store.Decision, i int) *store.Decision {
	c := *d
	c.ID = uuid.Must(uuid.NewV7()).String()
	c.CreatedAt = d.CreatedAt.Add(time.Duration(i) * 7 * time.Millisecond)
	c.Now = c.CreatedAt
	c.Pod = fmt.Sprintf("%s%05d", d.Pod[:len(d.Pod)-5], i)
	c.PodUID = uuid.NewString()
	for _, digest := range []*string{&c.PodDigest, &c.AnswerDigest} {
		sum := sha256.Sum256([]byte(c.ID + *digest))
		*digest = "sha256:" + hex.EncodeToString(sum[:])
	}
	return &c
}

func recorded(t testing.TB, h *logtest.Fixture, id string) *store.Decision {
	t.Helper()
	d, err := h.Store.Decision(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func sortedKeys(m map[string]float64) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func sqliteParts(b *testing.B) (store.Store, func() map[string]float64) {
	dir := b.TempDir()
	st, err := sqlite.Open(b.Context(), dir, sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = st.Close() })
	return st, func() map[string]float64 {
		return partsOf(b, readOnly(b, dir), `SELECT o.name, sum(p.pgsize) FROM dbstat p JOIN sqlite_schema o ON o.name = p.name
WHERE p.aggregate = TRUE AND o.tbl_name = 'decisions' GROUP BY o.name`)
	}
}

func postgresParts(b *testing.B) (store.Store, func() map[string]float64) {
	address := pgtest.URL(b)
	if err := postgres.MigrateUp(b.Context(), address, postgres.MigrateOptions{}); err != nil {
		b.Fatal(err)
	}
	st, err := postgres.Open(b.Context(), address, postgres.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = st.Close() })
	return st, func() map[string]float64 {
		conn, err := pgx.Connect(b.Context(), address)
		if err != nil {
			b.Fatal(err)
		}
		defer func() { _ = conn.Close(context.Background()) }()
		rows, err := conn.Query(b.Context(), `SELECT c.relname, pg_table_size(c.oid) FROM pg_class c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relname LIKE 'decisions%' AND c.relkind IN ('r', 'i')`)
		if err != nil {
			b.Fatal(err)
		}
		parts := map[string]float64{}
		var name string
		var size int64
		if _, err := pgx.ForEachRow(rows, []any{&name, &size}, func() error {
			if size > 8192 {
				parts[name] = float64(size)
			}
			return nil
		}); err != nil {
			b.Fatal(err)
		}
		return parts
	}
}

func readOnly(t testing.TB, dir string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: filepath.Join(dir, "berth.db")}).EscapedPath()+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func partsOf(b *testing.B, db *sql.DB, query string) map[string]float64 {
	rows, err := db.QueryContext(b.Context(), query)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	parts := map[string]float64{}
	for rows.Next() {
		var name string
		var size float64
		if err := rows.Scan(&name, &size); err != nil {
			b.Fatal(err)
		}
		parts[name] = size
	}
	if err := rows.Err(); err != nil {
		b.Fatal(err)
	}
	return parts
}

func nothing(*revision.View, *engine.Result) error { return nil }
