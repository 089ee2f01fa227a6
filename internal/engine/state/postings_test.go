package state

import (
	"math/rand/v2"
	"testing"
)

// TestPostings compares postings with plain lists, of edits that copy and of edits in place, and
// those that others came from with what they were.
func TestPostings(t *testing.T) {
	const rows = 6 * segMax
	check := func(p *Postings, want *[rows]int32) {
		t.Helper()
		total := 0
		for row, n := range want {
			if got := p.At(int32(row)); got != n {
				t.Fatalf("row %d has %d, want %d", row, got, n)
			}
			total += int(n)
		}
		last := int32(-1)
		p.Each(func(row, n int32) {
			if row <= last || n == 0 {
				t.Fatalf("row %d with %d comes after row %d", row, n, last)
			}
			last = row
		})
		if p.Total() != total {
			t.Fatalf("the total is %d, want %d", p.Total(), total)
		}
	}
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 0))
		var p *Postings
		var want [rows]int32
		for edit := range uint64(12) {
			inPlace := (edit + 1) * (edit % 2)
			before, had := p, want
			for range r.IntN(600) {
				row, delta := r.IntN(rows), int32(1)
				if want[row] > 0 && r.IntN(2) == 0 {
					delta = -want[row]
				}
				p = p.add(inPlace, int32(row), delta)
				want[row] += delta
			}
			check(p, &want)
			check(before, &had)
		}
	}
}
