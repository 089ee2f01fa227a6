package spool

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"berth/internal/store"
)

// TestFactsAreSpooled: what is written beside a decision waits with it.
func TestFactsAreSpooled(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	want := &store.Decision{
		ID: "d1", Cluster: "prod", PodDigest: "sha256:aa", Purpose: "live", Attempt: "d0",
		Facts: (&store.PodFacts{OwnerName: "web", Requests: []byte(`{"cpu":"1"}`), Labels: []byte("{}"), CreatedAt: at}).Encode(),
	}
	r, err := encodeRecord(&entry{Decision: want})
	if err != nil {
		t.Fatal(err)
	}
	got, err := decodeRecord(r.payload)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.Decision); diff != "" {
		t.Errorf("from the spool (-want +got):\n%s", diff)
	}
}
