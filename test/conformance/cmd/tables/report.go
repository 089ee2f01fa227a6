package main

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"text/tabwriter"

	"berth/test/conformance/tables/play"
)

// report counts scenarios by package and outcome.
type report struct {
	release string
	out     string
	verbose bool
	excuses *excuses
	rows    map[string]*row
	differ  int      // without those that are explained
	said    []string // the explained ones, with the reason
}

// row is one package. partly counts those that agree in what was expressed
// while a part of them was not; those explained differ for a reason that is known.
type row struct {
	seen, checks, partly, explained int

	by  map[play.Outcome]int
	why map[string]int
}

var unsafe = regexp.MustCompile(`[^A-Za-z0-9_.-]+`)

// add counts a scenario; one that differs is printed and written out.
func (r *report) add(dir string, s *play.Result) error {
	if r.rows == nil {
		r.rows = map[string]*row{}
	}
	w := r.rows[dir]
	if w == nil {
		w = &row{by: map[play.Outcome]int{}, why: map[string]int{}}
		r.rows[dir] = w
	}
	w.seen++
	w.checks += s.Checks
	w.by[s.Outcome]++
	switch {
	case s.Outcome == play.LeftOut:
		w.why[s.Why]++
	case s.Outcome == play.Agreed && s.Why != "":
		w.partly++
	}
	if r.verbose {
		fmt.Printf("%s %s: %s %s %s\n", dir, s.Name, s.Outcome, s.Why, s.Diffs)
	}
	if s.Outcome != play.Differs {
		return nil
	}
	if why := r.excuses.of(s); why != "" {
		w.explained++
		r.said = append(r.said, fmt.Sprintf("%s %s: %s", s.Plugin, s.Name, why))
		return nil
	}
	r.differ++
	for _, d := range s.Diffs {
		fmt.Printf("%s %s: %s\n", dir, s.Name, d)
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	body, err := json.MarshalIndent(map[string]any{"case": s.Case, "differences": s.Diffs}, "", " ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, fmt.Sprintf("%s-%.120s-%d.json", dir, unsafe.ReplaceAllString(s.Name, "_"), r.differ)), append(body, '\n'), 0o644)
}

func (r *report) print(w io.Writer, dirs []string) {
	t := tabwriter.NewWriter(w, 2, 4, 2, ' ', 0)
	fmt.Fprintln(t, "package\tscenarios\texpressed\tagreed\tof them in part\tdiffer\texplained\tnot evaluated\tleft out\tchecks")
	total := row{by: map[play.Outcome]int{}, why: map[string]int{}}
	line := func(name string, o *row) {
		expressed := o.by[play.Agreed] + o.by[play.Differs] + o.by[play.Abstains]
		fmt.Fprintf(t, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", name, o.seen, expressed, o.by[play.Agreed], o.partly, o.by[play.Differs]-o.explained, o.explained, o.by[play.Abstains], o.by[play.LeftOut], o.checks)
	}
	for _, d := range dirs {
		o := r.rows[d]
		line(d, o)
		total.seen, total.checks, total.partly, total.explained = total.seen+o.seen, total.checks+o.checks, total.partly+o.partly, total.explained+o.explained
		for k, n := range o.by {
			total.by[k] += n
		}
		for k, n := range o.why {
			total.why[k] += n
		}
	}
	line("in all", &total)
	_ = t.Flush()
	fmt.Fprintln(w, "left out:")
	for _, d := range dirs {
		for _, why := range slices.Sorted(maps.Keys(r.rows[d].why)) {
			fmt.Fprintf(w, "  %5d  %s: %s\n", r.rows[d].why[why], d, why)
		}
	}
	if len(r.said) > 0 {
		fmt.Fprintf(w, "explained (releases/%s.tables):\n", r.release)
	}
	for _, line := range r.said {
		fmt.Fprintln(w, "  "+line)
	}
	for _, line := range r.excuses.stale() {
		fmt.Fprintln(w, "STALE: "+line)
	}
	agreed, other := total.by[play.Agreed], total.by[play.Differs]-total.explained
	fmt.Fprintf(w, "%s: %d of %d scenarios agree, %d are explained, %d differ\n", r.release, agreed, agreed+total.by[play.Differs], total.explained, other)
}
