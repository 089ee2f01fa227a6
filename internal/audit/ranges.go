package audit

import (
	"slices"
	"sort"
)

// ranges are disjoint ranges of places, both ends inclusive, in order.
type ranges struct{ list [][2]int64 }

func (r *ranges) add(more [][2]int64) {
	r.list = append(r.list, more...)
	slices.SortFunc(r.list, func(a, b [2]int64) int { return int(max(-1, min(1, a[0]-b[0]))) })
	out := r.list[:0]
	for _, x := range r.list {
		if n := len(out); n > 0 && out[n-1][1] >= x[0]-1 {
			out[n-1][1] = max(out[n-1][1], x[1])
			continue
		}
		out = append(out, x)
	}
	r.list = out
}

// at returns the index of the first range that ends at n or behind it.
func (r *ranges) at(n int64) int {
	return sort.Search(len(r.list), func(i int) bool { return r.list[i][1] >= n })
}

func (r *ranges) has(n int64) bool { _, ok := r.end(n); return ok }

// end returns the end of the range that n is in.
func (r *ranges) end(n int64) (int64, bool) {
	if i := r.at(n); i < len(r.list) && r.list[i][0] <= n {
		return r.list[i][1], true
	}
	return 0, false
}
