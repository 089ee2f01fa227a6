package sqlite

import (
	"context"
	"errors"
	"strings"
	"testing"

	"berth/internal/store/sqlcommon"
	"berth/test/storetest"
)

var errBroken = errors.New("broken")

// breaking is a database of which the call numbered left fails, the commit too.
type breaking struct {
	sqlcommon.DB
	left *int
}

func (b breaking) fails() error {
	if *b.left--; *b.left == -1 {
		return errBroken
	}
	return nil
}

func (b breaking) Read(ctx context.Context, query string, args []any, row func(scan func(into ...any) error) error) error {
	if err := b.fails(); err != nil {
		return err
	}
	return b.DB.Read(ctx, query, args, row)
}

func (b breaking) Write(ctx context.Context, fn func(sqlcommon.Tx) error) error {
	return b.DB.Write(ctx, func(x sqlcommon.Tx) error {
		if err := fn(breakingTx{x, b}); err != nil {
			return err
		}
		return b.fails()
	})
}

type breakingTx struct {
	sqlcommon.Tx
	b breaking
}

func (x breakingTx) Exec(query string, args ...any) (int64, error) {
	if err := x.b.fails(); err != nil {
		return 0, err
	}
	return x.Tx.Exec(query, args...)
}

func (x breakingTx) Many(query string, args [][]any) error {
	if err := x.b.fails(); err != nil {
		return err
	}
	return x.Tx.Many(query, args)
}

// TestBrokenRollups: wherever a step is cut off, nothing of it is left, and what follows counts
// each record once.
func TestBrokenRollups(t *testing.T) {
	s := openAt(t, t.TempDir())
	storetest.RollupsBroken(t, s, func(call int) bool {
		broken := sqlcommon.NewRollups(breaking{common{s}, &call}, sqlcommon.SQLite)
		for {
			step, err := broken.RollUp(t.Context(), "prod")
			switch {
			case errors.Is(err, errBroken):
				return true
			case err != nil:
				t.Fatal(err)
			case !step.More:
				return false
			}
		}
	})
}

// TestPodRecordsUseTheirIndex: the records of a few pods are read by the pods' names.
func TestPodRecordsUseTheirIndex(t *testing.T) {
	s := openAt(t, t.TempDir())
	plan := strings.Join(ask(t, s, "EXPLAIN QUERY PLAN "+sqlcommon.SQLite.Text(sqlcommon.PodRecords), "prod", "[]", 1), "\n")
	if !strings.Contains(plan, "INDEX decisions_by_pod ") {
		t.Errorf("plan\n%s", plan)
	}
}
