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
	var r release
	if err := r.UnmarshalText([]byte("v1.36,VolumeLimitScaling=true")); err != nil || r.String() != "v1.36.3 VolumeLimitScaling=true" {
		t.Errorf("a gate: %v, %v", r, err)
	}
	if err := r.UnmarshalText([]byte("v1.99")); err == nil || !strings.Contains(err.Error(), semantics.Known()) {
		t.Errorf("an unknown release: %v", err)
	}
}
