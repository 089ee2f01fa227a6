package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"berth/internal/engine"
	"berth/internal/report"
)

// attempts returns how often it was tried, and since when it has been waiting.
func (v *verdict) attempts() string {
	st := v.told
	if st.Decisions == 0 {
		return ""
	}
	n := count(st.Decisions)
	if st.More {
		n += "+"
	}
	first := st.Attempts[len(st.Attempts)-1].First
	if st.Pod.Created != nil && st.Pod.Created.Before(first) {
		first = *st.Pod.Created
	}
	return fmt.Sprintf("attempt %s, %s", n, span(int64(v.now.Sub(first).Seconds())))
}

// pastShown is how many earlier answers a page tells.
const pastShown = 3

// past tells what the server knows beside the decision now.
func (v *verdict) past() {
	st := v.told
	if st == nil {
		return
	}
	if q := st.Queue; q != nil {
		s := fmt.Sprintf("%s of %s %s: %s of higher priority, %s older", count(q.Position), count(q.Of), q.List, count(q.HigherPriority), count(q.Older))
		if q.Sooner > 0 {
			s += fmt.Sprintf(", %s tried before", count(q.Sooner))
		}
		if q.NextTry != nil {
			s += fmt.Sprintf("; %s until %s", q.Queue, clock(*q.NextTry, v.now))
		}
		if q.Woken != nil {
			s += "; woken by " + q.Woken.String()
		}
		v.labelled("QUEUE", s)
	}
	if n := st.Nomination; n != nil {
		s := n.Node
		if n.Since != nil {
			s += " since " + clock(*n.Since, v.now)
		}
		var names []string
		for _, w := range n.WaitsFor {
			names = append(names, w.Namespace+"/"+w.Name)
		}
		if len(names) > 0 {
			s += ", waiting for " + someNames(names) + " to go"
		}
		v.labelled("HELD", s)
	}
	if b := st.Binding; b != nil && b.At != nil {
		v.labelled("SINCE", fmt.Sprintf("%s on %s, by decision %s", clock(*b.At, v.now), b.Node, b.Decision))
	}
	v.attemptLines()
	for _, e := range st.EvictedFor {
		v.labelled("EVICTED", fmt.Sprintf("%s for %s/%s, from %s (decision %s)", clock(e.At, v.now), e.For.Namespace, e.For.Name, e.Node, e.Decision))
	}
}

// attemptLines tells the answers on record, those that came out alike once.
func (v *verdict) attemptLines() {
	list := v.told.Attempts
	for i := range list[:min(len(list), pastShown)] {
		a := &list[i]
		label := "BEFORE"
		s := clock(a.First, v.now)
		if i == 0 {
			label = "LAST"
		}
		if a.Count > 1 {
			s += fmt.Sprintf(" to %s, %s times", clock(a.Last, v.now), count(a.Count))
		}
		s += ": " + a.Outcome
		switch {
		case a.Node != "":
			s += " on " + a.Node
		case a.NominatedNode != "":
			s += " on " + a.NominatedNode
		}
		var reasons []string
		most := slices.Clone(a.Reasons)
		slices.SortStableFunc(most, func(a, b report.Reason) int { return cmp.Compare(b.Nodes, a.Nodes) })
		if a.Outcome != string(engine.UnschedulableOK) {
			most = nil // it has found a node
		}
		for _, r := range most[:min(len(most), pastShown)] {
			reasons = append(reasons, fmt.Sprintf("%s %s", count(r.Nodes), r.Reason))
		}
		if len(reasons) > 0 {
			s += " (" + strings.Join(reasons, ", ") + ")"
		}
		v.labelled(label, s)
	}
	if left := len(list) - pastShown; left > 0 {
		v.labelled("", fmt.Sprintf("and %s earlier ones: -o json", count(left)))
	}
}
