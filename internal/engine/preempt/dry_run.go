package preempt

import (
	"math"
	"slices"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// rowVerdict is whether evictions help on one node.
type rowVerdict uint8

const (
	noVictims rowVerdict = iota
	doesNotHelp
	helps
)

// step is one filter of a dry run: a trial, or the filter's verdict on the nodes where it does not
// depend on pods.
type step struct {
	name        string
	trial, with engine.Trial // with: including the pods nominated to the node
	nodes       *engine.Rejected
}

// dryRun tries evictions node by node (plugins/defaultpreemption SelectVictimsOnNode).
type dryRun struct {
	q          *engine.Query
	priority   int32
	now        int64
	nanos      int64
	allowances *allowances
	steps      []step
	out        state.Bits           // nodes that some filter rejects whatever pods they have
	nominated  map[int][]*state.Pod // by row: nominated to it
	need       state.Amount         // with measured: what must be left
	measured   bool
	// quick are the trials beside the amounts, or all of them without a Measurer. affected holds by
	// class which of them its pods affect, a bit each, above a bit that marks the class as known.
	quick    []engine.Trial
	affected []uint32
	classes  state.ClassColumns
	// order is the one in which victims are put back: those whose eviction violates a budget, then
	// the others, each group by importance. gone are those that are not put back.
	order [2]state.Bits
	gone  state.Bits
}

// violates reports whether a victim's eviction violates a budget.
func (j *dryRun) violates(i int) bool { return j.order[0].Has(i) }

// newDryRun prepares the dry runs on some rows. Filters that skipped the pod are left out, as in
// the decision.
func newDryRun(r *engine.Result, rows state.Bits, ways Ways) *dryRun {
	q := r.Query
	j := &dryRun{q: q, priority: q.Priority(), allowances: newAllowances(q.State, ways), out: q.Bits(), nominated: q.NominatedRows(), affected: make([]uint32, q.State.Tables().Classes()), classes: q.State.ClassColumns()}
	j.now, j.nanos = now(q)
	for _, i := range q.Profile.Filter {
		f := q.Profile.Rules[i]
		if f.Filter == nil || r.Skipped[i] {
			continue
		}
		if f.Try == nil {
			rej, err := q.FilterBy(f, r.States[i], rows)
			if err != nil {
				rej = failEach(q, f, r.States[i], rows)
			}
			if len(rej.Reasons) > 0 {
				j.steps = append(j.steps, step{name: f.Name, nodes: &rej})
				j.out.Or(rej.Nodes)
			}
			continue
		}
		s := step{name: f.Name, trial: f.Try(q, r.States[i])}
		if len(j.nominated) > 0 {
			s.with = f.Try(q, r.States[i])
		}
		j.steps = append(j.steps, s)
		quick := s.trial
		if f.Measure != nil && !j.measured {
			j.need, quick = f.Measure(q)
			j.measured = true
		}
		if quick != nil {
			j.quick = append(j.quick, quick)
		}
	}
	return j
}

// failEach runs a filter that failed on one node at a time: what it cannot judge on one node does
// not concern the others.
func failEach(q *engine.Query, f *engine.Plugin, state any, rows state.Bits) engine.Rejected {
	failed := q.NewRejected(f.Name)
	rej := q.FilterEach(f, state, rows, func(row int, err error) {
		one := q.Bits()
		one.Set(row)
		failed.Add(err.Error(), engine.Error, one)
	})
	rej.Merge(&failed, f.ReasonRank)
	return rej
}

// try tries one node.
func (j *dryRun) try(row int) (candidate, rowVerdict) {
	k := j.q.State.Ranking(row, j.now)
	from := k.Below(j.priority)
	if from == len(k.Of) {
		return candidate{}, noVictims
	}
	if j.out.Has(row) {
		return candidate{}, doesNotHelp
	}
	c := &j.q.Nodes.Capacities()[row]
	if k.Wraps() || min(c.CPU, c.Memory, c.Ephemeral) < 0 || len(j.nominated[row]) > 0 {
		if !j.tryAll(row, k, from) {
			return candidate{}, doesNotHelp
		}
		return j.sumUp(row, k, from)
	}
	room, sum := unlimited, k.SumFrom(from, &j.classes)
	if j.measured {
		if room = j.headroom(row, c, len(k.Of)-from, sum); !room.enough() {
			return candidate{}, doesNotHelp
		}
	}
	if !j.fitsWithout(row, k, from) {
		return candidate{}, doesNotHelp
	}
	j.classify(k, from)
	if len(j.quick) == 0 {
		if j.order[0].Empty() {
			return j.evictLast(row, k, from, room, sum)
		}
		room = j.keepFirst(k, from, room, sum)
	}
	j.reprieveQuick(k, from, room)
	return j.sumUp(row, k, from)
}

// sumUp makes a candidate from the pods that are gone.
func (j *dryRun) sumUp(row int, k *state.Ranking, from int) (candidate, rowVerdict) {
	c := candidate{row: int32(row)}
	for i := range j.gone.All() {
		j.evict(&c, &k.Of[from+i], j.violates(i))
	}
	return c, c.verdict()
}

// evict adds a victim to a candidate. They come by importance, so that the first has the highest
// priority.
func (j *dryRun) evict(c *candidate, p *state.Ranked, violates bool) {
	if c.victims == 0 {
		c.top, c.earliest = p.Priority, j.nanos
		if p.Started != 0 {
			c.earliest = nanosOf(p.Started)
		}
	}
	c.victims++
	c.who = state.Mix(c.who ^ p.ID)
	c.sum += int64(p.Priority) + priorityFloor
	if violates {
		c.violations++
	}
}

// verdict is that on a node where the pod fits without all pods of lower priority.
func (c *candidate) verdict() rowVerdict {
	if c.victims == 0 {
		return doesNotHelp
	}
	return helps
}

// nanosOf does not overflow for start times that no cluster has.
func nanosOf(seconds int64) int64 {
	const most = math.MaxInt64 / 1_000_000_000
	return min(max(seconds, -most), most) * 1_000_000_000
}

// classify tells the victims whose eviction violates a budget from the others, in order of
// importance: the first ones use the budgets up, also if they are reprieved in the end
// (plugins/defaultpreemption filterPodsWithPDBViolation). All count as gone then.
func (j *dryRun) classify(k *state.Ranking, from int) {
	pods, a := k.Of[from:], j.allowances
	j.resize(len(pods))
	if len(a.list) == 0 {
		return
	}
	a.reset()
	for w := range j.order[0] {
		first := w << state.ChunkBits
		var violating uint64
		for i := range pods[first:min(first+state.ChunkSize, len(pods))] {
			class := pods[first+i].Class
			if b := a.sole[class]; b >= 0 {
				// Which pods violate is as good as random: a branch would be mispredicted.
				violating |= a.spend(b) << i
			} else {
				violating |= a.take(a.shape[j.classes.Shape(class)], k.Pods[from+first+i]) << i
			}
		}
		j.order[0][w] = violating
		j.order[1][w] &^= violating
	}
}

// resize makes room for n victims, all of them gone, none of which violates a budget.
func (j *dryRun) resize(n int) {
	words := (n + state.ChunkSize - 1) >> state.ChunkBits
	if cap(j.gone) < words {
		j.order, j.gone = [2]state.Bits{state.NewBits(2 * n), state.NewBits(2 * n)}, state.NewBits(2*n)
	}
	j.order[0], j.order[1], j.gone = j.order[0][:words], j.order[1][:words], j.gone[:words]
	for w := range words {
		all := ^uint64(0) >> max(0, (w+1)<<state.ChunkBits-n)
		j.order[0][w], j.order[1][w], j.gone[w] = 0, all, all
	}
}

// tryAll does the same with every filter in full, including the pods nominated to the node.
func (j *dryRun) tryAll(row int, k *state.Ranking, from int) bool {
	j.begin(row, k.Pods[from:])
	if !j.fits(row) {
		return false
	}
	j.reprieve(row, k, from, nil)
	return true
}

// begin starts the trials on a row without some of its pods.
func (j *dryRun) begin(row int, without []*state.Pod) {
	for i := range j.steps {
		s := &j.steps[i]
		if s.trial == nil {
			continue
		}
		s.trial.Begin(int32(row), nil)
		if len(j.nominated[row]) > 0 {
			s.with.Begin(int32(row), j.nominated[row])
		}
	}
	for _, p := range without {
		j.move(row, p, -1)
	}
}

func (j *dryRun) move(row int, p *state.Pod, n int32) {
	for i := range j.steps {
		s := &j.steps[i]
		if s.trial == nil {
			continue
		}
		s.trial.Move(p, n)
		if len(j.nominated[row]) > 0 {
			s.with.Move(p, n)
		}
	}
}

// fits runs all filters, with the pods nominated to the node and without.
func (j *dryRun) fits(row int) bool {
	if j.out.Has(row) {
		return false
	}
	for i := range j.steps {
		s := &j.steps[i]
		if s.trial != nil && (!s.trial.Fits() || len(j.nominated[row]) > 0 && !s.with.Fits()) {
			return false
		}
	}
	return true
}

// reprieve puts pods back while the pod still fits. why, where not nil, is called for each pod that
// cannot stay, while its trial is in place.
func (j *dryRun) reprieve(row int, k *state.Ranking, from int, why func(i int)) {
	j.classify(k, from)
	for _, group := range j.order {
		for i := range group.All() {
			p := k.Pods[from+i]
			j.move(row, p, 1)
			if j.fits(row) {
				j.gone.Clear(i)
				continue
			}
			if why != nil {
				why(i)
			}
			j.move(row, p, -1)
		}
	}
}

// why returns the first filter that fails on the node as it is in the trial, with the nominated
// pods first.
func (j *dryRun) why(row int) engine.Rejection {
	for pass := range 2 {
		if pass == 0 && len(j.nominated[row]) == 0 {
			continue
		}
		for i := range j.steps {
			s := &j.steps[i]
			if s.nodes != nil {
				if s.nodes.Nodes.Has(row) {
					return engine.Rejection{Plugin: s.name, Code: s.nodes.CodeOf(row), Reasons: s.nodes.ReasonsOf(row)}
				}
				continue
			}
			t := s.trial
			if pass == 0 {
				t = s.with
			}
			if code, reasons := t.Verdict(); code != engine.Success {
				return engine.Rejection{Plugin: s.name, Code: code, Reasons: slices.Clone(reasons)}
			}
		}
	}
	return engine.Rejection{}
}
