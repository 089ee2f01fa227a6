package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/internal/store"
)

// TestDamageStopsWriting overwrites pages of a file: the store must say so and
// write nothing more, rather than go on beside the damage.
func TestDamageStopsWriting(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir)
	var es []*store.Entry
	for i := range 2000 {
		d := sampleDecision("prod", fmt.Sprintf("%06d", i), fromMicro(int64(i)))
		d.Revision = 0
		es = append(es, &store.Entry{Decision: d})
	}
	if err := s.Append(t.Context(), es); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, FileName), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	junk := strings.Repeat("\xff", int(info.Size()/2))
	if _, err := f.WriteAt([]byte(junk), info.Size()/4/4096*4096); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}

	s = openAt(t, dir)
	if _, err = s.ListDecisions(t.Context(), store.DecisionFilter{Cluster: "prod"}); err == nil {
		t.Fatal("a damaged log was listed")
	}
	if err := s.Ping(t.Context()); err == nil || !strings.Contains(err.Error(), "needs a restart") {
		t.Errorf("Ping = %v", err)
	}
	e := &store.Entry{Decision: sampleDecision("prod", "late", time.Now())}
	if err := s.Append(t.Context(), []*store.Entry{e}); err == nil || !strings.Contains(err.Error(), "needs a restart") {
		t.Errorf("Append = %v", err)
	}
}

// A file that is removed, renamed or replaced takes nothing more, or its records would be gone with
// the process. One that is put back does.
func TestFileGone(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir)
	path, elsewhere := filepath.Join(dir, FileName), filepath.Join(dir, "elsewhere.db")
	write := func(id string) error {
		e := &store.Entry{Decision: sampleDecision("prod", id, time.Now())}
		e.Decision.Revision = 0
		return errors.Join(s.Append(t.Context(), []*store.Entry{e}), e.Err)
	}
	check := func(step, words string) {
		t.Helper()
		for _, err := range []error{write(step), s.Ping(t.Context())} {
			if !errors.Is(err, store.ErrUnavailable) || !strings.Contains(err.Error(), words) {
				t.Errorf("%s: %v", step, err)
			}
		}
	}
	if err := os.Rename(path, elsewhere); err != nil {
		t.Fatal(err)
	}
	check("renamed", "removed or renamed")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	check("replaced", "was replaced")
	if err := os.Rename(elsewhere, path); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(write("back"), s.Ping(t.Context())); err != nil {
		t.Error(err)
	}
	list, err := s.ListDecisions(t.Context(), store.DecisionFilter{Cluster: "prod"})
	if err != nil || len(list) != 1 {
		t.Errorf("%d decisions, %v; want the last one alone", len(list), err)
	}
}

// TestHostileRows plants values that we never write: a row is input, and one
// that is wrong may cost its own reader an error, and no caller a panic.
func TestHostileRows(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir)
	columns := []string{"failures", "scores", "victims"}
	values := []string{`{`, `null`, `{}`, `[1]`, `[[[]]]`, `[[{}]]`, `[null]`, `[[]]`, `[["a","b","c",1e99]]`, `[[9223372036854775808]]`, `[["a",1,"r",3,[],"","",[["m5"]]]]`, `[["a",1,"r",3,[],"","",[[1,2]]]]`, ``}
	var es []*store.Entry
	for c := range columns {
		for v := range values {
			d := sampleDecision("prod", fmt.Sprintf("%d-%d", c, v), time.Now())
			d.Revision = 0
			es = append(es, &store.Entry{Decision: d})
		}
	}
	if err := s.Append(t.Context(), es); err != nil {
		t.Fatal(err)
	}
	refused := 0
	for c, column := range columns {
		for v, value := range values {
			id := fmt.Sprintf("%d-%d", c, v)
			execRaw(t, dir, fmt.Sprintf("UPDATE decisions SET %s = '%s', priority = 1 << 40 WHERE id = '%s'", column, value, id))
			execRaw(t, dir, fmt.Sprintf("UPDATE decisions SET priority = 0 WHERE id = '%s' AND %d < 10", id, v))
			if _, err := s.Decision(t.Context(), id); err != nil {
				if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrClosed) {
					t.Errorf("%s = %s: %v", column, value, err)
				}
				refused++
			}
		}
	}
	if refused < len(values) {
		t.Errorf("only %d hostile rows were noticed", refused)
	}
	if err := s.Ping(t.Context()); err != nil {
		t.Errorf("Ping = %v", err)
	}
	d := sampleDecision("prod", "after", time.Now())
	d.Revision = 0
	if err := s.Append(t.Context(), []*store.Entry{{Decision: d}}); err != nil {
		t.Errorf("Append = %v", err)
	}
}
