package preempt

import "cmp"

// candidate is a node on which evictions help, with what the choice among such nodes reads.
type candidate struct {
	row        int32
	violations int32 // victims whose eviction a budget forbids
	victims    int32
	top        int32  // the highest priority among the victims
	sum        int64  // of the victims' priorities, each above the lowest possible
	who        uint64 // the victims, scrambled, for the digest
	earliest   int64  // start of the first to start among those of the highest priority, in nanoseconds since 1970
}

// priorityFloor makes every priority positive in a sum, so that fewer victims
// sum up to less.
const priorityFloor = 1 << 31

// Criteria are the rounds of the choice among candidates, in order. The nodes that are best in a
// round enter the next one (pkg/scheduler/framework/preemption pickOneNodeForPreemption).
var Criteria = [...]string{
	"fewest PDB violations",
	"lowest highest priority among the victims",
	"lowest sum of the victims' priorities",
	"fewest victims",
	"latest start of the first to start among the victims of the highest priority",
	"stable hash of pod and node",
}

// round compares two candidates by one criterion; less is better. The last one is for candidates
// among which upstream chooses at random.
func (c *candidate) round(o *candidate, i int) int {
	switch i {
	case 0:
		return cmp.Compare(c.violations, o.violations)
	case 1:
		return cmp.Compare(c.top, o.top)
	case 2:
		return cmp.Compare(c.sum, o.sum)
	case 3:
		return cmp.Compare(c.victims, o.victims)
	case 4:
		return cmp.Compare(o.earliest, c.earliest)
	}
	return 0
}

// value is a candidate's value in a round.
func (c *candidate) value(i int) int64 {
	return [...]int64{int64(c.violations), int64(c.top), c.sum, int64(c.victims), c.earliest, 0}[i]
}

// against compares two candidates: the round that distinguishes them, and their order.
func (s *Search) against(a, b *candidate) (round, order int) {
	for i := range Criteria {
		if n := a.round(b, i); n != 0 {
			return i, n
		}
	}
	return len(Criteria) - 1, s.r.Query.CompareEquals(int(a.row), int(b.row))
}

// choose returns the index of the best candidate.
func (s *Search) choose() int {
	list, best := s.candidates, 0
	for i := 1; i < len(list); i++ {
		if _, order := s.against(&list[i], &list[best]); order < 0 {
			best = i
		}
	}
	return best
}
