package preempt

import (
	"encoding/binary"

	"berth/internal/engine/explain/digest"
	"berth/internal/engine/state"
)

// AppendDigest adds the search for victims to the digest: which nodes were tried and the result of
// each, in order of the nodes' names, the victims on the chosen one, and the message where nothing
// helps.
func (s *Search) AppendDigest(b []byte) []byte {
	str := func(text string) { b = digest.AppendText(b, text) }
	if s.r.Query.Options.Victims != nil {
		return s.appendNamed(b)
	}
	str(s.r.NominatedNode())
	str(s.reason)
	str(s.r.PostFilter.Text())
	for _, rows := range []state.Bits{s.potential, s.bare, s.unfit} {
		b = digest.AppendRows(b, s.r.Query.Nodes, rows)
	}
	if s.best < 0 {
		return b
	}
	at := make([]int32, s.r.Query.Nodes.Len())
	for i := range s.candidates {
		at[s.candidates[i].row] = int32(i + 1)
	}
	for _, row := range s.r.Query.Nodes.Order() {
		if at[row] == 0 {
			continue
		}
		c := &s.candidates[at[row]-1]
		for i := range len(Criteria) - 1 {
			b = binary.AppendVarint(b, c.value(i))
		}
		b = binary.LittleEndian.AppendUint64(b, c.who)
	}
	e := s.detail(s.Row())
	for i := range e.victims {
		v := &e.victims[i]
		str(v.Namespace)
		str(v.Name)
		str(v.UID)
		b = binary.AppendVarint(b, v.GracePeriodSeconds)
		for _, budget := range e.budgets[i] {
			str(budget.Name)
			b = binary.AppendVarint(b, int64(budget.AllowedBefore))
		}
	}
	for i := range e.reprieved {
		str(e.reprieved[i].UID)
	}
	for _, p := range ClearedNominations(s.r) {
		str(p.Namespace)
		str(p.Name)
	}
	return b
}

// appendNamed adds the answers for the nodes and victims that the caller named.
func (s *Search) appendNamed(b []byte) []byte {
	for i := range s.named {
		n := &s.named[i]
		b = digest.AppendText(b, n.node)
		if !n.kept {
			b = digest.AppendText(b, "dropped "+n.why.Plugin)
			continue
		}
		b = binary.AppendVarint(b, n.violations)
		for k := range n.victims {
			b = digest.AppendText(b, n.victims[k].UID)
			b = binary.AppendVarint(b, int64(n.victims[k].Priority))
		}
	}
	return b
}
