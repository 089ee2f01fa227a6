package cli

import (
	"strings"
	"time"
)

// status is the STATUS column; a wide one also has how the last run ended.
func (l life) status(wide bool) string {
	if l.StatusAfter == "" || !wide {
		return l.Status
	}
	return l.Status + ": " + l.StatusAfter
}

// lastRuns prints how the last runs of containers ended, and what their states report: what
// kubectl describe shows as Last State and Message.
func (p *page) lastRuns(l life, now time.Time) {
	for i := range l.Containers {
		c := &l.Containers[i]
		if r := c.LastRun; r != nil && (r.ExitCode != 0 || c.RestartCount > 0) {
			s := c.Name + ": " + r.String()
			if r.FinishedAt != nil {
				s += " at " + clock(*r.FinishedAt, now)
			}
			if r.StartedAt != nil && r.FinishedAt != nil {
				s += ", after a run of " + span(int64(r.FinishedAt.Sub(*r.StartedAt).Seconds()))
			}
			if r.Message != "" {
				s += ": " + p.words(r.Message)
			}
			p.labelled("LAST", s)
		}
		if c.Message != "" && (c.LastRun == nil || c.Message != c.LastRun.Message) {
			p.labelled("SAYS", c.Name+": "+p.words(c.Message))
		}
	}
}

// messageShown is how much of a container's message a page has; its log may be in it.
const messageShown = 400

// words cuts a message that is long.
func (p *page) words(message string) string {
	message = strings.Join(strings.Fields(message), " ")
	if p.wide || columns(message) <= messageShown {
		return message
	}
	p.cuts++
	return fit(message, messageShown)
}
