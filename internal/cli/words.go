package cli

import (
	"time"

	"berth/internal/engine/explain/suggest"
	"berth/internal/words"
)

// The command line writes numbers as the pages do.
var (
	count  = words.Count
	plural = words.Plural
	span   = words.Span
	clock  = words.Clock
	quote  = words.Quote
	// amounts are of a resource.
	amounts = suggest.Texts
)

// cells is a number of cells of tables.
func cells(n int) string {
	if n == 1 {
		return "1 cell"
	}
	return count(n) + " cells"
}

// ahead writes how far off a time is, in seconds begun.
func ahead(d time.Duration) string { return span(int64((d + time.Second - 1) / time.Second)) }

// offset writes when something happens, in seconds from another time: +5s, or -16m before it.
func offset(seconds int64) string {
	if seconds < 0 {
		return span(seconds)
	}
	return "+" + span(seconds)
}
