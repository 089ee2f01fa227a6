package engine

import (
	"math"
	"slices"
	"strings"
)

// BestRows returns up to n of the best feasible rows: by total, then by the node's name.
func (r *Result) BestRows(n int) []int32 {
	n = min(n, r.Feasible.Count())
	if n <= 0 {
		return nil
	}
	set, rows := r.Nodes(), make([]int32, 0, n)
	if !r.Scored || r.Best.Count() >= n { // all of these have one total
		equals := r.Best
		if !r.Scored {
			equals = r.Feasible
		}
		for row := range set.ByName(equals) {
			if rows = append(rows, int32(row)); len(rows) == n {
				break
			}
		}
		return rows
	}
	least := int64(math.MinInt64) // no lower total is among the best
	totals := make([]int64, 0, n)
	for row := range r.Feasible.All() {
		total := r.totalOf(row)
		if total < least {
			continue
		}
		name := set.Node(row).Name
		at := len(rows)
		for at > 0 && (total > totals[at-1] || total == totals[at-1] && strings.Compare(name, set.Node(int(rows[at-1])).Name) < 0) {
			at--
		}
		if len(rows) == n {
			if at == n {
				continue
			}
			rows, totals = rows[:n-1], totals[:n-1]
		}
		rows, totals = slices.Insert(rows, at, int32(row)), slices.Insert(totals, at, total)
		if len(rows) == n {
			if least = totals[n-1]; set.InOrder() {
				least++ // of equals the first stays
			}
		}
	}
	return rows
}

// Second returns the best total below Top; ok is false where no feasible node has one.
func (r *Result) Second() (second int64, ok bool) {
	if !r.Scored {
		return 0, false
	}
	second = math.MinInt64
	for row := range r.Feasible.All() {
		if total := r.totalOf(row); total < r.Top {
			second = max(second, total)
		}
	}
	return second, second > math.MinInt64
}
