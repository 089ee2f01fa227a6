package scenario

import (
	"cmp"
	"context"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/memory"
	"berth/internal/steps"
)

// packing is pods that only so much of fits on nodes: some of them need an amount, of which the
// snapshot has some and each node of a pool some more. The amount is one of a resource, or counts
// pods of at least one size.
type packing struct {
	of       []*demand
	resource corev1.ResourceName
	pieces   bool // pods are counted, not the resource
	have     float64
	each     []float64 // by pool
}

// maxCounted is how many sizes of pods are counted by their pieces, the most common first.
const maxCounted = 24

// pack makes the packings: the sum of each resource over all pods, and over those that only some
// pools serve; and the pieces of each size, for the pods that are at least as large.
func (s *poolSearch) pack(ctx context.Context) error {
	count := steps.Of(ctx)
	rows := s.v.State.Nodes().Len()
	if err := memory.Take(ctx, int64(8*rows*len(s.wanted))); err != nil {
		return err
	}
	free, st := map[corev1.ResourceName][]float64{}, s.v.State.Under(s.o.Profiles[0].Counting)
	for name := range s.wanted {
		free[name] = make([]float64, rows)
		if err := count.Take(rows); err != nil {
			return err
		}
		for row := range st.Nodes().Alive().All() {
			free[name][row] = freeOf(st, row, name)
		}
	}
	add := func(of []*demand, name corev1.ResourceName, fits func(has func(corev1.ResourceName) float64) float64, pieces bool) error {
		p := packing{of: of, resource: name, pieces: pieces, each: make([]float64, len(s.pools))}
		may, pools := of[0].may.Clone(), uint32(0)
		for _, d := range of {
			may.Or(d.may)
			pools |= d.pools
		}
		for row := range may.All() {
			if err := count.Take(1); err != nil {
				return err
			}
			p.have += fits(func(name corev1.ResourceName) float64 { return free[name][row] })
		}
		for i := range s.pools {
			if pools&(1<<i) != 0 {
				p.each[i] = fits(func(name corev1.ResourceName) float64 { return s.offers[i][name] })
			}
		}
		s.packings = append(s.packings, p)
		return nil
	}
	names := sortedNames(s.wanted)
	for _, of := range s.served() {
		for _, name := range names {
			step := divisor(of, name)
			if step == 0 {
				continue // none of them wants any
			}
			round := func(has func(corev1.ResourceName) float64) float64 { return math.Floor(has(name)/step) * step }
			if err := add(of, name, round, false); err != nil {
				return err
			}
		}
	}
	common := slices.Clone(s.demands)
	slices.SortStableFunc(common, func(a, b *demand) int { return b.pods - a.pods })
	for _, d := range common[:min(len(common), maxCounted)] {
		if len(d.wants) == 0 {
			continue
		}
		larger := s.which(func(o *demand) bool { return o.covers(d) })
		narrower := s.which(func(o *demand) bool { return o.covers(d) && o.pools&^d.pools == 0 && o.may.Within(d.may) })
		for i, of := range [][]*demand{larger, narrower} {
			if i > 0 && len(narrower) == len(larger) {
				continue
			}
			if err := add(of, d.scarcest(s.offers), func(has func(corev1.ResourceName) float64) float64 { return d.piecesIn(has) }, true); err != nil {
				return err
			}
		}
	}
	return nil
}

// which returns the demands that meet a condition.
func (s *poolSearch) which(meets func(*demand) bool) (out []*demand) {
	for _, d := range s.demands {
		if meets(d) {
			out = append(out, d)
		}
	}
	return out
}

// served returns all pods, and those that no pools serve but the ones that serve some pod.
func (s *poolSearch) served() (sets [][]*demand) {
	seen := map[uint32]bool{}
	for _, by := range append([]*demand{{pools: math.MaxUint32}}, s.demands...) {
		if seen[by.pools] || len(seen) > maxCounted {
			continue
		}
		seen[by.pools] = true
		of := s.which(func(d *demand) bool { return d.pools&^by.pools == 0 })
		if len(of) > 0 && (len(sets) == 0 || len(of) < len(s.demands)) {
			sets = append(sets, of)
		}
	}
	return sets
}

// covers reports whether pods want at least as much of each resource as others.
func (d *demand) covers(other *demand) bool {
	for name, n := range other.wants {
		if d.wants[name] < n {
			return false
		}
	}
	return true
}

// piecesIn is how many of the pods have room in amounts.
func (d *demand) piecesIn(has func(corev1.ResourceName) float64) float64 {
	n := math.Inf(1)
	for name, want := range d.wants {
		n = min(n, math.Floor(has(name)/want))
	}
	return n
}

// scarcest is the resource of which offers have room for the fewest of the pods.
func (d *demand) scarcest(offers []amounts) (least corev1.ResourceName) {
	fewest := math.Inf(1)
	for _, name := range sortedNames(d.wants) {
		n := 0.0
		for _, offer := range offers {
			n = max(n, offer[name]/d.wants[name])
		}
		if n < fewest {
			least, fewest = name, n
		}
	}
	return least
}

func sortedNames(a amounts) []corev1.ResourceName {
	names := make([]corev1.ResourceName, 0, len(a))
	for name := range a {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// divisor is the greatest common one of what the pods want of a resource: what a node has beside a
// multiple of it none can use. It is 0 where none wants any.
func divisor(of []*demand, name corev1.ResourceName) float64 {
	a := int64(0)
	for _, d := range of {
		for b := int64(d.wants[name]); b != 0; {
			a, b = b, a%b
		}
	}
	return float64(a)
}

// need is how much beyond the snapshot the packing takes where at least so many pods of all are
// placed, whichever they are; not above 0 where none.
func (p *packing) need(target, all int) float64 {
	m := target - all
	for _, d := range p.of {
		m += d.pods
	}
	if m <= 0 {
		return 0
	}
	if p.pieces {
		return float64(m) - p.have
	}
	small := slices.Clone(p.of)
	slices.SortFunc(small, func(a, b *demand) int { return cmp.Compare(a.wants[p.resource], b.wants[p.resource]) })
	sum := 0.0
	for _, d := range small {
		n := min(m, d.pods)
		sum += float64(n) * d.wants[p.resource]
		if m -= n; m == 0 {
			break
		}
	}
	return sum - p.have
}
