package postgres

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"berth/internal/store"
	"berth/internal/store/rollup"
)

// TestFailingStepOfRollups: a statement that fails in the middle of a step leaves nothing of it,
// and the worker says so, counts it, and adds each record once when the statement goes through
// again.
func TestFailingStepOfRollups(t *testing.T) {
	url := freshURL(t)
	s := openAt(t, url, Options{})
	var lines strings.Builder
	w := rollup.NewWorker(s, slog.New(slog.NewTextHandler(&lines, nil)))
	run := func(until func() bool) {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		done := make(chan struct{})
		go func() {
			w.Run(ctx)
			close(done)
		}()
		for !until() && ctx.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		if ctx.Err() != nil {
			t.Error("it takes longer than a minute")
		}
		cancel()
		<-done
	}
	kept := func() string {
		t.Helper()
		var seq, decisions, failures, durations int64
		err := s.pool.QueryRow(t.Context(), `SELECT coalesce((SELECT seq FROM rollups), 0), coalesce((SELECT sum(decisions) FROM hourly_decisions), 0)::bigint,
  (SELECT count(*) FROM hourly_failures), coalesce((SELECT sum(decisions) FROM hourly_durations), 0)::bigint`).Scan(&seq, &decisions, &failures, &durations)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("at %d: %d decisions, failures %v, %d durations", seq, decisions, failures > 0, durations)
	}
	var entries []*store.Entry
	for i := range 9 {
		d := sampleDecision("prod", fmt.Sprintf("d%03d", i), time.Now())
		d.Purpose, d.Attempt = "live", d.ID
		entries = append(entries, &store.Entry{Decision: d})
	}
	appendWell(t, s, entries...)
	// Sums of decisions and failures come before those of durations.
	execRaw(t, url, `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused by the test'; END $$`)
	execRaw(t, url, `CREATE TRIGGER refuse BEFORE INSERT ON hourly_durations FOR EACH ROW EXECUTE FUNCTION refuse()`)
	run(func() bool { return w.Failures() > 0 })
	if got := kept(); got != "at 0: 0 decisions, failures false, 0 durations" {
		t.Errorf("a step that failed left %s", got)
	}
	if w.Behind() != 9 || !strings.Contains(lines.String(), "refused by the test") {
		t.Errorf("%d behind; the log has\n%s", w.Behind(), &lines)
	}
	execRaw(t, url, `DROP TRIGGER refuse ON hourly_durations`)
	run(func() bool { return w.Behind() == 0 })
	if got := kept(); got != "at 9: 9 decisions, failures true, 9 durations" || w.Failures() != 1 {
		t.Errorf("the step once more left %s, after %d failures", got, w.Failures())
	}
}
