package recall

import (
	"slices"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// keptFilter is what is kept of a filter: which rows it rejects, of those that pass the kept
// filters before it.
type keptFilter struct {
	engine.Rejected
	// settled: neither the filter nor one before it reads the pods of a row, so none need judge a
	// row twice.
	settled bool
}

// Filter implements engine.Runner.
func (m *memo) Filter(q *engine.Query, k int, kept any, in state.Bits) (engine.Rejected, error) {
	if err := m.updateFilters(q, k+1); err != nil {
		return engine.Rejected{}, err
	}
	if m.hopeless || m.live[q.Profile.Filter[k]] {
		return engine.Direct{}.Filter(q, k, kept, in)
	}
	f := &m.filters[k]
	if !f.Nodes.Within(in) {
		return f.Rejected.Within(q, in), nil
	}
	return f.Rejected, nil
}

// finishFilters brings the other filters up to date, and with them the rows that pass.
func (m *memo) finishFilters(q *engine.Query) error {
	if m.filtered > len(m.filters) {
		return nil
	}
	if err := m.updateFilters(q, len(m.filters)); err != nil {
		return err
	}
	m.filtered++
	for i, changed := range m.changed {
		m.pass[i] = m.pass[i]&^changed | m.rows[i]
	}
	return nil
}

// updateFilters brings the filters before the k-th up to date. Each judges the changed rows that
// pass those before it.
func (m *memo) updateFilters(q *engine.Query, k int) error {
	for ; m.filtered < k && !m.hopeless; m.filtered++ {
		i := q.Profile.Filter[m.filtered]
		rule, f := q.Profile.Rules[i], &m.filters[m.filtered]
		if rule.Filter == nil || m.live[i] || m.skip[i] {
			continue
		}
		if m.whole {
			f.Rejected = engine.Rejected{Plugin: rule.Name, Nodes: state.NewBits(q.Nodes.Len()), Unresolvable: state.NewBits(q.Nodes.Len())}
			f.settled = !slices.ContainsFunc(q.Profile.Filter[:m.filtered+1], func(i int) bool { return m.near[i] == engine.OwnRow && !m.skip[i] })
		} else if f.settled && m.renewed == nil {
			m.rows.AndNot(f.Nodes)
			continue
		}
		rows, changed := m.rows, m.changed
		if f.settled && !m.whole {
			rows, changed = q.Bits(), m.renewed
			copy(rows, m.rows)
			rows.And(changed)
		}
		fresh, err := q.FilterBy(rule, m.states[i], rows)
		if err != nil {
			return err
		}
		if !f.absorb(changed, &fresh, rule) {
			m.live[i] = true // its reasons have an order of their own
		}
		m.rows.AndNot(f.Nodes)
	}
	return nil
}

// absorb replaces what is kept about rows. It returns false where it cannot order merged reasons as
// the rule would.
func (f *keptFilter) absorb(rows state.Bits, fresh *engine.Rejected, rule *engine.Plugin) bool {
	f.Nodes.AndNot(rows)
	f.Unresolvable.AndNot(rows)
	for i := range f.Reasons {
		f.Reasons[i].Nodes.AndNot(rows)
	}
	before := len(f.Reasons)
	f.Merge(fresh, nil)
	added := len(f.Reasons) > before
	f.Reasons = slices.DeleteFunc(f.Reasons, func(o engine.Reason) bool { return o.Nodes.Empty() })
	if before == 0 || !added || len(f.Reasons) < 2 {
		return true
	}
	if rule.ReasonRank == nil {
		return false
	}
	engine.SortReasons(f.Reasons, rule.ReasonRank)
	return true
}
