// Package rollup sums decisions up by the hour, and works out how long pods waited for what.
package rollup

import (
	"crypto/sha256"
	"time"

	"berth/internal/store"
)

// The keys and values of the sums are the columns of their tables. Hours are their beginnings.
type (
	// DecisionsKey is what decisions are counted by.
	DecisionsKey struct {
		Hour                              time.Time
		Verb, Outcome, Purpose, Namespace string
		Stamp                             int64
	}
	// Decisions counts decisions.
	Decisions struct {
		Count, Bound int64
		First, Last  time.Time
	}
	// FailuresKey is what rejections are counted by, by pool and of all pools.
	FailuresKey struct {
		Hour                                  time.Time
		Namespace, Plugin, Code, Reason, Pool string
	}
	// Failures counts the attempts in which a plugin rejected nodes for a reason, and the nodes;
	// Unplaced those that found no node.
	Failures struct{ Decisions, Nodes, Unplaced, UnplacedNodes int64 }
	// PlacementsKey is what placements are counted by.
	PlacementsKey struct {
		Hour            time.Time
		Node, Namespace string
	}
	// DurationsKey is a bucket of a histogram.
	DurationsKey struct {
		Hour       time.Time
		Verb       string
		Over, Upto int64 // microseconds
	}
	// Durations sums up durations, in microseconds.
	Durations struct{ Count, Total, Max int64 }
)

// ReasonKey stands for a reason in an index, which does not take texts of any length.
func ReasonKey(reason string) []byte {
	sum := sha256.Sum256([]byte(reason))
	return sum[:16]
}

// Sums are those of some decisions of one cluster.
type Sums struct {
	Decisions  map[DecisionsKey]*Decisions
	Failures   map[FailuresKey]*Failures
	Placements map[PlacementsKey]int64
	Durations  map[DurationsKey]*Durations
}

// NewSums returns sums of nothing.
func NewSums() *Sums {
	return &Sums{
		Decisions: map[DecisionsKey]*Decisions{}, Failures: map[FailuresKey]*Failures{},
		Placements: map[PlacementsKey]int64{}, Durations: map[DurationsKey]*Durations{},
	}
}

// Rows is how many rows of tables the sums change.
func (s *Sums) Rows() int {
	return len(s.Decisions) + len(s.Failures) + len(s.Placements) + len(s.Durations)
}

// of returns the value of a key, which it makes where there is none.
func of[K comparable, V any](m map[K]*V, key K) *V {
	v := m[key]
	if v == nil {
		v = new(V)
		m[key] = v
	}
	return v
}

// Add adds a decision, whose stamp has a number. It reads the columns of
// store.RollupColumns.
func (s *Sums) Add(d *store.Decision, stamp int64) {
	hour, purpose := d.CreatedAt.Truncate(time.Hour), d.KnownPurpose()
	c := of(s.Decisions, DecisionsKey{hour, d.Verb, d.Outcome, purpose, d.Namespace, stamp})
	c.Count++
	if d.BoundRevision > 0 {
		c.Bound++
	}
	if c.First.IsZero() || d.CreatedAt.Before(c.First) {
		c.First = d.CreatedAt
	}
	if d.CreatedAt.After(c.Last) {
		c.Last = d.CreatedAt
	}
	over, upto := bucket(d.DurationMicros)
	t := of(s.Durations, DurationsKey{hour, d.Verb, over, upto})
	t.Count++
	t.Total += d.DurationMicros
	t.Max = max(t.Max, d.DurationMicros)
	if Placed(d) {
		s.Placements[PlacementsKey{hour, d.Node, d.Namespace}]++
	}
	if !Attempted(d) {
		return
	}
	for i := range d.Failures {
		f := &d.Failures[i]
		pools := f.Pools
		if len(pools) == 0 {
			pools = []store.PoolCount{{Pool: unknownPool, Nodes: f.Nodes}}
		}
		for _, p := range append(pools, store.PoolCount{Pool: allPools, Nodes: f.Nodes}) {
			of(s.Failures, FailuresKey{hour, d.Namespace, f.Plugin, f.Code, f.Reason, p.Pool}).add(int64(p.Nodes), unplaced(d))
		}
	}
}

// Pools in rows of rejections: no label has such a value.
const (
	allPools    = "(all)"
	unknownPool = "(unknown)" // the record does not count by pool
)

func (f *Failures) add(nodes int64, unplaced bool) {
	f.Decisions++
	f.Nodes += nodes
	if unplaced {
		f.Unplaced++
		f.UnplacedNodes += nodes
	}
}

// steps are the bounds of the buckets between 10 and 100, which come again with each digit more: no
// duration in a bucket is over a sixth longer than another.
var steps = [...]int64{10, 11, 12, 14, 16, 18, 20, 22, 25, 28, 32, 36, 40, 45, 50, 56, 63, 71, 80, 90}

// bucket returns the bounds of the bucket of a duration in microseconds: over < micros <= upto.
func bucket(micros int64) (over, upto int64) {
	if micros <= steps[0] {
		return -1, steps[0]
	}
	over = steps[0]
	for scale := int64(1); ; scale *= 10 {
		for _, step := range steps {
			upto = step * scale
			if micros <= upto {
				return over, upto
			}
			over = upto
		}
	}
}
