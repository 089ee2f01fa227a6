package audit_test

import (
	"fmt"
	"slices"
	"testing"

	"berth/internal/audit"
)

// TestLook: a server finds at its start what it can find without reading the log, and only that.
func TestLook(t *testing.T) {
	for name, c := range map[string]struct {
		queries []string
		want    []string // table, what and place of each finding
	}{
		"nothing":          {nil, nil},
		"newest put back":  {[]string{`UPDATE clusters SET newest = 1, token = (SELECT token FROM revisions WHERE number = 1)`}, []string{"clusters changed 1"}},
		"with its seals":   {[]string{`UPDATE clusters SET newest = 1`, `DELETE FROM checkpoints WHERE number = 2`, `DELETE FROM revisions WHERE number = 2`}, []string{"clusters changed 1"}},
		"token":            {[]string{`UPDATE clusters SET token = 'forged'`}, []string{"clusters changed 2"}},
		"token of nothing": {[]string{`DELETE FROM checkpoints`, `DELETE FROM revisions`, `UPDATE clusters SET newest = 0`}, []string{"clusters changed 0"}},
		"last place":       {[]string{`UPDATE clusters SET last_seq = 19`}, []string{"clusters changed 19"}},
		"books put back":   {[]string{`UPDATE clusters SET seals = 2, seal_hash = (SELECT hash FROM seals WHERE number = 2)`}, []string{"seals changed 2"}},
		"seals removed":    {[]string{`DELETE FROM seals`}, []string{"seals changed 3", "seals missing 0"}},
		"a row":            {[]string{`UPDATE decisions SET node = 'node-2' WHERE seq = 5`}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, func(t *testing.T, f *fixture) {
				f.fill()
				f.exec(c.queries...)
				list, err := audit.Look(t.Context(), f)
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, x := range list {
					got = append(got, fmt.Sprintf("%s %s %d", x.Table, x.What, x.From))
				}
				if slices.Sort(got); !slices.Equal(got, c.want) {
					t.Errorf("found %q, want %q: %+v", got, c.want, list)
				}
			})
		})
	}
}

// TestCutOffRetention: a partition that retention has taken out and not dropped yet, since the
// server was killed between, is still in the books, and no finding.
func TestCutOffRetention(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		if !f.postgres {
			return // has no partitions
		}
		f.exec(`CREATE TABLE decisions_p202602 PARTITION OF decisions FOR VALUES FROM ('2026-02-01 00:00:00+00') TO ('2026-03-01 00:00:00+00')`)
		f.fill()
		f.exec(`CREATE VIEW in_the_way AS SELECT id FROM decisions_p202602`)
		if n, err := f.Retain(t.Context(), at(0).AddDate(0, 2, 0)); err == nil || n != 0 {
			t.Fatal(n, err)
		}
		books, err := f.Books(t.Context(), "prod", true)
		if err != nil || len(books) != 1 || books[0].Decisions != 20 || books[0].StoredDecisions != 20 || books[0].TopSeq != 0 {
			t.Errorf("%+v, %v", books, err)
		}
		if r := f.verify(audit.Options{}); !r.Good() {
			t.Errorf("between: %+v", r.Findings)
		}
		f.exec(`DROP VIEW in_the_way`)
		if n, err := f.Retain(t.Context(), at(0).AddDate(0, 2, 0)); err != nil || n != 20 {
			t.Fatal(n, err)
		}
		if r := f.verify(audit.Options{}); !r.Good() {
			t.Errorf("afterwards: %+v", r.Findings)
		}
	})
}
