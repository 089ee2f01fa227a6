//go:build linux

package main

import (
	"context"
	"os"
	"testing"
	"time"
)

// TestBooks is a short run whose books have to find what is planted into holds, keys and events:
// test/faults runs it, with the overlay of a fault.
func TestBooks(t *testing.T) {
	if os.Getenv("BERTH_BOOKS") == "" {
		t.Skip("takes a minute: make faults FAULTS=books")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	o := options{
		Scenario: "books", Clients: 4, Platforms: 8, Replicas: 2, Rate: 120, Recovery: 40 * time.Second, Dir: t.TempDir(),
		Overlay: os.Getenv("BERTH_OVERLAY"),
	}
	var err error
	if o.Server, err = build(ctx, o, "server"); err != nil {
		t.Fatal(err)
	}
	r, err := torture(ctx, o, 7, o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	r.print(os.Stdout)
	for _, v := range r.violations {
		t.Errorf("%s: %.300s", v.kind, v.what)
	}
}
