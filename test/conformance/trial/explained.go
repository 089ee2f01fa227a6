package trial

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// Explained are the known differences between two releases of Kubernetes. A difference is one of
// them where both sides say the same once the texts that explanations of its class know are
// replaced.
type Explained []explanation

type explanation struct {
	row         string
	class, text *regexp.Regexp
	with        string
}

// ReadExplained reads a file of explanations, one a line: row of the table of differences, class,
// text, what to put in its place, and upstream's function that differs. Class and text are regular
// expressions; fields end with " | ". Lines that begin with # are comments.
func ReadExplained(path string) (Explained, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var out Explained
	for i, line := range strings.Split(string(raw), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		fail := func(why any) error { return fmt.Errorf("%s:%d: %v", path, i+1, why) }
		f := strings.Split(line, " | ")
		if len(f) != 5 || strings.TrimSpace(f[4]) == "" {
			return nil, fail("want five fields: row, class, text, replacement, upstream's function")
		}
		e := explanation{row: strings.TrimSpace(f[0]), with: strings.TrimSpace(f[3])}
		if e.class, err = regexp.Compile("^(?:" + strings.TrimSpace(f[1]) + ")$"); err != nil {
			return nil, fail(err)
		}
		if e.text, err = regexp.Compile(strings.TrimSpace(f[2])); err != nil {
			return nil, fail(err)
		}
		out = append(out, e)
	}
	return out, nil
}

// follows is the row of what follows from other differences of a case.
const follows = "*"

// Rows are, by difference of a case, the rows that together explain it; empty: none do.
func (x Explained) Rows(diffs []Difference) []string {
	out, explained := make([]string, len(diffs)), false
	for i, d := range diffs {
		out[i] = x.rows(d)
		explained = explained || out[i] != "" && out[i] != follows
	}
	for i := range out {
		if out[i] == follows && !explained {
			out[i] = ""
		}
	}
	return out
}

func (x Explained) rows(d Difference) string {
	var rows []string
	want, got := d.Want, d.Got
	for _, e := range x {
		if !e.class.MatchString(d.Class) {
			continue
		}
		w, g := e.text.ReplaceAllString(want, e.with), e.text.ReplaceAllString(got, e.with)
		if w != want || g != got {
			rows = append(rows, e.row)
		}
		want, got = w, g
	}
	if want != got {
		return ""
	}
	slices.Sort(rows)
	return strings.Join(slices.Compact(rows), "+")
}
