package record_test

import (
	"context"
	"errors"
	"testing"

	"berth/internal/decision"
	"berth/internal/decision/record"
	"berth/internal/engine"
	"berth/internal/revision"
	"berth/internal/store"
	"berth/test/logtest"
)

// broken takes every entry and fails to write it.
type broken struct {
	err  error
	slot *place
}

// place is a slot that counts how often it is released.
type place struct{ released int }

func (p *place) Release() { p.released++ }

func (b broken) Submit(context.Context, *store.Entry) (func(context.Context) error, error) {
	if b.slot.released == 0 {
		return nil, errors.New("the slot is held while the record is written")
	}
	return func(context.Context) error { return b.err }, nil
}

// No answer goes out whose record did not become durable, whichever way it was asked. A question
// that binds nothing has released its slot by then.
func TestAnswersWaitForTheirRecord(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	logtest.Upload(t, h, logtest.Sample(t)...)
	disk, slot := errors.New("the disk is gone"), &place{}
	ctx := context.WithValue(t.Context(), decision.SlotKey{}, decision.Slot(slot))
	m, err := revision.Open(t.Context(), h.Store, broken{disk, slot}, revision.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}()
	l := logtest.New(m, h.Store, h.Profiles, record.Options{})
	for name, ask := range map[string]func() error{
		"decide": func() error {
			_, err := l.Decide(ctx, decision.Question{Pod: logtest.Pod(t, "w", "")})
			return err
		},
		"judge": func() error {
			_, err := logtest.Record(ctx, l, decision.Question{Verb: decision.VerbFilter, Pod: logtest.Pod(t, "w", "")}, func(*revision.View, *engine.Result) error { return nil })
			return err
		},
		"decide and bind": func() error {
			_, err := l.Decide(t.Context(), decision.Question{Pod: logtest.Pod(t, "w", ""), Bind: true})
			return err
		},
		"bind": func() error { _, err := l.Bind(t.Context(), "default", "d", "free", "", "n1"); return err },
	} {
		slot.released = 0
		if name == "bind" || name == "decide and bind" {
			slot.released = 1 // which hold it until they are submitted, or longer
		}
		if err := ask(); !errors.Is(err, disk) {
			t.Errorf("%s: answered with %v", name, err)
		}
	}
}
