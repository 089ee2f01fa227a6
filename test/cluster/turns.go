package main

import (
	"context"
	"fmt"
	"slices"
)

// turns has an extender that lets everything pass unread take turns with one that sends scores
// besides, and with berth's filter and scores. What else the machine does falls on all three alike;
// berth runs in its own turns alone.
func turns(ctx context.Context, e *env) error {
	if err := e.nodes(ctx, e.options.nodes, 3, "32", "128Gi", nil); err != nil {
		return err
	}
	noop, err := newNoop()
	if err != nil {
		return err
	}
	e.later(noop.close)
	s, err := e.berth(nil)
	if err != nil {
		return err
	}
	s.proc.stop()
	list := []struct {
		name string
		url  string   // of an extender that is not berth
		args []string // of berth
		rate []float64
		used cpuTimes
	}{
		{name: "unread", used: cpuTimes{}, url: noop.url()},
		{name: "scored", used: cpuTimes{}, url: noop.url() + "/scored"},
		{name: "berth", used: cpuTimes{}, args: s.args},
	}
	for turn := range e.options.turns {
		for i := range list {
			c := &list[(i+turn)%len(list)]
			x := asking(c.url)
			if s.args = c.args; c.args != nil {
				x = asking(s.calls(""))
				if err := s.start(); err != nil {
					return err
				}
			}
			rate, err := e.rate(ctx, fmt.Sprint(c.name, turn), x, nil)
			if err != nil {
				return err
			}
			c.rate = append(c.rate, rate)
			c.used.add(e.used)
			if c.args != nil {
				s.proc.stop()
			}
		}
	}
	for i := range list {
		slices.Sort(list[i].rate)
	}
	for i := range list {
		median, unread, scored := list[i].rate[e.options.turns/2], list[0].rate[e.options.turns/2], list[1].rate[e.options.turns/2]
		e.figure("%-8s %4.0f pods/s, %.2f of unread, %.2f of scored; all turns %.0f", list[i].name, median, median/unread, median/scored, list[i].rate)
		e.figure("%-8s ms of processor time a pod: %s", "", list[i].used.each(e.options.turns*e.options.pods))
	}
	s.args = list[2].args
	if err := s.start(); err != nil {
		return err
	}
	b, err := e.bookkeeping(ctx, s, "")
	if err != nil {
		return err
	}
	least := e.options.turns * e.options.pods
	e.check(b.byVerb["filter"] >= least && b.byVerb["prioritize"] >= least, "too few records: %v", b.byVerb)
	return nil
}
