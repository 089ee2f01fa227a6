package cli

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine/advice"
	"berth/internal/words"
)

// The command line writes numbers as the pages do.
var (
	count  = words.Count
	plural = words.Plural
	span   = words.Span
	clock  = words.Clock
	size   = words.Size
	quote  = words.Quote
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

// amounts writes amounts of a resource as people do: cpu in one unit, bytes with at most
// one decimal.
func amounts(name string, list []int64) []string {
	switch corev1.ResourceName(name) {
	case corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
		out := make([]string, len(list))
		for i, n := range list {
			out[i] = size(n)
		}
		return out
	}
	return advice.Amounts(name, list...)
}
