package engine

import (
	"encoding/binary"
)

// appendPreemption adds the search for victims to the digest: which nodes were tried and the result
// of each, in order of the nodes' names, the victims on the chosen one, and the message where
// nothing helps. A decision without such a search adds nothing.
func (r *Result) appendPreemption(b []byte) []byte {
	d := r.dry
	if d == nil {
		return b
	}
	buf := append(b, 'd')
	str := func(s string) { buf = appendText(buf, s) }
	if r.q.Options.Victims != nil {
		r.digestAsked(str, func(n int64) { buf = binary.AppendVarint(buf, n) })
		return buf
	}
	str(r.NominatedNode())
	str(d.reason)
	str(r.postFilterText())
	buf = r.appendRows(buf, d.potential)
	buf = r.appendRows(buf, d.bare)
	buf = r.appendRows(buf, d.unfit)
	if d.best < 0 {
		return buf
	}
	at := make([]int32, r.q.Nodes.Len())
	for i := range d.candidates {
		at[d.candidates[i].row] = int32(i + 1)
	}
	for _, row := range r.q.Nodes.Order() {
		if at[row] == 0 {
			continue
		}
		c := &d.candidates[at[row]-1]
		for i := range len(Criteria) - 1 {
			buf = binary.AppendVarint(buf, c.value(i))
		}
		buf = binary.LittleEndian.AppendUint64(buf, c.who)
	}
	e := r.detail(int(d.candidates[d.best].row))
	for i := range e.victims {
		v := &e.victims[i]
		str(v.Namespace)
		str(v.Name)
		str(v.UID)
		buf = binary.AppendVarint(buf, v.GracePeriodSeconds)
		for _, b := range v.Budgets {
			str(b.Name)
			buf = binary.AppendVarint(buf, int64(b.AllowedBefore))
		}
	}
	for i := range e.reprieved {
		str(e.reprieved[i].UID)
	}
	for _, p := range r.ClearedNominations() {
		str(p.Namespace)
		str(p.Name)
	}
	return buf
}
