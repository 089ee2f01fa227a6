package preempt

import (
	"fmt"

	"berth/internal/engine"
)

// Undo removes all pods of lower priority from every node that was tried, puts them back in another
// order, and returns where the verdicts differ from those before.
func Undo(r *engine.Result) (tried int, differs string) {
	s := Of(r)
	if s == nil || s.runs == nil {
		return 0, ""
	}
	j := s.runs
	for row := range s.potential.All() {
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
		if before == fmt.Sprint(engine.Rejection{}) {
			differs = fmt.Sprintf("row %d: nothing stands against the pod as the node is", row)
		}
		tried++
	}
	return tried, differs
}

// Disagree names a candidate for which the numbers of the choice are not those of
// the victims that the explanation names, which another way of trying the node
// gives.
func Disagree(r *engine.Result) string {
	s := Of(r)
	if s == nil {
		return ""
	}
	for _, c := range s.candidates {
		e := s.detail(int(c.row))
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

// CandidateCount is the number of nodes on which evicting pods would help.
func CandidateCount(r *engine.Result) int {
	if s := Of(r); s != nil {
		return len(s.candidates)
	}
	return 0
}
