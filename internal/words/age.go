package words

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maxDays is the longest age in days: above it a time.Duration overflows.
const maxDays = 100_000

// Age reads a duration that may be given in days: 7d, 1.5d, or as Go writes it, 168h.
func Age(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.ParseFloat(days, 64); err == nil && n >= 0 && n < maxDays {
			return time.Duration(n * 24 * float64(time.Hour)), nil
		}
	} else if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return d, nil
	}
	return 0, fmt.Errorf("%q is not an age, such as 24h or 7d", text)
}

// Since reads a time, or how long before now it was.
func Since(text string, now time.Time) (time.Time, error) {
	if d, err := Age(text); err == nil {
		return now.Add(-d), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, fmt.Errorf("%q: want an age such as 30d or 12h, or a time such as 2026-01-31T12:00:00Z", text)
	}
	return t, nil
}
