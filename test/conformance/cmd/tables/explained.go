package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"berth/test/conformance/tables/play"
)

// explanation excuses scenarios that berth and upstream's plugin differ in, by the plugin's name
// and the scenario's, or its beginning and a star. Why was read in upstream's code.
type explanation struct{ plugin, scenario, why string }

func (x *explanation) excuses(r *play.Result) bool {
	beginning, several := strings.CutSuffix(x.scenario, "*")
	return x.plugin == r.Plugin && (x.scenario == r.Name || several && strings.HasPrefix(r.Name, beginning))
}

// readExplained reads a release's file of explanations, releases/*.tables; none without a file.
func readExplained(path string) (out []explanation, err error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	for i, line := range strings.Split(string(raw), "\n") {
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, " | ")
		if len(f) != 3 || slices.Contains(f, "") {
			return nil, fmt.Errorf("%s:%d: want three fields: plugin, scenario, why", path, i+1)
		}
		out = append(out, explanation{f[0], f[1], f[2]})
	}
	return out, err
}

// excuses is the table at work, and which of its rows have excused something.
type excuses struct {
	list []explanation
	met  map[int]bool
}

func newExcuses(list []explanation, plugins []string) *excuses {
	e := &excuses{met: map[int]bool{}}
	for _, x := range list {
		if slices.Contains(plugins, x.plugin) {
			e.list = append(e.list, x)
		}
	}
	return e
}

// of returns the reason for which a scenario that differs is excused, "" for none,
// and ticks the row off.
func (e *excuses) of(r *play.Result) string {
	i := slices.IndexFunc(e.list, func(x explanation) bool { return x.excuses(r) })
	if r.Outcome != play.Differs || i < 0 {
		return ""
	}
	e.met[i] = true
	return e.list[i].why
}

// stale complains of the rows that excused nothing.
func (e *excuses) stale() (out []string) {
	for i, x := range e.list {
		if !e.met[i] {
			out = append(out, fmt.Sprintf("%s %s is explained, but no such scenario differs any more", x.plugin, x.scenario))
		}
	}
	return out
}
