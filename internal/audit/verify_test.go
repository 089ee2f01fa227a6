package audit_test

import (
	"strings"
	"sync"
	"testing"

	"berth/internal/audit"
	"berth/internal/store"
	"berth/internal/store/postgres"
	"berth/internal/store/sqlite"
)

// TestRemovalsAreNoFinding: what retention, pruning and deletion take away is signed off in the
// chain, and the chain goes on.
func TestRemovalsAreNoFinding(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		f.fill()
		if n, err := f.Retain(t.Context(), at(8)); err != nil || n != 7 {
			t.Fatal(n, err)
		}
		r := f.verify(audit.Options{})
		if !r.Good() || r.Rows[store.SealDecisions] != 13 || r.Rows[store.SealGaps] != 0 {
			t.Errorf("after retention: %+v", r)
		}
		f.exec(`DELETE FROM decisions WHERE id = 'd008'`)
		if r := f.verify(audit.Options{}); len(r.Findings) != 1 || r.Findings[0].From != 8 {
			t.Errorf("the row beside those that retention took: %+v", r.Findings)
		}
		head := f.verify(audit.Options{}).Head
		if err := f.DeleteCluster(t.Context(), "prod"); err != nil {
			t.Fatal(err)
		}
		if r := f.verify(audit.Options{}); !r.Good() || r.FromSeal <= head.Seal || r.Head.Seq != 20 {
			t.Errorf("after the deletion: %+v", r)
		}
		f.append(uploaded(1), decided(31))
		if r := f.verify(audit.Options{}); !r.Good() || r.Rows[store.SealDecisions] != 1 || r.Head.Seq != 21 {
			t.Errorf("the chain behind the deletion: %+v", r)
		}
		if r := f.verify(audit.Options{Anchor: &head}); r.Good() {
			t.Error("an anchor from before the deletion is not reported")
		}
	})
}

// TestAnchor: a chain that was written anew has other hashes than a head that was kept elsewhere.
func TestAnchor(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		f.fill()
		kept := f.verify(audit.Options{}).Head
		f.append(decided(21))
		if r := f.verify(audit.Options{Anchor: &kept}); !r.Good() {
			t.Errorf("the anchor of this chain: %+v", r.Findings)
		}
		// All that berth itself has of the cluster goes, and other rows come in their place.
		f.exec(`DELETE FROM seals`, `DELETE FROM decisions`, `DELETE FROM checkpoints`, `DELETE FROM revisions`, `DELETE FROM decision_gaps`, `DELETE FROM clusters`,
			`DELETE FROM revision_changes`, `DELETE FROM priority_class_changes`)
		var other []*store.Entry
		for i := range 4 {
			e := decided(i + 1)
			e.Decision.Revision, e.Decision.Node = 0, "node-2"
			other = append(other, e)
		}
		f.append(other[:1]...)
		f.append(other[1:2]...)
		if r := f.verify(audit.Options{}); !r.Good() {
			t.Errorf("the forged chain is one in itself: %+v", r.Findings)
		}
		if r := f.verify(audit.Options{Anchor: &kept}); len(r.Findings) != 1 || r.Findings[0].What != audit.Anchored {
			t.Errorf("shorter than the anchor: %+v", r.Findings)
		}
		f.append(other[2:3]...)
		f.append(other[3:]...)
		r := f.verify(audit.Options{Anchor: &kept})
		if len(r.Findings) != 1 || r.Findings[0].What != audit.Anchored || !strings.Contains(r.Findings[0].Detail, kept.Hash) {
			t.Errorf("longer than the anchor: %+v", r.Findings)
		}
	})
}

// TestResume: a check of parts finds what a check of the whole finds.
func TestResume(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		f.fill()
		f.exec(`UPDATE decisions SET node = 'node-2' WHERE seq = 5 OR seq = 15`)
		var found []int64
		after, calls := int64(0), 0
		for more := true; more; calls++ {
			r := f.verify(audit.Options{After: after, Limit: 1, Progress: func(seal, of int64) {
				if seal != after+1 || of != 3 {
					t.Errorf("progress %d of %d", seal, of)
				}
			}})
			for _, x := range r.Findings {
				found = append(found, x.From)
			}
			after, more = r.ToSeal, r.More
		}
		if calls != 3 || len(found) != 2 || found[0] != 5 || found[1] != 15 {
			t.Errorf("%d calls found %v", calls, found)
		}
		if _, err := audit.Verify(t.Context(), f, "prod", audit.Options{After: 9}); err == nil || !strings.Contains(err.Error(), "seal 9") {
			t.Errorf("after a seal that is not there: %v", err)
		}
	})
}

// TestBesideWriters: what is added and taken away while a check runs is no finding.
func TestBesideWriters(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		f.fill()
		var writer sync.WaitGroup
		writer.Go(func() {
			for n := 21; n < 120; n++ {
				if err := f.Append(t.Context(), []*store.Entry{decided(n)}); err != nil {
					t.Error(err)
				}
				if n%10 == 0 {
					if _, err := f.Retain(t.Context(), at(n-15)); err != nil {
						t.Error(err)
					}
				}
			}
		})
		for range 20 {
			if r := f.verify(audit.Options{}); !r.Good() {
				t.Errorf("beside a writer: %+v", r.Findings)
			}
		}
		writer.Wait()
	})
}

// TestWithoutBeginning: a chain whose seals were removed together with the count of them is found,
// by itself and after the server has written on.
func TestWithoutBeginning(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		f.fill()
		f.exec(`DELETE FROM seals`, `UPDATE clusters SET seals = 0, seal_hash = `+f.empty(), `UPDATE decisions SET node = 'node-2' WHERE seq < 10`)
		check := func(when string, before int64) {
			t.Helper()
			r := f.verify(audit.Options{})
			if len(r.Findings) != 1 || r.Findings[0].What != audit.Missing || r.Findings[0].Table != "seals" || r.Beginning != 0 || r.BeforeSeq != before {
				t.Errorf("%s: %+v", when, r)
			}
			if text := r.Text(); !strings.Contains(text, "prod: 1 FOUND.") || !strings.Contains(text, "decisions to 20, revisions to 2, not checked") {
				t.Errorf("%s: %s", when, text)
			}
			if r.Accept(); !r.Good() || len(r.Accepted) != 1 || !strings.Contains(r.Text(), "accepted: the chain has no seal of its beginning") {
				t.Errorf("%s, accepted: %s", when, r.Text())
			}
		}
		check("removed", 20)
		f.append(uploaded(3), decided(21))
		check("written on", 20)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		write := sqlite.WriteBeginning
		if f.postgres {
			write = postgres.WriteBeginning
		}
		if err := write(t.Context(), f.url, "prod"); err != nil {
			t.Fatal(err)
		}
		f.reopen()
		if r := f.verify(audit.Options{}); !r.Good() || r.Beginning != 2 || r.Rows[store.SealDecisions] != 21 {
			t.Errorf("begun anew: %+v", r)
		}
		f.exec(`UPDATE decisions SET node = 'node-3' WHERE seq = 5`)
		if r := f.verify(audit.Options{}); len(r.Findings) != 1 || r.Findings[0].From != 5 {
			t.Errorf("changed since: %+v", r)
		}
	})
}

// TestBeginning: the first commit of a cluster is its chain's beginning, whatever it is of.
func TestBeginning(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		alone := decided(1)
		alone.Decision.Revision, alone.Decision.Cluster = 0, "alone"
		f.append(uploaded(1), alone)
		f.append(&store.Entry{Gap: &store.Gap{ID: "g1", Cluster: "gap", Since: at(1), Until: at(2), Lost: 3, Cause: "store", Instance: "i"}})
		heads, err := f.SealHeads(t.Context(), "")
		if err != nil || len(heads) != 3 {
			t.Fatal(heads, err)
		}
		for _, h := range heads {
			seals, err := f.ListSeals(t.Context(), h.Cluster, 0, 0, false)
			if err != nil || len(seals) != 1 || seals[0].Kind != store.SealedBeginning || h.Beginning != 1 {
				t.Errorf("%+v: %+v, %v", h, seals, err)
			}
		}
		if err := f.DeleteCluster(t.Context(), "prod"); err != nil {
			t.Fatal(err)
		}
		f.append(uploaded(1))
		if r := f.verify(audit.Options{}); !r.Good() || r.Beginning != 2 {
			t.Errorf("behind a deletion: %+v", r)
		}
	})
}
