package rollup

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"berth/internal/store"
)

// fake is a store whose clusters have so many records that are not summed up.
type fake struct {
	behind map[string]int64
	taken  bool
	err    error
	locks  int
}

func (f *fake) RollupStates(context.Context) (list []store.RollupState, err error) {
	for cluster, n := range f.behind {
		list = append(list, store.RollupState{Cluster: cluster, Last: n})
	}
	return list, nil
}

func (f *fake) RollUp(_ context.Context, cluster string) (store.RollupStep, error) {
	if f.err != nil {
		return store.RollupStep{}, f.err
	}
	n := min(f.behind[cluster], 40_000)
	f.behind[cluster] -= n
	return store.RollupStep{Records: n, More: f.behind[cluster] > 0}, nil
}

func (f *fake) RebuildRollups(context.Context, string) error { return nil }

func (f *fake) TryLock(context.Context, string) (func(), bool, error) {
	if f.taken {
		return nil, false, nil
	}
	f.locks++
	return func() { f.locks-- }, true, nil
}

func TestWorker(t *testing.T) {
	var lines strings.Builder
	f := &fake{behind: map[string]int64{"prod": 100_000, "test": 3, "idle": 0}}
	w := NewWorker(f, slog.New(slog.NewTextHandler(&lines, nil)))
	f.taken = true
	if err := w.look(t.Context()); err != nil || w.Behind() != 100_003 {
		t.Errorf("beside another process: %v, %d behind", err, w.Behind())
	}
	f.taken, f.err = false, errors.New("broken")
	if err := w.look(t.Context()); !errors.Is(err, f.err) || f.locks != 0 {
		t.Errorf("a step fails: %v, %d locks are held", err, f.locks)
	}
	f.err = store.ErrConflict
	if err := w.look(t.Context()); err != nil {
		t.Errorf("another process was faster: %v", err)
	}
	f.err = nil
	if err := w.look(t.Context()); err != nil || w.Behind() != 0 || f.behind["prod"] != 0 || f.behind["test"] != 0 || f.locks != 0 {
		t.Errorf("%v, %d behind, %v, %d locks", err, w.Behind(), f.behind, f.locks)
	}
	if text := lines.String(); !strings.Contains(text, "up to date") || !strings.Contains(text, "records=100003") {
		t.Errorf("the log has\n%s", text)
	}
}

// TestBuckets: each duration is in one bucket, and none is wider than a sixth.
func TestBuckets(t *testing.T) {
	before := int64(-1)
	for micros := int64(0); micros < 20_000_000; micros += 1 + micros/50 {
		over, upto := bucket(micros)
		if micros <= over || micros > upto || over < before || upto > 10 && (upto-over)*6 > over {
			t.Fatalf("%d is in (%d, %d]", micros, over, upto)
		}
		before = over
	}
}
