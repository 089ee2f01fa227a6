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
// themselves are far apart in memory. Class is an index into ClassColumns.
type Ranked struct {
	ID              uint64 // of namespace, name and UID
	Started         int64
	Priority, Class int32
}

// Ranking is a node's pods by importance: priority first, then the longer running. Pods that have
// not started come last of their priority. Where upstream's order is arbitrary, pods are ordered by
// namespace and name (pkg/scheduler/util/utils.go MoreImportantPod).
type Ranking struct {
	list    *PodList // the state's list; its identity shows whether the ranking still holds
	classed uint64   // of the state, where some pod has its priority from a class
	latest  int64    // the latest start
	own     bool     // every pod has a priority of its own
	wraps   bool     // an amount is below 0, or their sum overflows
	varies  bool     // what some pod counts as depends on the Counting
	sum     Amount   // of all pods, unless it varies
	Of      []Ranked
	Pods    []*Pod
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
	list := s.onNode.at(row)
	if list == nil {
		return &emptyRanking
	}
	slots := s.t.ranks.slots(s.nodes.Len())
	have := slots[row].Load()
	if have != nil && have.list == list && (have.own || have.classed == s.classed) {
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

var emptyRanking = Ranking{own: true}

func (s *State) ranking(at *PodList, now int64) *Ranking {
	list := at.slice()
	k := &Ranking{list: at, classed: s.classed, own: true, Pods: make([]*Pod, len(list)), Of: make([]Ranked, len(list))}
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
		p := list[key.at]
		k.Pods[i] = p
		k.Of[i] = Ranked{ID: p.id, Started: p.Started, Priority: key.priority, Class: p.Class.ID}
		sum := k.sum.Plus(&p.Class.Request.Amount)
		k.wraps = k.wraps || !k.sum.fits(sum)
		k.sum, k.varies = sum, k.varies || p.Class.others != nil
	}
	for c := Counting(1); k.varies && c < Countings; c++ {
		var total Amount
		for _, p := range k.Pods {
			sum := total.Plus(&c.of(p.Class).Request.Amount)
			k.wraps = k.wraps || !total.fits(sum)
			total = sum
		}
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

// Wraps reports whether a sum of what the pods request may be below that of fewer of them, since
// amounts overflow. What follows from sums elsewhere does not follow then.
func (k *Ranking) Wraps() bool { return k.wraps }

// SumFrom returns what the pods from an index on request.
func (k *Ranking) SumFrom(from int, of *ClassColumns) Amount {
	if from == 0 && !k.varies {
		return k.sum
	}
	var sum Amount
	for i := from; i < len(k.Of); i++ {
		sum = sum.Plus(of.Amount(k.Of[i].Class))
	}
	return sum
}

// Fitting returns how many pods from an index on fit into an amount together with all those before
// them, up to a number of pods, and their sum. sum is that of all from the index on. It is not
// for a ranking that Wraps.
func (k *Ranking) Fitting(from int, most int64, room, sum Amount, of *ClassColumns) (n int, kept Amount) {
	end := from + int(min(most, int64(len(k.Of)-from)))
	for i := len(k.Of) - 1; i >= from; i-- { // from the end: those that have to go are mostly few
		if i < end && sum.fits(room) {
			return i + 1 - from, sum
		}
		sum = sum.Minus(of.Amount(k.Of[i].Class))
	}
	return 0, kept
}
