package cli

import (
	"fmt"
	"time"

	"berth/internal/podlife"
)

// deletionText says when a pod goes because of its node.
func deletionText(d *podlife.NodeDeletion, now time.Time) string {
	switch {
	case d.At == nil:
		return "never: " + d.Rule.Text
	case d.Latest != nil:
		return fmt.Sprintf("%s to %s: %s", clock(*d.At, now), clock(*d.Latest, now), d.Rule.Text)
	}
	return clock(*d.At, now) + ": " + d.Rule.Text
}

// ends prints what an end of a running container would cost, where it is more than
// a start at once.
func (p *page) ends(l life) {
	for i := range l.Containers {
		c := &l.Containers[i]
		if e := c.IfItEnds; e != nil && (e.BackoffSeconds > 0 || e.Rule.ID == "crash/reset") {
			p.labelled("CRASH", c.Name+": "+e.Rule.Text)
		}
	}
}

// follows prints what follows from events.
func (p *page) follows(l *podlife.LifeTimeline, now time.Time) {
	if l == nil {
		return
	}
	head := []string{"AT (UTC)", ">AFTER", "WHO", "WHAT"}
	if p.wide {
		head = append(head, "WHY")
	}
	t := newTable(3, head...)
	for i := range l.Entries {
		e := &l.Entries[i]
		what, within := e.Event, ""
		if e.Container != "" {
			what = e.Container + ": " + what
		}
		if e.WithinSeconds > 0 {
			within = "~" // upstream's chance may move it
		}
		t.add(clock(e.At, now), within+offset(int64(e.At.Sub(now).Seconds())), e.Actor, what, e.Rule.Text)
	}
	p.list(t, "entries")
	p.gap()
	p.labelled("ENDS", clock(l.EndsAt, now)+": "+l.EndRule.Text)
	for _, s := range l.Assumes {
		p.labelled("ASSUMED", s)
	}
}
