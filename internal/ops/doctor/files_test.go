package doctor

import (
	"strings"
	"testing"
)

// TestFiles: a limit of open files below what the listeners take is warned of.
func TestFiles(t *testing.T) {
	for _, c := range []struct {
		limit     uint64
		known     bool
		listeners int
		warns     bool
	}{{64, true, 1, true}, {1199, true, 1, true}, {1200, true, 1, false}, {1200, true, 2, true}, {0, false, 1, false}} {
		list := filesIn(c.limit, c.known, c.listeners, 1000)
		if (len(list) == 1) != c.warns || c.warns && !strings.Contains(list[0].Text, "--max-connections 1000") {
			t.Errorf("%+v: %+v", c, list)
		}
	}
	if limit, known := openFiles(); known && limit == 0 {
		t.Error("the process may open no file")
	}
}
