package cli

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var update = flag.Bool("update", false, "write the golden files again")

// today is when all tests happen.
var today = time.Date(2026, 11, 21, 9, 30, 0, 0, time.UTC)

// call is one run of the program.
type call struct {
	program string // berth unless told
	in      string // stdin; empty unless set
	env     map[string]string
	columns int // of a terminal; 0: none
	typed   bool
	watched bool
}

// result is what came of it.
type result struct {
	code     int
	out, err string
}

func (c call) run(t testing.TB, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	s := Streams{
		In: strings.NewReader(c.in), Out: &out, Err: &errs, Columns: c.columns, Typed: c.typed, Watched: c.watched,
		Env: func(name string) string { return c.env[name] }, Now: func() time.Time { return today },
	}
	program := c.program
	if program == "" {
		program = "/usr/local/bin/berth"
	}
	code := Run(context.Background(), program, args, s, Version{Version: "v1", Commit: "c0ffee", Go: "go1", Platform: "p/a"})
	return result{code, out.String(), errs.String()}
}

// snapshot makes a call that calls the fixture, named in the environment.
func snapshot() call {
	return call{env: map[string]string{"BERTH_SNAPSHOT": filepath.Join("testdata", "cluster.yaml")}}
}

// golden compares with a file, and holds the text to 80 columns.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", "golden", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got):\n%s", file, d)
	}
}

// within fails for lines that are too long.
func within(t *testing.T, width int, text string) {
	t.Helper()
	for i, l := range strings.Split(text, "\n") {
		if n := columns(l); n > width {
			t.Errorf("line %d has %d columns: %q", i+1, n, l)
		}
	}
}
