package main

import (
	"strings"
	"testing"

	"berth/internal/handlers/limits"

	"github.com/alecthomas/kong"
)

// TestGoneFlagsSayWhatToDo wants each limit that is the same for every server to be refused with
// its value, as a flag and as a variable: the 81 that were flags, and two of placements.
func TestGoneFlagsSayWhatToDo(t *testing.T) {
	gone := limits.FixedValues()
	if len(gone) != 83 || gone["filter-queue"] != "32" {
		t.Fatalf("%d limits are fixed: %v", len(gone), gone)
	}
	for name, value := range gone {
		for _, args := range [][]string{{"config", "print", "--" + name, "7"}, {"--" + name + "=7"}} {
			if code, _, errs := command(t, args...); code != 1 || !strings.Contains(errs, "--"+name+" is gone: it is "+value+" for every server now") {
				t.Errorf("%v: code %d, %s", args, code, errs)
			}
		}
	}
	t.Setenv("BERTH_MAX_PAGE", "7")
	if code, _, errs := command(t, "config", "print"); code != 1 || !strings.Contains(errs, "BERTH_MAX_PAGE is gone: it is 500 ") {
		t.Errorf("code %d, %s", code, errs)
	}
}

// TestFlagsAreFew bounds what an operator has to read.
func TestFlagsAreFew(t *testing.T) {
	var line cli
	parser, err := kong.New(&line)
	if err != nil {
		t.Fatal(err)
	}
	all, limits := 0, 0
	for _, f := range parser.Model.Children[0].Flags {
		if all++; f.Group != nil {
			limits++
		}
	}
	if all < 50 || all > 70 || limits < 10 || limits > 25 {
		t.Errorf("serve has %d flags, %d of them limits; want at most 70 and 25", all, limits)
	}
}
