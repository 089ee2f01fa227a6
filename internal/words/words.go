// Package words writes numbers, times and amounts as people read them, for the command line and
// the pages.
package words

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Count returns a number with commas, from a thousand on.
func Count(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Plural returns "1 node" or "3 nodes".
func Plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return Count(n) + " " + one + "s"
}

// Span returns a duration in its two largest units, as kubectl's ages are: 45s, 22m, 3h10m, 9d.
func Span(seconds int64) string {
	switch {
	case seconds < 0:
		return "-" + Span(-max(seconds, -math.MaxInt64))
	case seconds < 120:
		return fmt.Sprintf("%ds", seconds)
	case seconds < 3600:
		return two(seconds/60, "m", seconds%60, "s")
	case seconds < 48*3600:
		return two(seconds/3600, "h", seconds%3600/60, "m")
	}
	return two(seconds/86400, "d", seconds%86400/3600, "h")
}

func two(large int64, unit string, small int64, smaller string) string {
	if small == 0 || large >= 10 {
		return fmt.Sprintf("%d%s", large, unit)
	}
	return fmt.Sprintf("%d%s%d%s", large, unit, small, smaller)
}

// Clock returns a time of day in UTC, with the date where it is not the same day as now.
func Clock(t, now time.Time) string {
	t, now = t.UTC(), now.UTC()
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format("15:04:05")
	}
	return t.Format("2006-01-02 15:04:05")
}

// Size returns a number of bytes with at most one decimal: the exact Ki of a difference do not
// matter to a reader.
func Size(n int64) string {
	const unit = 1024
	v, units := float64(n), []string{"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"}
	i := 0
	for ; math.Abs(v) >= unit && i < len(units)-1; i++ {
		v /= unit
	}
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) + units[i]
}

// Quote writes a word so that a shell takes it as it is.
func Quote(s string) string {
	plain := func(r rune) bool {
		return r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_./:@=,+%", r))
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
