package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"berth/test/conformance/tables/play"
)

// TestExcuses: a row excuses the one scenario that it names while that differs;
// one that agrees, or that is gone, leaves its row over, and that fails the run.
func TestExcuses(t *testing.T) {
	list := []explanation{{"A", "TestA/x", "because"}, {"A", "TestA/gone", "because"}, {"B", "TestB/y", "because"}, {"D", "TestD/*", "because"}}
	differs := func(plugin, name string) *play.Result {
		return &play.Result{Plugin: plugin, Name: name, Outcome: play.Differs}
	}
	for name, c := range map[string]struct {
		plugins []string
		seen    []*play.Result
		excused int
		stale   string
	}{
		"met, and one that is gone": {[]string{"A"}, []*play.Result{differs("A", "TestA/x")}, 1, "A TestA/gone"},
		"agrees by now":             {[]string{"B"}, []*play.Result{{Plugin: "B", Name: "TestB/y", Outcome: play.Agreed}}, 0, "B TestB/y"},
		"left out by now":           {[]string{"B"}, []*play.Result{{Plugin: "B", Name: "TestB/y", Outcome: play.LeftOut}}, 0, "B TestB/y"},
		"another plugin":            {[]string{"B"}, []*play.Result{differs("A", "TestB/y")}, 0, "B TestB/y"},
		"another scenario":          {[]string{"B"}, []*play.Result{differs("B", "TestB/z"), differs("B", "TestB/y")}, 1, ""},
		"several":                   {[]string{"D"}, []*play.Result{differs("D", "TestD/x"), differs("D", "TestD/y"), differs("D", "TestE/x")}, 2, ""},
		"several, of none":          {[]string{"D"}, []*play.Result{differs("D", "TestE/x")}, 0, "D TestD/*"},
		"not played":                {[]string{"C"}, nil, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := newExcuses(list, c.plugins)
			excused := 0
			for _, r := range c.seen {
				if e.of(r) != "" {
					excused++
				}
			}
			stale := strings.Join(e.stale(), "\n")
			if excused != c.excused || !strings.HasPrefix(stale, c.stale) || (c.stale == "") != (stale == "") {
				t.Errorf("%d excused, stale %q; want %d, %q", excused, stale, c.excused, c.stale)
			}
		})
	}
}

// TestExplained: every row of a release names a plugin whose tests are played, and the reason.
func TestExplained(t *testing.T) {
	files, err := filepath.Glob("../../releases/*.tables")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		list, err := readExplained(file)
		if err != nil || len(list) == 0 {
			t.Errorf("%s: %d rows, %v", file, len(list), err)
		}
		rowsFit(t, list)
	}
	bad := filepath.Join(t.TempDir(), "bad")
	if err := os.WriteFile(bad, []byte("A | TestA/x | \n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := readExplained(bad); err == nil {
		t.Error("a row without a reason is read")
	}
}

func rowsFit(t *testing.T, list []explanation) {
	t.Helper()
	seen := map[explanation]bool{}
	for _, x := range list {
		if dirs, err := chosen(x.plugin); err != nil || len(dirs) != 1 {
			t.Errorf("%s: %v, %v", x.plugin, dirs, err)
		}
		if key := (explanation{x.plugin, x.scenario, ""}); seen[key] || x.why == "" {
			t.Errorf("%s %s stands there twice, or without a reason", x.plugin, x.scenario)
		} else {
			seen[key] = true
		}
	}
}

// TestPresent: a plugin that a release does not have is passed over, and named; where none is left
// there is nothing to run.
func TestPresent(t *testing.T) {
	plugins := t.TempDir()
	for _, dir := range []string{"nodename", "nodeports"} {
		if err := os.Mkdir(filepath.Join(plugins, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	has, without, err := present(plugins, []string{"nodename", "nodedeclaredfeatures", "nodeports"})
	if got := strings.Join(has, " ") + "; " + strings.Join(without, " "); err != nil || got != "nodename nodeports; nodedeclaredfeatures" {
		t.Errorf("%s, %v", got, err)
	}
	if has, _, err := present(plugins, []string{"nodedeclaredfeatures"}); err == nil {
		t.Errorf("%q are left of one that is not there", has)
	}
}
