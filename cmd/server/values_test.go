package main

import (
	"strings"
	"testing"
	"time"
)

func TestAge(t *testing.T) {
	for text, want := range map[string]time.Duration{"7d": 168 * time.Hour, "0.5d": 12 * time.Hour, "90m": 90 * time.Minute, "0": 0, "0d": 0} {
		var got age
		if err := got.UnmarshalText([]byte(text)); err != nil || time.Duration(got) != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "d", "7", "-1d", "-1h", "NaNd", "1e9d", "7d1h", "7D"} {
		var got age
		if err := got.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
}

// Ages are printed as durations, and can come from the environment.
func TestAgesOfSettings(t *testing.T) {
	t.Setenv("BERTH_KEEP_REVISIONS", "3d")
	code, out, errs := command(t, "config", "print", "--keep-decisions", "7d")
	if code != 0 || !strings.Contains(out, "keep-decisions: 168h0m0s  # flag\n") || !strings.Contains(out, "keep-revisions: 72h0m0s  # BERTH_KEEP_REVISIONS\n") {
		t.Errorf("%d %s%s", code, out, errs)
	}
}
