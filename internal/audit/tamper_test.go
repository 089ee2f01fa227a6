package audit_test

import (
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth/internal/audit"
	"berth/internal/store"
	"berth/internal/store/postgres"
	"berth/internal/store/sqlite"
	"berth/test/pgtest"
)

var update = flag.Bool("update", false, "write testdata/tamperings.md and the table of docs/audit.md again")

const (
	docsFile  = "../../docs/audit.md"
	wholeFile = "testdata/tamperings.md"
	docsBegin = "<!-- tamperings: written by go test ./internal/audit -run Tamperings -update -->\n"
	docsEnd   = "<!-- end of tamperings -->\n"
)

// prepared is a store that each tampering gets a copy of.
type prepared struct {
	postgres bool
	earlier  string // address or file of how it was before the last commits
	later    string
	anchor   audit.Anchor // of later
}

// prepare fills a store: two clusters, single commits at the end, and records that no chain has.
func prepare(t *testing.T, onPostgres bool) *prepared {
	t.Helper()
	p := &prepared{postgres: onPostgres}
	f := &fixture{t: t, postgres: onPostgres}
	if onPostgres {
		f.url = pgtest.Database(t, "")
		if err := postgres.MigrateUp(t.Context(), f.url, postgres.MigrateOptions{}); err != nil {
			t.Fatal(err)
		}
	} else {
		f.url = t.TempDir()
	}
	f.reopen()
	f.fill()
	for n := 21; n <= 24; n++ {
		f.append(decided(n))
	}
	other := uploaded(1)
	other.Revision.Cluster, other.Checkpoint.Cluster = "other", "other"
	f.append(other)
	first := decided(101)
	first.Decision.Cluster = "other"
	first.Profile = &store.Profile{Digest: "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", Name: "default-scheduler", Payload: []byte("test")}
	first.Decision.ProfileDigest = first.Profile.Digest
	f.append(first)
	f.beside()
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	p.earlier = p.copyOf(t, f.url)
	if onPostgres { // the template stays unconnected
		p.earlier, f.url = f.url, p.earlier
	}
	f.reopen()
	f.append(decided(25))
	heads, err := f.SealHeads(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	p.anchor = audit.AnchorOf(heads)
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	p.later = f.url
	return p
}

// beside writes what no chain has.
func (f *fixture) beside() {
	f.t.Helper()
	limits := store.JobLimits{Unfinished: 9, PerCluster: 9}
	class := &store.PriorityClass{Cluster: "prod", Name: "high", Value: 100, PreemptionPolicy: "Never", Payload: []byte(`{}`)}
	_, err := f.PutPriorityClass(f.t.Context(), class, 0)
	if err := errors.Join(
		err,
		f.PutAccessChange(f.t.Context(), &store.AccessChange{ID: "a1", CreatedAt: at(0), Action: "token.create", Object: "ci", Detail: []byte(`{}`)}),
		f.PutCapacities(f.t.Context(), []store.Capacity{{Cluster: "prod", Revision: 1, MeasuredAt: at(0), Resource: "cpu", Allocatable: 4, Free: 4, Nodes: 1}}),
		f.CreateSimulation(f.t.Context(), &store.Job{ID: "s1", Cluster: "prod", Revision: 1, Verb: "drains", CreatedAt: at(0)}, map[string][]byte{"question": []byte(`{}`)}, limits),
		f.CreateReplay(f.t.Context(), &store.Job{ID: "r1", Cluster: "prod", Since: at(0), Until: at(9), CreatedAt: at(9)}, []*store.ReplayPart{{Number: 1, First: 1, Last: 1, ReplayCounts: store.ReplayCounts{Total: 9}}}, limits),
	); err != nil {
		f.t.Fatal(err)
	}
}

// copyOf returns a copy of a store that no one has open.
func (p *prepared) copyOf(t *testing.T, from string) string {
	t.Helper()
	if p.postgres {
		return pgtest.Database(t, from)
	}
	dir := t.TempDir()
	raw, err := os.ReadFile(filepath.Join(from, sqlite.FileName))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, sqlite.FileName), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// tamper makes a copy and changes it behind berth's back.
func (p *prepared) tamper(t *testing.T, c *tampering) (address string) {
	t.Helper()
	from, queries := p.later, c.sqlite
	if p.postgres {
		queries = c.postgres
	}
	if c.earlier {
		from = p.earlier
	}
	address = p.copyOf(t, from)
	driver, name := "sqlite", "file:"+filepath.Join(address, sqlite.FileName)
	if p.postgres {
		driver, name = "pgx", address
	}
	db, err := sql.Open(driver, name)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	for _, q := range slices.Concat(c.sql, queries) {
		q = strings.NewReplacer("{zero}", p.pick("x'00'", `'\x00'`), "{empty}", p.pick("x''", "''"), "{time}", p.pick("1", "'2020-01-01'")).Replace(q)
		res, err := db.ExecContext(t.Context(), q)
		if err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		if n, err := res.RowsAffected(); strings.HasPrefix(q, "UPDATE") && (err != nil || n == 0) {
			t.Fatalf("%s: %d rows, %v", q, n, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return address
}

func (p *prepared) pick(sqlite, postgres string) string {
	if p.postgres {
		return postgres
	}
	return sqlite
}

// look returns what a check of everything finds without and with the anchor, and what a start does.
func (p *prepared) look(t *testing.T, address string) (alone, anchored, start []string, refused error) {
	t.Helper()
	var e evidence
	if p.postgres {
		e, refused = postgres.OpenEvidence(t.Context(), address)
	} else {
		e, refused = sqlite.OpenEvidence(t.Context(), address)
	}
	if refused != nil {
		if !errors.Is(refused, sqlite.ErrSchema) { // migrations of the library leave goroutines where they fail
			return nil, nil, nil, refused
		}
		if s, err := sqlite.Open(t.Context(), address, sqlite.Options{}); err == nil {
			t.Error("a server starts on what a check refuses", s.Close())
		}
		return nil, nil, nil, refused
	}
	defer func() { _ = e.Close() }() // it was read
	heads, err := e.SealHeads(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	of := func(a audit.Anchor) (list []string) {
		for _, name := range a.Names(heads, "") {
			r, err := audit.Verify(t.Context(), e, name, audit.Options{Anchor: a.Of(name)})
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, named(t, r.Findings)...)
		}
		return list
	}
	schema, err := audit.Schema(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	alone, anchored = append(of(audit.Anchor{}), named(t, schema)...), of(p.anchor)
	slices.Sort(alone)
	return alone, anchored, p.start(t, e, address), nil
}

// start returns what a server that starts finds. On SQLite it puts views right before it looks.
func (p *prepared) start(t *testing.T, e evidence, address string) []string {
	t.Helper()
	if !p.postgres {
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
		s, err := sqlite.Open(t.Context(), address, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}()
		e = s
	}
	list, err := audit.Look(t.Context(), e)
	if err != nil {
		t.Fatal(err)
	}
	return named(t, list)
}

// named returns cluster, table, what, place and id of findings, and wants the detail to name them.
func named(t *testing.T, findings []audit.Finding) (list []string) {
	t.Helper()
	for _, x := range findings {
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s %s %d %s", x.Cluster, x.Table, x.What, x.From, x.ID)))
		if x.ID == "" && x.From > 0 && !strings.Contains(x.Detail, fmt.Sprint(x.To)) || x.Detail == "" {
			t.Errorf("not named: %+v", x)
		}
	}
	return list
}

// by returns what finds a tampering, as testdata/tamperings.md has it.
func (p *prepared) by(t *testing.T, c *tampering) string {
	t.Helper()
	if len(c.sql) == 0 && len(c.sqlite)+len(c.postgres) > 0 && len(c.pickQueries(p.postgres)) == 0 {
		return "" // is none of this store
	}
	alone, anchored, start, refused := p.look(t, p.tamper(t, c))
	if len(c.want) > 0 && !slices.Equal(alone, c.want) {
		t.Errorf("found %q, want %q", alone, c.want)
	}
	var parts []string
	switch {
	case refused != nil:
		return "`verify` and the start refuse it"
	case len(alone) > 0:
		parts = append(parts, "`verify`")
	case len(anchored) > 0:
		parts = append(parts, "an anchor")
	}
	if len(start) > 0 {
		parts = append(parts, "the start")
	}
	if len(parts) == 0 {
		return "no"
	}
	return strings.Join(parts, ", ")
}

func (c *tampering) pickQueries(onPostgres bool) []string {
	if onPostgres {
		return c.postgres
	}
	return c.sqlite
}

// TestTamperings: of each way to change the database behind berth's back testdata/tamperings.md
// names what finds it, on both stores; what nothing finds has a note. docs/audit.md has those that
// audit verify alone does not find.
func TestTamperings(t *testing.T) {
	found := map[bool][]string{}
	for _, onPostgres := range []bool{false, true} {
		t.Run(map[bool]string{false: "sqlite", true: "postgres"}[onPostgres], func(t *testing.T) {
			p := prepare(t, onPostgres)
			if alone, anchored, start, err := p.look(t, p.copyOf(t, p.later)); len(alone)+len(anchored)+len(start) > 0 || err != nil {
				t.Fatalf("untampered: %q, %q, %q, %v", alone, anchored, start, err)
			}
			for i := range tamperings {
				c := &tamperings[i]
				t.Run(c.what, func(t *testing.T) {
					by := p.by(t, c)
					if (by == "no") != (c.note != "") && by != "" {
						t.Errorf("what finds it: %q; note: %q", by, c.note)
					}
					found[onPostgres] = append(found[onPostgres], by)
				})
			}
		})
	}
	if len(found[false]) != len(tamperings) || len(found[true]) != len(tamperings) {
		return // one store is not there, or a test failed or was left out by its name
	}
	const head = "| what is done | SQLite | PostgreSQL |\n| --- | --- | --- |\n"
	whole, text, counts := head, head, map[string]int{}
	for i := range tamperings {
		cells := []string{tamperings[i].what}
		for _, onPostgres := range []bool{false, true} {
			by := found[onPostgres][i]
			counts[strings.Split(by, ",")[0]]++
			if by == "no" {
				by = tamperings[i].note
			}
			cells = append(cells, by)
		}
		row := "| " + strings.Join(cells, " | ") + " |\n"
		whole += row
		if !strings.Contains(row, "| `verify` |") && !strings.Contains(row, "| `verify`, ") {
			text += row
		}
	}
	tried := 2*len(tamperings) - counts[""]
	text += fmt.Sprintf("\n%d tried: %d found by `audit verify` alone, %d more with an anchor, %d refused by it and\nby the start. The other %d have a note.\n",
		tried, counts["`verify`"], counts["an anchor"], counts["`verify` and the start refuse it"], counts["no"])
	compareDocs(t, text)
	if *update {
		if err := os.WriteFile(wholeFile, []byte(whole), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if raw, err := os.ReadFile(wholeFile); err != nil || string(raw) != whole {
		t.Errorf("%s is out of date, run this test with -update (-want +got): %v\n%s", wholeFile, err, cmp.Diff(whole, string(raw)))
	}
}

func compareDocs(t *testing.T, want string) {
	t.Helper()
	raw, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(raw), docsBegin)
	part, after, ended := strings.Cut(rest, docsEnd)
	if !ok || !ended {
		t.Fatalf("%s lacks the marks around the tamperings", docsFile)
	}
	if *update {
		if err := os.WriteFile(docsFile, []byte(before+docsBegin+want+docsEnd+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, part); diff != "" {
		t.Errorf("docs/audit.md is out of date, run this test with -update (-want +got):\n%s", diff)
	}
}
