package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
)

// service is what became of the tasks of one quality of service.
type service struct {
	tasks      int
	scheduled  int // when they came, by preemption or without
	preempting int // decisions that had others go
	victims    int // times that one of these had to go
	back       int // times that one who had to go got a node again
	givenUp    int // after so many rounds
	ended      int // would have ended while it waited
	waiting    int // still, at the end
}

// of returns the figures of a task's quality of service.
func (r *report) of(t task) *service {
	s, ok := r.services[t.qos]
	if !ok {
		s = &service{}
		r.services[t.qos] = s
	}
	return s
}

// beside writes the run without priorities and the one with them in one table.
func beside(w io.Writer, before, with *report) {
	t := tabwriter.NewWriter(w, 2, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "\n\twithout priorities\twith\t\n")
	row := func(name string, of func(r *report) int) {
		fmt.Fprintf(t, "%s\t%d\t%d\t\n", name, of(before), of(with))
	}
	row("tasks", func(r *report) int { return r.tasks() })
	row("scheduled when they came", func(r *report) int { return r.scheduled })
	row("unschedulable", func(r *report) int { return r.tasks() - r.scheduled })
	row("preempting decisions", func(r *report) int { return r.sum(func(s *service) int { return s.preempting }) })
	row("victims", func(r *report) int { return r.evictions })
	row("decisions", func(r *report) int { return r.decisions })
	row("decisions/s", func(r *report) int { return r.rate() })
	row("replayed identical", func(r *report) int { return int(r.identical) })
	row("replayed otherwise", func(r *report) int { return int(r.replayed - r.identical) })
	_ = t.Flush()

	t = tabwriter.NewWriter(w, 2, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "\nqos\tpriority\ttasks\tscheduled without\twith\tpreempting\tvictims\tback\tgiven up\tended\twaiting\t\n")
	for _, qos := range slices.Sorted(maps.Keys(with.services)) {
		of := task{qos: qos}
		b, s := before.of(of), with.of(of)
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", qos, of.class().value, s.tasks, b.scheduled,
			s.scheduled, s.preempting, s.victims, s.back, s.givenUp, s.ended, s.waiting)
	}
	_ = t.Flush()
}

func (r *report) sum(of func(*service) int) (n int) {
	for _, s := range r.services {
		n += of(s)
	}
	return n
}

func (r *report) tasks() int { return r.sum(func(s *service) int { return s.tasks }) }

func (r *report) rate() int {
	if r.spent == 0 {
		return 0
	}
	return int(float64(r.decisions) / r.spent.Seconds())
}
