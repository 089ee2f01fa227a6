package web

import (
	"slices"
	"testing"
)

// Amounts are in cores and GiB, whatever the others of their column are.
func TestAmounts(t *testing.T) {
	for of, c := range map[string]struct {
		n    []int64
		want []string
	}{
		"cpu":            {[]int64{64000, 1900, 2, 385250, -115, 0}, []string{"64", "1.9", "0.002", "385.25", "-0.12", "0"}},
		"memory":         {[]int64{512000 << 20, 1 << 29, 4 << 20, 0}, []string{"500 GiB", "0.5 GiB", "0.0039 GiB", "0 GiB"}},
		"pods":           {[]int64{5000, 58}, []string{"5,000", "58"}},
		"nvidia.com/gpu": {[]int64{8}, []string{"8"}},
	} {
		if got := amounts(of, c.n); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", of, got, c.want)
		}
	}
}
