//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"
)

// report is what came of a run.
type report struct {
	seed       uint64
	began      time.Time
	tortured   time.Duration
	checked    time.Time     // when the chains were checked last
	checking   time.Duration // how long that took
	strikes    []strike
	jobs       []job
	skipped    []string
	notices    []string
	violations []violation
	summary    [][2]string
	table      []row
}

// strike is a fault that was injected.
type strike struct {
	fault
	replica             string
	began, lifted       time.Time
	recovered           time.Duration // 0: it did not come to it
	decisions, inFlight int           // the load when it hit
}

type row struct {
	phase, class string
	figures
}

func (r *report) violate(kind, format string, args ...any) {
	r.violations = append(r.violations, violation{kind, fmt.Sprintf(format, args...)})
}

func (r *report) say(what, format string, args ...any) {
	r.summary = append(r.summary, [2]string{what, fmt.Sprintf(format, args...)})
}

// close replays on the servers that answered, ends them in order, and does the books.
func (r *report) close(ctx context.Context, p *place, w *world, told *ledger, o options) {
	r.notices = append(r.notices, p.notices...)
	r.measure(w.meter, p, o)
	r.lags(told)
	for _, line := range told.wrong {
		r.violate("wrong answer", "%s", line)
	}
	if o.Scenario != "books" {
		r.serving(ctx, p, told)
	}
	for _, one := range p.replicas {
		if err := one.stop(40 * time.Second); err != nil {
			r.violate("no end", "%v", err)
		}
		for _, line := range append(one.crashes, one.complaints()...) {
			r.violate("complaint", "%s", line)
		}
		if left := leftovers(one); len(left) > 0 {
			r.violate("left in the spool", "%s: %s", one.name, strings.Join(left, ", "))
		}
	}
	kept, err := readBooks(ctx, p.pg.url())
	if err != nil {
		r.violate("harness", "read the books: %v", err)
		return
	}
	r.violations = append(r.violations, check(told, kept)...)
	if sealed := r.chains(ctx, p, "at the end"); sealed != int64(len(kept.records)) && ctx.Err() == nil {
		r.violate("hash chain", "%d of %d records are sealed", sealed, len(kept.records))
	}
	revisions := 0
	for _, list := range kept.revisions {
		revisions += len(list)
	}
	r.say("answered decisions", "%d, of %d on record", len(told.answers), len(kept.records))
	r.say("pods told to be bound", "%d", len(told.claims)+boundAnswers(told))
	r.say("revisions", "%d, %d of them told of", revisions, len(told.states))
	r.say("placements", "%d sent; %d holds, %s, and %d answers about their end; the last room %d times", len(told.asked), len(kept.holds), kept.states(), len(told.ends), told.slots)
	r.say("keys", "%d calls sent again or another under their key; %d changes", told.repeated, len(told.marks))
	r.judge(ctx, p, kept, told, o)
}

func boundAnswers(told *ledger) (n int) {
	for _, a := range told.answers {
		if a.bound != "" {
			n++
		}
	}
	return n
}

// leftovers are the files of a spool that hold records after an end in order:
// all should have gone to Postgres, and none to quarantine.
func leftovers(one *replica) (list []string) {
	_ = filepath.Walk(one.spoolDir(), func(path string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() && info.Size() > spoolHeader {
			list = append(list, fmt.Sprintf("%s (%d bytes)", strings.TrimPrefix(path, one.dir), info.Size()))
		}
		return nil // there may be no spool
	})
	return list
}

// spoolHeader is the most that a spool's file holds beside records.
const spoolHeader = 64

// lags prints how far behind replicas were while nothing was broken.
func (r *report) lags(told *ledger) {
	_, p99, most := quantiles(told.lags)
	r.say("staleness in calm", "p99 %s, max %s over %d looks", p99.Round(time.Millisecond), most.Round(time.Millisecond), len(told.lags))
	for _, line := range told.stale {
		r.violate("stale", "%s", line)
	}
}

// staleness is what is not taken for scheduling noise of a busy machine.
const staleness = 3 * time.Second

// measure makes the table, and checks whether decisions went on while Postgres was away.
func (r *report) measure(m *meter, p *place, o options) {
	for _, phase := range m.phases() {
		for _, class := range []string{classExtender, classDecide, classWrite, classRead} {
			f := m.figures(func(s *sample) bool { return s.phase == phase && s.class == class })
			if f.calls > 0 {
				r.table = append(r.table, row{phase, class, f})
			}
		}
	}
	for _, hit := range r.strikes {
		if !hit.away || o.Serving <= 0 || hit.lifted.Sub(hit.began) < 3*time.Second {
			continue
		}
		f := m.figures(func(s *sample) bool {
			return (s.class == classExtender || s.class == classDecide) && s.began.After(hit.began) && s.began.Before(hit.lifted)
		})
		if float64(f.ok) < o.Serving*float64(f.calls) {
			r.violate("not serving", "%s: of %d decisions and extender calls %d were answered, %d refused, %d broken", hit.fault, f.calls, f.ok, f.refused, f.broken)
		}
	}
	for _, one := range p.replicas {
		r.say(one.name, "%d starts, %d of them refused for want of Postgres", one.starts, one.refusals)
	}
}

func (r *report) print(w io.Writer) {
	t := tabwriter.NewWriter(w, 2, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "\nwhile\tcalls\tclass\tanswered\trefused\tlost race\tno answer\tp50 ms\tp99 ms\tmax ms\t\n")
	for _, x := range r.table {
		fmt.Fprintf(t, "%s\t%d\t%s\t%d\t%d\t%d\t%d\t%.1f\t%.1f\t%.0f\t\n", x.phase, x.calls, x.class, x.ok, x.refused, x.lost, x.broken, millis(x.p50), millis(x.p99), millis(x.max))
	}
	_ = t.Flush()
	fmt.Fprintf(w, "\nseed %d: %d faults in %s", r.seed, len(r.strikes), r.tortured.Round(time.Second))
	var recoveries []time.Duration
	for _, s := range r.strikes {
		recoveries = append(recoveries, s.recovered)
	}
	p50, _, most := quantiles(recoveries)
	fmt.Fprintf(w, ", well again after %s (median) and %s (longest)\n", p50.Round(time.Millisecond), most.Round(time.Millisecond))
	for _, s := range r.summary {
		fmt.Fprintf(w, "  %s: %s\n", s[0], s[1])
	}
	for _, s := range r.notices {
		fmt.Fprintln(w, "  notice:", s)
	}
	if len(r.skipped) > 0 {
		fmt.Fprintln(w, "  NOT INJECTED here:", strings.Join(r.skipped, "; "))
	}
	r.printViolations(w)
}

// printViolations shows a few of each kind.
func (r *report) printViolations(w io.Writer) {
	if len(r.violations) == 0 {
		fmt.Fprintf(w, "PASS seed %d\n", r.seed)
		return
	}
	shown := map[string]int{}
	var kinds []string
	for _, v := range r.violations {
		if shown[v.kind] == 0 {
			kinds = append(kinds, v.kind)
		}
		if shown[v.kind]++; shown[v.kind] <= 5 {
			fmt.Fprintf(w, "  %s: %.600s\n", v.kind, v.what)
		}
	}
	fmt.Fprintf(w, "FAIL seed %d:", r.seed)
	for _, k := range kinds {
		fmt.Fprintf(w, " %d %s;", shown[k], k)
	}
	fmt.Fprintln(w)
}

func millis(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
