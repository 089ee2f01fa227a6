package engine

import "fmt"

// Fingerprint works the digest out, whether or not that was done before.
func (r *Result) Fingerprint() string { return r.fingerprint() }

// Undo removes all pods of lower priority from every node that was tried, puts them back in another
// order, and returns where the verdicts differ from those before.
func (r *Result) Undo() (tried int, differs string) {
	d := r.dry
	if d == nil || d.judge == nil {
		return 0, ""
	}
	j := d.judge
	for row := range d.potential.All() {
		k := j.q.State.Ranking(row, j.now)
		gone := k.Pods[k.Below(j.priority):]
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
