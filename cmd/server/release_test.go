package main

import (
	"strings"
	"testing"

	"berth/internal/semantics"
)

// TestReleaseSetting: the release is a minor or a whole one; another is refused with those there
// are.
func TestReleaseSetting(t *testing.T) {
	for _, text := range []string{"v1.36", "v1.36.3"} {
		var s settings
		if err := s.Semantics.UnmarshalText([]byte(text)); err != nil || s.Semantics.String() != "v1.36" {
			t.Errorf("%s: %v, %v", text, s.Semantics, err)
		}
		if c, err := s.profiles(); err != nil || c.Profiles[0].Semantics != semantics.Default() {
			t.Errorf("%s: %v, %v", text, c, err)
		}
	}
	var r releases
	if err := r.UnmarshalText([]byte("v1.36,VolumeLimitScaling=true")); err != nil || r.String() != "v1.36.3 VolumeLimitScaling=true" {
		t.Errorf("a gate: %v, %v", r, err)
	}
	r = releases{}
	for _, text := range []string{"prod=v1.37 StorageCapacityScoring=false; test=v1.35", "v1.37,VolumeLimitScaling=false"} {
		if err := r.UnmarshalText([]byte(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	const all = "v1.37.2 VolumeLimitScaling=false;prod=v1.37.2 StorageCapacityScoring=false;test=v1.35"
	if r.String() != all || r.of("prod").Stamp() != "v1.37.2 StorageCapacityScoring=false" || r.of("other") != r.value() {
		t.Errorf("%s, want %s", r, all)
	}
	for text, says := range map[string]string{"v1.36": "named already", "test=v1.36": "twice", "prod=v1.99": semantics.Known(), "Nope=true": semantics.Known(), "": semantics.Known()} {
		if err := r.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
	if err := r.UnmarshalText([]byte("v1.99")); err == nil || !strings.Contains(err.Error(), semantics.Known()) {
		t.Errorf("an unknown release: %v", err)
	}
}
