package words

import (
	"testing"
	"time"
)

func TestSince(t *testing.T) {
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"30d": "2026-10-30T12:00:00Z", "1.5d": "2026-11-28T00:00:00Z", "90s": "2026-11-29T11:58:30Z", "0s": "2026-11-29T12:00:00Z",
		"2026-01-31T12:00:00Z": "2026-01-31T12:00:00Z", "2026-01-31T12:00:00+02:00": "2026-01-31T10:00:00Z",
	} {
		if got, err := Since(text, now); err != nil || got.UTC().Format(time.RFC3339) != want {
			t.Errorf("%s: %s, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "-1d", "-1h", "100000d", "NaNd", "30", "yesterday", "2026-01-31"} {
		if got, err := Since(text, now); err == nil {
			t.Errorf("%q is %s", text, got)
		}
	}
}
