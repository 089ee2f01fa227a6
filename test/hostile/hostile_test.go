package main

import (
	"slices"
	"testing"
	"time"
)

// short are vectors that end a server within seconds where the bound that they go for is missing.
var short = []string{
	"C2 a: 60 MiB of flow YAML, gzip", "C2 b: 24,000 profiles", "C2 c: 38 unfinished bodies, made-up clusters",
	"pod: owners", "pod: volumes", "pod: init containers", "pod: gates", "upload: containers of two bytes, gzip",
	"changes: one pod of two million volumes", "eviction, ranking: 20,000 pods",
}

// TestShort runs those, singly and together, in a cgroup of 1 GiB or, where none can be made, with
// a look at the RSS.
func TestShort(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds and runs a server")
	}
	found := 0
	pick := func(v vector) bool {
		if !slices.Contains(short, v.name) {
			return false
		}
		found++
		return true
	}
	if err := run(t.Output(), 2*time.Second, pick, true); err != nil {
		t.Error(err)
	}
	if found != len(short) {
		t.Errorf("%d of %d vectors are there", found, len(short))
	}
}
