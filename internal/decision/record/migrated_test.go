package record_test

import (
	"testing"

	"berth/internal/decision/record"
	"berth/internal/store/postgres"
	"berth/internal/store/sqlite"
	"berth/test/logtest"
)

// TestMigratedRecordsReplay takes a log that the server's own code filled down
// to the schema of v0.3.0 and up again, and wants every decision to be given again
// in the same bytes, with the same digest.
func TestMigratedRecordsReplay(t *testing.T) {
	steps := map[string]func(t *testing.T, address string, version int){
		"sqlite": func(t *testing.T, dir string, version int) {
			if version == 0 {
				st, err := sqlite.MigrateStatus(t.Context(), dir)
				if err != nil {
					t.Fatal(err)
				}
				version = st.Latest
			}
			if err := sqlite.MigrateTo(t.Context(), dir, version); err != nil {
				t.Fatal(err)
			}
		},
		"postgres": func(t *testing.T, url string, version int) {
			if version == 0 {
				st, err := postgres.MigrateStatus(t.Context(), url)
				if err != nil {
					t.Fatal(err)
				}
				version = st.Latest
			}
			if err := postgres.MigrateTo(t.Context(), url, version, postgres.MigrateOptions{}); err != nil {
				t.Fatal(err)
			}
		},
	}
	for backend, to := range steps {
		t.Run(backend, func(t *testing.T) {
			st, address := backends[backend](t)
			c := openCorpus(t, st)
			c.fill(t)
			ids := c.all(t)
			before := given(t, c, ids)
			c.close()
			for round := range 2 {
				to(t, address, 15)
				to(t, address, 0)
				c = openCorpus(t, reopen(t, backend, address))
				after := given(t, c, ids)
				for _, id := range ids {
					if before[id] != after[id] {
						t.Errorf("round %d: decision %s was\n%s\nand is\n%s", round, id, before[id], after[id])
					}
				}
				c.close()
			}
		})
	}
}

// given replays each decision and compares its digest.
func given(t *testing.T, c *corpus, ids []string) map[string]string {
	t.Helper()
	if len(ids) != len(c.ids)+1 && c.ids != nil { // and the one that Bind made
		t.Fatalf("%d decisions in the log, %d made", len(ids), len(c.ids))
	}
	all := map[string]string{}
	for _, id := range ids {
		r, err := c.Get(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if !r.DigestAgrees || r.Engine == "" || r.Semantics == "" || r.SnapshotDigest == "" || r.PodDigest == "" {
			t.Errorf("decision %s: digest agrees %v, stamps %+v", id, r.DigestAgrees, r)
		}
		r.Attribution = record.Attribution{} // which the way down has no place for
		all[id] = logtest.Text(t, r)
	}
	return all
}
