package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"berth/internal/store"
	"berth/internal/store/lists"
	"berth/test/pgtest"
)

// TestWriterRole: with the grants of docs/audit.md a server writes its log and cannot change it.
func TestWriterRole(t *testing.T) {
	page, err := os.ReadFile("../../../docs/audit.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "```\n"+writerGrants+"```") {
		t.Errorf("docs/audit.md has other grants than:\n%s", writerGrants)
	}
	url := migratedURL(t)
	ctx := t.Context()
	owner, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer hangUp(owner)
	role := fmt.Sprintf("berth_writer_%d", time.Now().UnixNano())
	if err := MigrateUp(ctx, url, MigrateOptions{WriterRole: role}); err == nil || !strings.Contains(err.Error(), role) {
		t.Errorf("rights for a role that is not there: %v", err)
	}
	if _, err := owner.Exec(ctx, `CREATE ROLE `+role); err != nil {
		t.Fatal(err)
	}
	if err := MigrateUp(ctx, url, MigrateOptions{WriterRole: role}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		again, err := pgx.Connect(t.Context(), url)
		if err != nil {
			return
		}
		defer hangUp(again)
		_, _ = again.Exec(t.Context(), `DROP OWNED BY `+role+`; DROP ROLE `+role)
	})
	s := openAt(t, pgtest.With(url, "role", role), Options{Program: "v9"})
	r := &store.Revision{Cluster: "prod", Number: 1, Token: "t1", CreatedAt: time.Now(), Digest: "sha256:1", Cause: "upload"}
	entries := []*store.Entry{{Revision: r, Checkpoint: &store.Checkpoint{Cluster: "prod", Number: 1}}}
	for i := range 8 {
		d := &store.Decision{ID: fmt.Sprint("d", i), Cluster: "prod", Revision: 1, Verb: "decide", CreatedAt: time.Now(), Profile: "p", PodDigest: "sha256:pod"}
		d.Facts = (&store.PodFacts{Requests: []byte("{}"), Labels: []byte("{}")}).Encode()
		entries = append(entries, &store.Entry{Decision: d, Profile: &store.Profile{Digest: "sha256:p"}})
	}
	for _, batch := range [][]*store.Entry{entries[:3], entries[3:]} {
		if err := s.Append(ctx, batch); err != nil {
			t.Fatal(err)
		}
		for _, e := range batch {
			if e.Err != nil {
				t.Fatal(e.Err)
			}
		}
	}
	if err := s.PutCheckpoint(ctx, &store.Checkpoint{Cluster: "prod", Number: 1}); err != nil {
		t.Error(err)
	}
	if err := s.renew(ctx); err != nil {
		t.Error(err)
	}
	if _, err := s.Key(ctx, "cursors", []byte("k")); err != nil {
		t.Error(err)
	}
	if _, err := s.WantConfirmation(ctx, "prod"); err != nil {
		t.Error(err)
	}
	if err := s.PutAccessChange(ctx, &store.AccessChange{ID: "a1", CreatedAt: time.Now(), Action: "token.create", Object: "ci", Detail: []byte("{}")}); err != nil {
		t.Error(err)
	}
	for what, err := range map[string]error{"a cluster": s.DeleteCluster(ctx, "prod"), "a revision": s.DeleteRevision(ctx, "prod", 1)} {
		if !errors.Is(err, store.ErrConflict) {
			t.Errorf("%s is deleted: %v", what, err)
		}
	}
	for _, query := range []string{
		`UPDATE decisions SET node = 'n2'`, `DELETE FROM decisions`, `UPDATE revisions SET digest = ''`, `DELETE FROM checkpoints`,
		`UPDATE judged_pods SET labels = '{}'`, `DELETE FROM judged_pods`, `UPDATE seals SET hash = ''`, `DELETE FROM seals`, `DELETE FROM access_log`, `UPDATE stamps SET engine = ''`, `DELETE FROM clusters`, `TRUNCATE decisions`,
	} {
		if _, err := s.pool.Exec(ctx, query); sqlState(err) != statePrivilege {
			t.Errorf("%s: %v", query, err)
		}
	}
}

// TestWriterRoleOfBefore: a role that got its rights from an older release can write decisions
// after the migration, which need not name it.
func TestWriterRoleOfBefore(t *testing.T) {
	url := migratedURL(t)
	ctx := t.Context()
	owner, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer hangUp(owner)
	if err := MigrateTo(ctx, url, 23, MigrateOptions{}); err != nil {
		t.Fatal(err)
	}
	role := fmt.Sprintf("berth-Writer_%d", time.Now().UnixNano())
	name := pgx.Identifier{role}.Sanitize()
	var schema string
	if err := owner.QueryRow(ctx, `SELECT quote_ident(current_schema())`).Scan(&schema); err != nil {
		t.Fatal(err)
	}
	grants := `GRANT USAGE ON SCHEMA ` + schema + ` TO ` + name + `; GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA ` + schema + ` TO ` + name
	if _, err := owner.Exec(ctx, `CREATE ROLE `+name+`; `+grants); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = owner.Exec(context.Background(), `DROP OWNED BY `+name+`; DROP ROLE `+name) }()
	if err := MigrateUp(ctx, url, MigrateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := owner.Exec(ctx, `SET ROLE `+name); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		d := &store.Decision{Cluster: "prod", PodDigest: "sha256:pod", CreatedAt: time.Now(), Facts: (&store.PodFacts{Requests: []byte("{}"), Labels: []byte("{}")}).Encode()}
		values, err := lists.FactValues(d)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := owner.Exec(ctx, lists.PutFacts, values...); err != nil {
			t.Error(err)
		}
	}
}
