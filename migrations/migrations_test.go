package migrations

import (
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDialectsAgree: the dialects have the same migrations, and views of the same names.
func TestDialectsAgree(t *testing.T) {
	var parts [2][]string
	for i, d := range []Dialect{SQLite, Postgres} {
		entries, err := fs.ReadDir(d, ".")
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, e := range entries {
			if seen[e.Name()] {
				t.Errorf("%s is in the folder both, too", e.Name())
			}
			seen[e.Name()] = true
		}
		newest, err := d.Newest()
		if err != nil {
			t.Fatal(err)
		}
		for n := Oldest; n <= newest; n++ {
			for _, direction := range []string{"up", "down"} {
				names, err := fs.Glob(d, fmt.Sprintf("%04d_*.%s.sql", n, direction))
				if err != nil || len(names) != 1 {
					t.Errorf("version %d has %v %s, %v", n, names, direction, err)
				}
				parts[i] = append(parts[i], names...)
			}
		}
		_, drop, err := d.views()
		if err != nil {
			t.Fatal(err)
		}
		parts[i] = append(parts[i], strings.Split(drop, "\n")...)
	}
	if diff := cmp.Diff(parts[0], parts[1]); diff != "" || len(parts[0]) < 30 {
		t.Errorf("sqlite against postgres (-/+), %d parts:\n%s", len(parts[0]), diff)
	}
}

// TestVersionIsNoted: each migration notes the version that it leaves, once.
func TestVersionIsNoted(t *testing.T) {
	for _, d := range []Dialect{SQLite, Postgres} {
		newest, err := d.Newest()
		if err != nil {
			t.Fatal(err)
		}
		for n := Oldest; n <= newest; n++ {
			before := n - 1
			if n == Oldest {
				before = 0
			}
			for direction, version := range map[string]int{"up": n, "down": before} {
				names, err := fs.Glob(d, fmt.Sprintf("%04d_*.%s.sql", n, direction))
				if err != nil || len(names) != 1 {
					t.Fatal(names, err)
				}
				f, err := d.Open(names[0])
				if err != nil {
					t.Fatal(err)
				}
				text, err := io.ReadAll(f)
				if err != nil {
					t.Fatal(err)
				}
				what, _, _ := strings.Cut(d.noted(1), "1")
				times := 1
				want := d.noted(version)
				if want == "" {
					times = 0
				}
				if strings.Count(string(text), what) != times || !strings.HasSuffix(strings.TrimSpace(string(text)), want) {
					t.Errorf("%s of %s does not end with %q alone", names[0], d.folder, want)
				}
			}
		}
	}
}

// TestObjects: the tables and views that a check of the schema knows are those of the files.
func TestObjects(t *testing.T) {
	for _, d := range []Dialect{SQLite, Postgres} {
		tables, indexes, err := d.Tables()
		if err != nil || !slices.Contains(indexes, "decisions_by_seq") || len(indexes) < 8 {
			t.Fatal(indexes, err)
		}
		for name, want := range map[string]bool{"decisions": true, "stamps": true, "seals": true, "servers": d.folder == Postgres.folder, "schema_migrations": false} {
			if slices.Contains(tables, name) != want {
				t.Errorf("%s: table %s is listed: %v; %q", d.folder, name, !want, tables)
			}
		}
		views, err := d.Views()
		if err != nil || len(views) < 15 {
			t.Fatal(views, err)
		}
		for _, v := range views {
			if !strings.HasPrefix(v.Text, "CREATE ") || strings.Contains(v.Text, ";") || strings.Contains(v.Text, "--") {
				t.Errorf("%s: view %s is not one statement: %s", d.folder, v.Name, v.Text)
			}
		}
	}
}
