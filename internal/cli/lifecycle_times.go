package cli

import (
	"fmt"
	"time"
)

// nodeDeletion is what is shown of when a pod goes because of its node.
type nodeDeletion struct {
	At     *time.Time `json:"deletedAt"`
	Latest *time.Time `json:"deletedAtLatest"`
	Rule   rule       `json:"rule"`
}

func (d *nodeDeletion) text(now time.Time) string {
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
func (p *page) ends(l *life) {
	for i := range l.Containers {
		c := &l.Containers[i]
		if e := c.IfItEnds; e != nil && (e.BackoffSeconds > 0 || e.Rule.ID == "crash/reset") {
			p.labelled("CRASH", c.Name+": "+e.Rule.Text)
		}
	}
}

// read reads the flags that are times.
func (l *lifecycle) read() error {
	if l.lost == "" {
		return nil
	}
	t, err := time.Parse(time.RFC3339, l.lost)
	if err != nil {
		return fmt.Errorf("--node-lost-since %q: want a time such as 2026-01-31T12:00:00Z", l.lost)
	}
	l.since = &t
	return nil
}
