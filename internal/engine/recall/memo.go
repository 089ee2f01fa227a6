package recall

import (
	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// memo runs the rules of a decision about one kind of pod: those that read beyond a row every time,
// the others on the rows that changed since it was used last.
type memo struct {
	d     *Decider
	key   classKey
	used  int64 // the last use, by Decider.uses
	bytes int   // as resize found it
	gone  bool  // the Decider has dropped it

	reached bool // the Decider's recent has all rows that changed

	kept keeper
	room engine.Room // of questions about a state in place, whose results are not kept

	learned
}

// learned is what was learned about one kind of pod: PreFilter states, verdicts and raw scores of
// rules, row by row, up to a position of the trail.
type learned struct {
	around   state.Surroundings
	nodes    uint64 // the version of the nodes
	at       uint64 // the position in the trail
	hopeless bool   // nothing can be kept in these surroundings

	work     int64 // at least what it takes to learn what is kept
	compiled engine.Compiled
	near     []engine.Locality // by rule
	states   []any             // by rule, of those that do not run every time
	skip     []bool            // by rule, likewise
	live     []bool            // by rule: it runs every time
	filters  []keptFilter      // by index in the profile's list
	pass     state.Bits        // the rows that pass all kept filters
	sums     []int64           // of the scores that are Summed, by row that passes
	summed   bool              // they are up to date, but for the rows that changed
	scores   []keptScore       // by index in the profile's list

	// Of the decision at hand: the rows that changed, all if whole; of these, the rows that pass
	// the filters that are up to date; how many filters and scorers are.
	changed, rows      state.Bits
	renewed            state.Bits // of the changed rows, those whose nodes changed; nil without any
	whole              bool
	filtered, scoredTo int

	out engine.Scores // of a scorer, for a moment
}

// begin prepares a question: which rows changed since the memo was last used. It returns nil where
// the question is left to engine.Decide. What is kept counts as the work that it was, or more, so
// that engine.Decide alone refuses a question for too much work.
func (m *memo) begin(s *state.State, pod *corev1.Pod, o engine.Options) (q *engine.Query) {
	around := s.Surroundings(pod.Namespace)
	m.whole = m.around != around || !m.reached && m.nodes != s.Nodes().Version()
	switch {
	case m.whole:
		var err error
		if q, err = engine.NewQuery(s, pod, m.key.profile, o); err != nil {
			return nil
		}
		m.reset(q)
		if m.compiled, err = q.Compile(); err != nil {
			q.Release()
			return nil
		}
		m.around = around
		m.changed, m.renewed = q.Nodes.Alive(), nil
		p := q.Profile
		q.Worked(int64((len(p.PreFilter) + len(p.Filter) + len(p.Score)) * q.Nodes.Count()))
	case m.hopeless:
		return nil
	default:
		room := &m.room
		if !s.InPlace() {
			room = nil // the result may be kept
		}
		q = m.compiled.NewQuery(s, pod, m.key.profile, o, room)
		q.Worked(m.work)
		m.changed = q.Bits()
		for _, row := range m.d.recent {
			m.changed.Set(int(row))
		}
		if !m.reached {
			copy(m.changed, q.Nodes.Alive())
		}
		m.renewed = nil
		if len(m.d.moved) > 0 {
			m.renewed = q.Bits()
			for _, row := range m.d.moved {
				m.renewed.Set(int(row))
			}
		}
	}
	m.nodes = s.Nodes().Version()
	m.rows = q.Bits()
	copy(m.rows, m.changed)
	m.filtered, m.scoredTo = 0, 0
	return q
}

// reset begins anew, with the locality of each rule.
func (m *memo) reset(q *engine.Query) {
	p := q.Profile
	n := len(p.Rules)
	m.learned = learned{
		whole: true,
		near:  make([]engine.Locality, n), states: make([]any, n), skip: make([]bool, n), live: make([]bool, n),
		filters: make([]keptFilter, len(p.Filter)), scores: make([]keptScore, len(p.Score)), pass: state.NewBits(q.Nodes.Len()),
	}
	for i, rule := range p.Rules {
		if rule.Locality != nil {
			m.near[i] = rule.Locality(q)
		}
		m.live[i] = m.near[i] == engine.Anywhere
	}
}

// forget lets the next question begin anew: what was kept is not complete.
func (m *memo) forget() { m.around = state.Surroundings{} }

// PreFilter implements engine.Runner.
func (m *memo) PreFilter(q *engine.Query, rule int) (any, engine.PreFilterResult) {
	switch {
	case m.live[rule]:
		return engine.Direct{}.PreFilter(q, rule)
	case !m.whole:
		return m.states[rule], engine.PreFilterResult{Skip: m.skip[rule]}
	}
	kept, res := q.Profile.Rules[rule].PreFilter(q)
	m.states[rule], m.skip[rule] = kept, res.Skip
	if res.Code != engine.Success || res.Names != nil {
		m.hopeless = true
	}
	return kept, res
}

// finish brings up to date what the decision did not come to: filters behind one that left no node,
// and scorers where none ran.
func (m *memo) finish(q *engine.Query) error {
	err := m.finishFilters(q)
	for ; err == nil && !q.Options.NoScores && m.scoredTo < len(m.scores); m.scoredTo++ {
		m.summed = false // the changes are not in the sums
		m.updateScore(q, m.scoredTo)
	}
	if m.whole {
		m.work = q.Steps()
	}
	return err
}

// size is about how many bytes the memo holds.
func (m *memo) size() int {
	n := 2048 + 2*len(m.key.pod) + 64*len(m.live) + 8*(len(m.pass)+len(m.sums)) + m.compiled.Bytes()
	if r := m.kept.result; r != nil {
		n += keptBytes + r.Bytes()
	}
	for i := range m.filters {
		n += 96 + 8*(2+len(m.filters[i].Reasons))*len(m.filters[i].Nodes)
	}
	for i := range m.scores {
		n += 96 + 8*len(m.scores[i].raws)
	}
	return n
}
