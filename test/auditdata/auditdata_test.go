package main

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"berth/internal/store"
	"berth/internal/store/sqlite"
)

// Copies come before the originals, in time and in both orders, with names, UIDs and ids of their
// own that go together.
func TestMultiply(t *testing.T) {
	dir, start := t.TempDir(), time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	st, err := sqlite.Open(t.Context(), dir, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var entries []*store.Entry
	digest := "sha256:" + strings.Repeat("7", 60) + "0001"
	for n := range 2 {
		parent, number := "", int64(n+1)
		if n > 0 {
			parent = fmt.Sprint("t", n)
		}
		entries = append(entries, &store.Entry{
			Revision: &store.Revision{
				Cluster: "prod", Number: number, Token: fmt.Sprint("t", number), ParentToken: parent, CreatedAt: start, Cause: "upload", Change: []byte("c"), Summary: []byte("{}"),
			},
			Decision: &store.Decision{
				ID: fmt.Sprintf("01a2209e-1c8%d-7742-ac55-3a0ccfd4d00%[1]d", n), PodDigest: digest, Cluster: "prod", Verb: "decide", CreatedAt: start.Add(time.Duration(n) * time.Minute),
				Namespace: "web", Pod: fmt.Sprint("cart-x000-", n), PodUID: fmt.Sprintf("00000000-0000-4000-8000-00000000000%d", n), Revision: number, Outcome: "Preempting",
				Facts:   (&store.PodFacts{Requests: []byte("{}"), Labels: []byte("{}")}).Encode(),
				Victims: []store.Victim{{Namespace: "web", Pod: "till-x000-9", UID: "00000000-0000-4000-8000-000000000009", Node: "n"}},
			},
		})
	}
	if err := st.Append(t.Context(), entries); err != nil {
		t.Fatal(err)
	}
	for more := true; more; {
		step, err := st.RollUp(t.Context(), "prod")
		if err != nil {
			t.Fatal(err)
		}
		more = step.More
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if err := multiply([]string{"--data-dir", dir}, 2, 24*time.Hour); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, sqlite.FileName))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	rows, err := db.QueryContext(t.Context(), `SELECT l.time || ' ' || l.seq || ' ' || l.snapshot || ' ' || l.pod || ' ' || substr(l.pod_uid, 9) || ' ' || substr(l.id, 14) || ' ' || v.victim || ' ' || substr(v.victim_uid, 9) || ' ' || f.pod
		FROM decision_log l JOIN decision_victims v ON v.decision_id = l.id JOIN revision_log r ON r.cluster = l.cluster AND r.number = l.revision
		JOIN pod_facts f ON f.cluster = l.cluster AND f.pod_digest = l.pod_digest
		ORDER BY l.created_at`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var got []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		got = append(got, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"2025-12-31T03:04:05.000000Z 1 prod@1 cart-x002-0 -0002-4000-8000-000000000000 -8742-ac55-3a0ccfd4d002 till-x002-9 -0002-4000-8000-000000000009 cart-x002-0",
		"2025-12-31T03:05:05.000000Z 2 prod@2 cart-x002-1 -0002-4000-8000-000000000001 -8742-ac55-3a0ccfd4d002 till-x002-9 -0002-4000-8000-000000000009 cart-x002-0",
		"2026-01-01T03:04:05.000000Z 4 prod@4 cart-x001-0 -0001-4000-8000-000000000000 -8742-ac55-3a0ccfd4d001 till-x001-9 -0001-4000-8000-000000000009 cart-x001-0",
		"2026-01-01T03:05:05.000000Z 5 prod@5 cart-x001-1 -0001-4000-8000-000000000001 -8742-ac55-3a0ccfd4d001 till-x001-9 -0001-4000-8000-000000000009 cart-x001-0",
		"2026-01-02T03:04:05.000000Z 7 prod@7 cart-x000-0 -0000-4000-8000-000000000000 -7742-ac55-3a0ccfd4d000 till-x000-9 -0000-4000-8000-000000000009 cart-x000-0",
		"2026-01-02T03:05:05.000000Z 8 prod@8 cart-x000-1 -0000-4000-8000-000000000001 -7742-ac55-3a0ccfd4d001 till-x000-9 -0000-4000-8000-000000000009 cart-x000-0",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The marks that multiply looks for are in every pod that the load makes.
func TestPodsHaveTheMarks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for n := range int64(100) {
		if p := newPod(r, n); !strings.Contains(p.name, nameMark) || strings.Index(p.uid, uidMark) != 8 || len(p.uid) != 36 {
			t.Fatalf("%s %s", p.name, p.uid)
		}
	}
}
