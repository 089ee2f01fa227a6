package audit_test

import (
	"testing"

	"berth/internal/audit"
)

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
