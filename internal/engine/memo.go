package engine

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine/state"
)

// memo is what was learned about one kind of pod: the verdicts and raw scores of rules, row by row,
// up to a position of the trail. Rules that read beyond a row run every time.
type memo struct {
	key          classKey
	older, newer *memo
	bytes        int

	around   state.Surroundings
	at       uint64 // the position in the trail
	hopeless bool   // nothing can be kept in these surroundings

	// What a Query has of the pod.
	request      state.Request
	local        state.LocalNames
	terms        []*state.Term
	required     state.Bits
	requiredDone bool
	scoring      *scoringRequests

	live    []bool // by rule: it runs every time
	anyLive bool
	apart   bool       // this time some rows fail because of the pods nominated to them
	skip    []bool     // by rule, for the others
	states  []any      // by rule, for the others
	filters []*Plugin  // by index in the profile's list; nil for those that do not run
	kept    []Rejected // by index
	settled int        // so many filters, from the first, need not judge a row twice
	pass    state.Bits // the rows that pass all kept filters
	scores  []keptScore
	sums    []int32 // what they add to the totals, by row
	tops    []int32 // of sums, the best of every 64
	summed  bool    // both are up to date

	// Memory that every decision uses again.
	fresh    Rejected
	out      Scores
	rejected []Rejected
	given    []Scores
	givenBy  []WeightedRule
}

// keptScore is what is kept of a scorer.
type keptScore struct {
	kind      keptKind
	scorer    *Plugin
	moves     bool  // the scores of rows change
	raw, norm int64 // where all rows have the same
	raws      []uint8
	peak      uint8 // no raw score is above it
	by        normalisation
	norms     []uint8 // nil where they equal the raw ones
	most      int64   // the raw maximum that norms are made for; -1 before they are made
}

type keptKind uint8

const (
	unevaluated   keptKind = iota
	evaluateAgain          // nothing is kept
	keptNone
	keptUniform
	keptByRow
)

// query prepares a question. It returns which rows changed since the memo was last used, or nil
// where it knows nothing yet. ok is false where the question is left to Decide.
func (m *memo) query(s *state.State, pod *corev1.Pod, o Options, t *state.Trail) (q *Query, changed state.Bits, ok bool) {
	around := s.Surroundings(pod.Namespace)
	if m.around == around {
		if m.hopeless {
			return nil, nil, false
		}
		q := &Query{
			State: s, Nodes: s.Nodes(), Pod: pod, Profile: m.key.profile, Options: o, nsLabels: s.NamespaceLabels(pod.Namespace),
			Request: m.request, local: m.local, Candidates: s.Nodes().Alive(), terms: m.terms,
			required: m.required, requiredDone: m.requiredDone, scoring: m.scoring, scratch: getScratch(s.Nodes().Len()),
		}
		changed := q.Bits()
		if !t.Since(m.at, changed) {
			copy(changed, s.Nodes().Alive())
		}
		return q, changed, true
	}
	q, err := newQuery(s, pod, m.key.profile, o)
	if err != nil {
		return nil, nil, false
	}
	m.learn(q)
	m.around = around
	if m.hopeless {
		release(q)
		return nil, nil, false
	}
	return q, nil, true
}

// learn reads the locality of each rule and runs PreFilter of those that need not run every time.
func (m *memo) learn(q *Query) {
	p := q.Profile
	*m = memo{
		key: m.key, older: m.older, newer: m.newer, bytes: m.bytes,
		request: q.Request, local: q.local, terms: q.terms,
		live: make([]bool, len(p.Rules)), skip: make([]bool, len(p.Rules)), states: make([]any, len(p.Rules)),
		filters: make([]*Plugin, len(p.Filter)), kept: make([]Rejected, len(p.Filter)), scores: make([]keptScore, len(p.Score)),
		pass: state.NewBits(q.Nodes.Len()),
	}
	near := make([]Locality, len(p.Rules))
	for i, rule := range p.Rules {
		if rule.Locality != nil {
			near[i] = rule.Locality(q)
		}
	}
	for _, i := range p.PreFilter {
		f := p.Rules[i]
		if f.PreFilter == nil {
			continue
		}
		if near[i] == Anywhere {
			m.live[i] = true
			continue
		}
		state, res := f.PreFilter(q)
		m.states[i], m.skip[i] = state, res.Skip
		if res.Code != Success || res.Names != nil {
			m.hopeless = true
			return
		}
	}
	settled := true
	for k, i := range p.Filter {
		f := p.Rules[i]
		if f.Filter == nil || m.skip[i] {
			continue
		}
		m.filters[k], m.live[i] = f, near[i] == Anywhere
		m.kept[k] = Rejected{Plugin: f.Name, Nodes: state.NewBits(q.Nodes.Len()), Unresolvable: state.NewBits(q.Nodes.Len())}
		// Rules that run every time leave the rows to those after them. After one that reads the
		// row's pods, a row may not have been judged yet.
		settled = settled && near[i] != OwnRow
		if settled {
			m.settled = k + 1
		}
	}
	m.anyLive = slices.Contains(m.live, true)
	for k, w := range p.Score {
		s := &m.scores[k]
		if p.Rules[w.Rule].Score != nil {
			s.scorer = p.Rules[w.Rule]
		}
		s.moves = near[w.Rule] == OwnRow
		switch {
		case s.scorer == nil:
			s.kind = keptNone
		case near[w.Rule] == Anywhere:
			s.kind = evaluateAgain
		}
	}
	q.RequiredRows()
	q.scoring = &scoringRequests{}
	m.required, m.requiredDone, m.scoring = q.required, true, q.scoring
}

// judge brings the kept verdicts and scores up to date for rows; whole reports that these are all
// rows, of which nothing is known.
func (m *memo) judge(q *Query, rows state.Bits, whole bool) error {
	p := q.Profile
	in := q.Bits()
	copy(in, rows)
	for k, i := range p.Filter {
		f, kept := m.filters[k], &m.kept[k]
		switch {
		case f == nil || m.live[i]:
			continue
		case k < m.settled && !whole:
			in.AndNot(kept.Nodes)
			continue
		}
		rej := &m.fresh
		*rej = Rejected{Plugin: kept.Plugin, Nodes: q.Bits(), Unresolvable: q.Bits(), Reasons: rej.Reasons[:0]}
		if err := f.Filter(q, m.states[i], in, rej); err != nil {
			return err
		}
		if !kept.absorb(rows, rej, f) {
			m.live[i], m.anyLive = true, true // its reasons have an order of their own
		}
		in.AndNot(rej.Nodes)
	}
	for i := range m.pass {
		m.pass[i] = m.pass[i]&^rows[i] | in[i]
	}
	if q.Options.NoScores {
		return nil
	}
	for k := range m.scores {
		s := &m.scores[k]
		if s.scorer == nil {
			continue
		}
		switch {
		case s.kind == evaluateAgain || s.kind == keptNone && !whole || s.kind == keptUniform && !whole:
		case s.moves:
			s.ask(q, m.states[p.Score[k].Rule], in, whole, &m.out)
		case s.kind == unevaluated:
			// Once for all rows, whether or not they are feasible now.
			s.ask(q, m.states[p.Score[k].Rule], q.Nodes.Alive(), true, &m.out)
		}
	}
	return nil
}

// absorb replaces what is kept about rows. It returns false where it cannot order merged reasons as
// the rule would.
func (r *Rejected) absorb(rows state.Bits, fresh *Rejected, rule *Plugin) bool {
	r.Nodes.AndNot(rows)
	r.Unresolvable.AndNot(rows)
	for i := range r.Reasons {
		r.Reasons[i].Nodes.AndNot(rows)
	}
	r.Nodes.Or(fresh.Nodes)
	r.Unresolvable.Or(fresh.Unresolvable)
	known, added := len(r.Reasons) > 0, false
	for _, f := range fresh.Reasons {
		k := slices.IndexFunc(r.Reasons, func(o Reason) bool { return o.Text == f.Text })
		if k < 0 {
			r.Reasons = append(r.Reasons, Reason{f.Text, f.Nodes.Clone()})
			added = true
			continue
		}
		r.Reasons[k].Nodes.Or(f.Nodes)
	}
	r.Reasons = slices.DeleteFunc(r.Reasons, func(o Reason) bool { return o.Nodes.Empty() })
	if !known || !added || len(r.Reasons) < 2 {
		return true
	}
	if rule.ReasonRank == nil {
		return false
	}
	rankReasons(r.Reasons, rule.ReasonRank)
	return true
}

// size is about how many bytes the memo holds.
func (m *memo) size() int {
	n := 1024 + 2*len(m.key.pod) + 4*(len(m.sums)+len(m.tops)) + 64*len(m.live) + 8*(len(m.pass)+len(m.required))
	for i := range m.kept {
		n += 96 + 8*(2+len(m.kept[i].Reasons))*len(m.kept[i].Nodes)
	}
	for i := range m.scores {
		n += 96 + len(m.scores[i].raws) + len(m.scores[i].norms)
	}
	return n
}
