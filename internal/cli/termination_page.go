package cli

import (
	"cmp"
	"fmt"
	"time"

	"berth/internal/podlife"
)

// endWord says when the pod is gone, or why that cannot be said.
func endWord(e *podlife.Termination, now time.Time) (string, colour) {
	switch {
	case (e.Refused != nil || e.Eviction != nil && !e.Eviction.Allowed) && e.GoneAfterSeconds == nil:
		return "REFUSED", red
	case e.StaysTerminating:
		return "STAYS TERMINATING", red
	case e.NodeDeletion != nil && e.NodeDeletion.Rule.ID == "node-deletion/since-unknown" && e.GoneAfterSeconds == nil:
		return "NOT KNOWN", yellow
	case e.OverdueSince != nil:
		return "OVERDUE BY " + span(int64(now.Sub(*e.OverdueSince).Seconds())), yellow
	case e.NodeDeletion != nil && e.GoneAfterSeconds == nil && len(e.Timeline) == 0:
		return "STAYS", green
	case len(e.LeftRunning) > 0:
		return "MAY RUN ON", red
	case e.GoneAfterSeconds == nil:
		return "ENDS", green
	case e.DeletionTimestamp != nil:
		return "GONE AFTER " + span(*e.GoneAfterSeconds), green
	}
	return "OVER AFTER " + span(*e.GoneAfterSeconds), green
}

// expected writes the end with the exits that were given.
func (p *page) expected(e *podlife.Termination) {
	x := e.Expected
	if x == nil {
		return
	}
	s := "With these exits its phase is " + x.Phase
	if x.GoneAfterSeconds != nil {
		s += fmt.Sprintf(", after %s", span(*x.GoneAfterSeconds))
	}
	p.text(s + ".")
	p.gap()
	t := newTable(0, "CONTAINER", ">SIGNAL AT", ">ENDS AT", ">EXIT CODE")
	for _, c := range x.Containers {
		t.add(c.Name, offset(c.SignalAt), offset(c.EndsAt), fmt.Sprint(c.ExitCode))
	}
	p.table(t)
}

func (p *page) ending(pod target, cause string, e *podlife.Termination, now time.Time) {
	word, c := endWord(e, now)
	beside := cause + " (grace period " + span(e.GracePeriodSeconds)
	if len(e.Containers) == 0 && len(e.LeftRunning) == 0 && e.GoneAfterSeconds != nil {
		beside += ", nothing runs"
	}
	p.head(word, c, pod.String(), beside+")", "")
	p.gap()
	switch {
	case len(e.LeftRunning) == 0:
	case e.GoneAfterSeconds != nil && *e.GoneAfterSeconds == 0:
		p.text("The object is gone at once; these containers may run on: " + someNames(e.LeftRunning) + ".")
	default:
		p.text("No kubelet stops these containers: " + someNames(e.LeftRunning) + ".")
	}
	if e.Refused != nil {
		p.text(e.Refused.Text)
	}
	if e.Eviction != nil {
		s := fmt.Sprintf("The Eviction API answers %d. %s", e.Eviction.Code, e.Eviction.Rule.Text)
		if !e.Eviction.Allowed {
			s = fmt.Sprintf("The Eviction API answers %d: %s", e.Eviction.Code, cmp.Or(e.Eviction.Cause, e.Eviction.Message))
		}
		p.text(s)
	}
	if e.NodeDeletion != nil {
		p.text(e.NodeDeletion.Rule.Text)
	}
	if e.Phase != "" {
		s := "At the end its phase is " + e.Phase
		if e.PhaseIfAllExitZero != "" && e.PhaseIfAllExitZero != e.Phase {
			s += ", or " + e.PhaseIfAllExitZero + " if all containers end with 0 in time"
		}
		p.text(s + ".")
	}
	if e.EvictionTimeoutSeconds != nil {
		p.text(fmt.Sprintf("The kubelet waits %s for it to be gone.", span(*e.EvictionTimeoutSeconds)))
	}
	p.expected(e)
	p.numbers(e)
	p.stops(e)
	p.timeline(e)
	p.gap()
	for _, n := range e.Notes {
		p.labelled("NOTE", n)
	}
}

// numbers writes where the grace period comes from.
func (p *page) numbers(e *podlife.Termination) {
	if len(e.Steps) == 0 {
		return
	}
	p.gap()
	t := newTable(2, ">SECONDS", "FROM", "RULE")
	t.folds = true
	for _, s := range e.Steps {
		from := s.Source
		if s.Container != "" {
			from = s.Container + ": " + from
		}
		t.add(fmt.Sprint(s.Value), from, s.Rule)
	}
	p.table(t)
}

func (p *page) stops(e *podlife.Termination) {
	if len(e.Containers) == 0 {
		return
	}
	p.gap()
	t := newTable(0, "CONTAINER", "KIND", ">PRESTOP", ">SIGNAL AT", "SIGNAL", ">KILLED AT", ">STOP TIMEOUT")
	for _, c := range e.Containers {
		hook := "-"
		if c.PreStopSeconds != nil {
			if hook = span(*c.PreStopSeconds); c.PreStopUnknown {
				hook = "up to " + hook
			}
		}
		t.add(c.Name, c.Kind, hook, offset(c.SignalAt), c.Signal, offset(c.KillAt), span(c.StopTimeoutSeconds))
	}
	p.table(t)
}

func (p *page) timeline(e *podlife.Termination) {
	t := newTable(3, ">AFTER", "AT (UTC)", "WHO", "WHAT")
	for _, v := range e.Timeline {
		at, what := "", v.Event
		if v.At != nil {
			at = v.At.UTC().Format("15:04:05")
		}
		if v.Container != "" {
			what = v.Container + ": " + what
		}
		t.add(offset(v.OffsetSeconds), at, v.Actor, what)
	}
	p.list(t, "events")
}
