package engine

import (
	"fmt"
	"strings"
)

// Fingerprint works the digest out, whether or not that was done before.
func (r *Result) Fingerprint() string { return r.fingerprint() }

// Dump writes a state's columns out, so that two can be compared to the byte.
func (s *State) Dump() string {
	var b strings.Builder
	for row := range s.nodes.rows {
		fmt.Fprintf(&b, "row %d: %+v", row, s.use.at(row))
		for id := range s.scalar {
			fmt.Fprintf(&b, " %d", s.scalar[id].at(row))
		}
		for _, p := range s.onNode.at(row) {
			fmt.Fprintf(&b, " %s/%s", p.Namespace, p.Name)
		}
		b.WriteByte('\n')
	}
	for _, v := range []*vec[*Postings]{&s.shapes, &s.terms, &s.ports} {
		for i := range len(v.leaves) * leafSize {
			if p := v.at(i); p != nil {
				fmt.Fprintf(&b, "%d: %d %v\n", i, p.total, p.segs)
			}
		}
	}
	for _, p := range s.nominated {
		fmt.Fprintf(&b, "nominated %s/%s %s\n", p.Namespace, p.Name, p.Nominated)
	}
	return b.String()
}

// Undo takes all pods of lower priority off every node that was tried, puts them
// back in another order, and says where the judges then say something else than
// before.
func (r *Result) Undo() (tried int, differs string) {
	d := r.dry
	if d == nil || d.judge == nil {
		return 0, ""
	}
	j := d.judge
	for row := range d.potential.All() {
		k := j.q.State.rankOf(j.slots, row, j.now)
		gone := k.pods[k.below(j.priority):]
		j.begin(row, nil)
		before := fmt.Sprint(j.why(row))
		for _, p := range gone {
			j.move(row, p, -1)
		}
		for i := range gone {
			j.move(row, gone[len(gone)-1-i], 1)
		}
		if after := fmt.Sprint(j.why(row)); after != before {
			differs = fmt.Sprintf("row %d: %s before, %s after", row, before, after)
		}
		if before == fmt.Sprint("", Success, []string(nil)) {
			differs = fmt.Sprintf("row %d: nothing stands against the pod as the node is", row)
		}
		tried++
	}
	return tried, differs
}

// Disagree says for which candidate the numbers of the choice are not those of
// the victims that the explanation names, which another way of trying the node
// gives.
func (r *Result) Disagree() string {
	if r.dry == nil {
		return ""
	}
	for _, c := range r.dry.candidates {
		e := r.detail(int(c.row))
		want := candidate{row: c.row, violations: int32(e.violating), victims: int32(len(e.victims)), who: c.who, earliest: c.earliest}
		for i, v := range e.victims {
			if i == 0 {
				want.top = v.Priority
			}
			want.sum += int64(v.Priority) + priorityFloor
		}
		if c != want {
			return fmt.Sprintf("%+v, the victims say %+v", c, want)
		}
	}
	return ""
}

// ForgetRanks makes the next preemption on the state, and on those made from it,
// a first one.
func (s *State) ForgetRanks() { s.t.ranks.rows.Store(nil) }
