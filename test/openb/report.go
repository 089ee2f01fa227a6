package main

import (
	"fmt"
	"io"
	"os"
	"sort"
	"strings"
	"text/tabwriter"
	"time"
)

// tally is what is requested and held at a time.
type tally struct{ cpu, memory, gpus int64 }

func (t *tally) add(x task, sign int64) {
	t.cpu += sign * x.cpuMilli
	t.memory += sign * x.memoryMiB
	t.gpus += sign * x.gpus
}

// report collects what the closing table shows.
type report struct {
	decisions           int
	scheduled           int
	reasons             map[string]int
	spent               time.Duration
	total, held         tally
	samples             []sample
	services            map[string]*service // by quality of service
	evictions           int
	replayed, identical int64
}

type sample struct {
	at      int64 // seconds of the trace
	running int
	held    tally
}

func newReport(machines []machine) *report {
	r := &report{reasons: map[string]int{}, services: map[string]*service{}}
	for _, m := range machines {
		r.total.cpu += m.cpuMilli
		r.total.memory += m.memoryMiB
		r.total.gpus += m.gpus
	}
	return r
}

// unschedulable files a pod under the sentence without its numbers, so that
// pods which fail for the same reasons stand in one row.
func (r *report) unschedulable(d *decision) {
	set := map[string]bool{}
	for _, f := range d.Failures {
		set[f.Reason] = true
	}
	names := make([]string, 0, len(set))
	for n := range set {
		names = append(names, n)
	}
	sort.Strings(names)
	r.reasons[strings.Join(names, " + ")]++
}

func (r *report) write(w io.Writer) {
	t := tabwriter.NewWriter(w, 2, 4, 2, ' ', 0)
	fmt.Fprintf(t, "\ndecisions\t%d\n", r.decisions)
	fmt.Fprintf(t, "scheduled\t%d\n", r.scheduled)
	fmt.Fprintf(t, "unschedulable\t%d\n", r.tasks()-r.scheduled)
	reasons := make([]string, 0, len(r.reasons))
	for k := range r.reasons {
		reasons = append(reasons, k)
	}
	sort.Slice(reasons, func(i, j int) bool {
		if r.reasons[reasons[i]] != r.reasons[reasons[j]] {
			return r.reasons[reasons[i]] > r.reasons[reasons[j]]
		}
		return reasons[i] < reasons[j]
	})
	for _, k := range reasons {
		fmt.Fprintf(t, "  %s\t%d\n", k, r.reasons[k])
	}
	if r.spent > 0 {
		fmt.Fprintf(t, "decisions/s\t%.0f\n", float64(r.decisions)/r.spent.Seconds())
	}
	_ = t.Flush()
	t = tabwriter.NewWriter(w, 2, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "\nday\trunning\tcpu\tmemory\tgpu\t\n")
	for _, s := range r.samples {
		fmt.Fprintf(t, "%.1f\t%d\t%s\t%s\t%s\t\n", float64(s.at)/86400, s.running,
			share(s.held.cpu, r.total.cpu), share(s.held.memory, r.total.memory), share(s.held.gpus, r.total.gpus))
	}
	_ = t.Flush()
}

func share(n, of int64) string {
	if of == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(n)/float64(of))
}

// progress shows how far a long loop is, on a terminal in place and elsewhere
// a line now and then.
type progress struct {
	label string
	total int
	start time.Time
	last  time.Time
	tty   bool
}

func newProgress(label string, total int) *progress {
	st, err := os.Stderr.Stat()
	return &progress{label: label, total: total, start: time.Now(), tty: err == nil && st.Mode()&os.ModeCharDevice != 0}
}

func (p *progress) at(done int) {
	every := 5 * time.Second
	if p.tty {
		every = 100 * time.Millisecond
	}
	if time.Since(p.last) < every && done != p.total {
		return
	}
	p.last = time.Now()
	rate := float64(done) / time.Since(p.start).Seconds()
	line := fmt.Sprintf("%s %d/%d (%.0f/s)", p.label, done, p.total, rate)
	if p.tty {
		fmt.Fprintf(os.Stderr, "\r%-60s", line)
		if done == p.total {
			fmt.Fprintln(os.Stderr)
		}
		return
	}
	fmt.Fprintln(os.Stderr, line)
}
