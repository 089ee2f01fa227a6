package storetest

import (
	"context"
	"testing"
	"time"

	"berth/internal/store"
)

func init() {
	register("Backfill", cases{
		"WhatASealCoversStays": fillsOpenPlaces,
		"ObjectsOfRevisions":   fillsObjects,
		"FactsAndInputs":       fillsFacts,
	}, calls{
		"Fillable": func(ctx context.Context, s store.Store) error { _, err := s.Fillable(ctx, "prod"); return err },
		"BackfillRecords": func(ctx context.Context, s store.Store) error {
			_, err := s.BackfillRecords(ctx, "prod", true, store.ReplayCursor{}, 1)
			return err
		},
		"Inputs": func(ctx context.Context, s store.Store) error { _, _, err := s.Inputs(ctx, "prod", nil); return err },
		"FillDecisions": func(ctx context.Context, s store.Store) error {
			_, err := s.FillDecisions(ctx, &store.Fillable{Cluster: "prod"}, nil)
			return err
		},
		"Unchanged":   func(ctx context.Context, s store.Store) error { _, err := s.Unchanged(ctx, "prod", 0, 1); return err },
		"FillObjects": func(ctx context.Context, s store.Store) error { _, err := s.FillObjects(ctx, "prod", nil); return err },
		"FactsSeen":   func(ctx context.Context, s store.Store) error { _, err := s.FactsSeen(ctx, "prod", nil); return err },
		"FillFacts":   func(ctx context.Context, s store.Store) error { return s.FillFacts(ctx, nil) },
	})
}

// fillsOpenPlaces: seals of this release cover that a record has no purpose, so that it stays
// without. Records come by time and by revision, a page after the other.
func fillsOpenPlaces(t *testing.T, s store.Store) {
	appendAll(t, s, revision("prod", 1), revision("prod", 2))
	for i, id := range []string{"c", "a", "b"} {
		d := decision("prod", id, at(10-i))
		d.Revision = int64(i%2 + 1)
		appendAll(t, s, &store.Entry{Decision: d})
	}
	_, err := s.Fillable(t.Context(), "none")
	wantErr(t, "Fillable of an unknown cluster", err, store.ErrNotFound)
	f, err := s.Fillable(t.Context(), "prod")
	if err != nil || f.Last != 3 || f.Shortened || f.Open(1) || f.Open(3) || f.Open(4) {
		t.Fatalf("%+v, %v", f, err)
	}
	for byRevision, want := range map[bool]string{false: "bac", true: "bca"} {
		var ids string
		var after store.ReplayCursor
		for {
			page, err := s.BackfillRecords(t.Context(), "prod", byRevision, after, 2)
			wantErr(t, "BackfillRecords", err, nil)
			if len(page) == 0 {
				break
			}
			for _, d := range page {
				ids += d.ID
				after = store.ReplayCursor{Revision: d.Revision, CreatedAt: d.CreatedAt, ID: d.ID}
			}
		}
		if ids != want {
			t.Errorf("by revision %v: %s, want %s", byRevision, ids, want)
		}
	}
	d := decision("prod", "a", at(9))
	d.Seq, d.Purpose = 2, "live"
	_, err = s.FillDecisions(t.Context(), f, []*store.Decision{d})
	wantErr(t, "FillDecisions of a sealed place", err, store.ErrConflict)
	got, err := s.Decision(t.Context(), "a")
	if err != nil || got.Purpose != "" {
		t.Errorf("%+v, %v", got, err)
	}
}

// fillsObjects: a revision without objects gets them once, with a seal, which the suite checks.
func fillsObjects(t *testing.T, s store.Store) {
	appendAll(t, s, changed("prod", 1), change("prod", 2), change("prod", 3))
	list, err := s.Unchanged(t.Context(), "prod", 0, 10)
	wantErr(t, "Unchanged", err, nil)
	sameList(t, "Unchanged", []store.UnchangedRevision{{Number: 2}, {Number: 3}}, list)
	r := changed("prod", 2).Revision
	other := changed("prod", 3).Revision
	other.Token = "another"
	for i, want := range []int64{1, 0} {
		n, err := s.FillObjects(t.Context(), "prod", []*store.Revision{changed("prod", 1).Revision, r, other})
		if err != nil || n != want {
			t.Errorf("round %d: %d filled in, want %d, %v", i, n, want, err)
		}
	}
	sameList(t, "objects", []string{"1|3", "2|3"}, rows(t, s, `SELECT revision, count(*) FROM revision_objects WHERE cluster = 'prod' GROUP BY revision ORDER BY revision`))
	r.Objects[0].Name = "a\x00b"
	_, err = s.FillObjects(t.Context(), "prod", []*store.Revision{r})
	wantErr(t, "FillObjects of a name with NUL", err, store.ErrInvalid)
}

func fillsFacts(t *testing.T, s store.Store) {
	d := decision("prod", "a", at(1))
	d.Input = []byte{1, 2}
	appendAll(t, s, &store.Entry{Decision: d}, &store.Entry{Decision: decision("prod", "b", at(2))})
	inputs, more, err := s.Inputs(t.Context(), "prod", []string{"a", "b", "c"})
	if err != nil || more || len(inputs) != 1 || string(inputs["a"]) != "\x01\x02" {
		t.Errorf("inputs %v, %v, %v", inputs, more, err)
	}
	later := decision("prod", "b", at(5))
	later.PodDigest, later.Facts = "sha256:pod", (&store.PodFacts{Requests: []byte("{}"), Labels: []byte("{}")}).Encode()
	earlier := *later
	earlier.CreatedAt = at(1)
	wantErr(t, "FillFacts", s.FillFacts(t.Context(), []*store.Decision{later, &earlier}), nil)
	seen, err := s.FactsSeen(t.Context(), "prod", []string{"sha256:pod", "sha256:other"})
	wantErr(t, "FactsSeen", err, nil)
	same(t, "FactsSeen", map[string]time.Time{"sha256:pod": at(5)}, seen)
	// What a rebuild cannot make again, since no record has it, it leaves.
	wantErr(t, "RebuildRollups", s.RebuildRollups(t.Context(), "prod"), nil)
	rollUp(t, s, "prod")
	same(t, "rows", []string{"sha256:pod"}, sorted(t, s, `SELECT pod_digest FROM pod_facts`))
	earlier.Facts = "no JSON"
	wantErr(t, "FillFacts of no JSON", s.FillFacts(t.Context(), []*store.Decision{&earlier}), store.ErrInvalid)
	earlier.Facts = "[1]"
	wantErr(t, "FillFacts of too few fields", s.FillFacts(t.Context(), []*store.Decision{&earlier}), store.ErrInvalid)
}
