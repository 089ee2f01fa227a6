package state

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
)

// Ranked holds what a dry run reads of a pod, next to each other for all pods of a node: the pods
// themselves are far apart in memory. Amount is an index into Tables.Amounts.
type Ranked struct{ Priority, Shape, Class, Amount int32 }

// RankedVictim holds what it reads of victims besides.
type RankedVictim struct {
	Started int64
	ID      uint64 // of namespace, name and UID
}

// Ranking is a node's pods by importance: priority first, then the longer running. Pods that have
// not started come last of their priority. Where upstream's order is arbitrary, pods are ordered by
// namespace and name (pkg/scheduler/util/utils.go MoreImportantPod).
type Ranking struct {
	list    []*Pod // the state's list; its identity shows whether the ranking still holds
	classed uint64 // of the state, where some pod has its priority from a class
	own     bool   // every pod has a priority of its own
	latest  int64  // the latest start
	grows   bool   // no amount is below 0, and no sum overflows
	Pods    []*Pod
	Of      []Ranked
	Victims []RankedVictim
	After   []Amount // by index: the sum of the pods from there on
}

// rankCache keeps the rankings of a lineage of states, one a row. It changes no result. A row whose
// pods changed is ranked again.
type rankCache struct {
	mu   sync.Mutex
	rows atomic.Pointer[[]atomic.Pointer[Ranking]]
}

func (c *rankCache) slots(n int) []atomic.Pointer[Ranking] {
	if have := c.rows.Load(); have != nil && len(*have) >= n {
		return *have
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	have := c.rows.Load()
	if have != nil && len(*have) >= n {
		return *have
	}
	grown := make([]atomic.Pointer[Ranking], n+n/8)
	if have != nil {
		for i := range *have {
			grown[i].Store((*have)[i].Load())
		}
	}
	c.rows.Store(&grown)
	return grown
}

// Ranking ranks a row's pods. now is in seconds since 1970. A pod without a start time counts as
// started now, which matters only beside one whose start is later.
func (s *State) Ranking(row int, now int64) *Ranking {
	list := s.PodsOn(row)
	if len(list) == 0 {
		return &emptyRanking
	}
	slots := s.t.ranks.slots(s.nodes.Len())
	have := slots[row].Load()
	if have != nil && len(have.list) == len(list) && &have.list[0] == &list[0] && (have.own || have.classed == s.classed) {
		if have.latest <= now {
			return have
		}
		return s.ranking(list, now)
	}
	fresh := s.ranking(list, math.MaxInt64)
	slots[row].Store(fresh)
	if fresh.latest > now {
		return s.ranking(list, now)
	}
	return fresh
}

var emptyRanking = Ranking{own: true, After: make([]Amount, 1)}

func (s *State) ranking(list []*Pod, now int64) *Ranking {
	k := &Ranking{list: list, classed: s.classed, own: true, Pods: make([]*Pod, len(list)), Of: make([]Ranked, len(list)), Victims: make([]RankedVictim, len(list)), After: make([]Amount, len(list)+1)}
	priority := func(p *Pod) int32 { return p.Priority }
	for _, p := range list {
		k.own = k.own && p.hasPriority
		k.latest = max(k.latest, p.Started)
	}
	if !k.own {
		priority = s.PriorityOf
	}
	// The list is in order of namespace and name, which decides among equals.
	type key struct {
		started      int64
		priority, at int32
	}
	var room [128]key
	keys := room[:0]
	for i, p := range list {
		keys = append(keys, key{startOf(p.Started, now), priority(p), int32(i)})
	}
	slices.SortFunc(keys, func(a, b key) int {
		switch {
		case a.priority != b.priority:
			return cmp.Compare(b.priority, a.priority)
		case a.started != b.started:
			return cmp.Compare(a.started, b.started)
		}
		return int(a.at - b.at)
	})
	for i, key := range keys {
		k.Pods[i] = list[key.at]
	}
	k.grows = true
	for i := len(k.Pods) - 1; i >= 0; i-- {
		p := k.Pods[i]
		a := p.Class.Request.Amount
		k.Of[i] = Ranked{Priority: keys[i].priority, Shape: p.Class.Shape.ID, Class: p.Class.ID, Amount: p.Class.amount}
		k.Victims[i] = RankedVictim{Started: p.Started, ID: p.id}
		k.After[i] = Amount{CPU: k.After[i+1].CPU + a.CPU, Memory: k.After[i+1].Memory + a.Memory, Ephemeral: k.After[i+1].Ephemeral + a.Ephemeral}
		k.grows = k.grows && k.After[i+1].fits(k.After[i])
	}
	return k
}

func startOf(started, now int64) int64 {
	if started == 0 {
		return now
	}
	return started
}

// Below returns the index of the first pod of lower priority: from there on all
// are.
func (k *Ranking) Below(priority int32) int {
	if len(k.Of) == 0 || k.Of[0].Priority < priority { // what preempts is mostly above all others
		return 0
	}
	return sort.Search(len(k.Of), func(i int) bool { return k.Of[i].Priority < priority })
}

// Fitting returns how many pods from an index on fit into an amount together with all those before
// them, up to a number of pods. It is 0 where that does not follow from sums, as with requests
// below 0.
func (k *Ranking) Fitting(from int, most int64, room Amount) int {
	if !k.grows {
		return 0
	}
	all := &k.After[from]
	// What those behind must sum up to at least.
	need := Amount{all.CPU - room.CPU, all.Memory - room.Memory, all.Ephemeral - room.Ephemeral}
	n := int(min(most, int64(len(k.Of)-from)))
	for n > 0 && !need.fits(k.After[from+n]) { // from the end: those that have to go are mostly few
		n--
	}
	return n
}
