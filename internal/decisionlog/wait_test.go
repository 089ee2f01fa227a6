package decisionlog_test

import (
	"context"
	"errors"
	"testing"

	"berth/internal/cluster"
	"berth/internal/decision"
	"berth/internal/decisionlog"
	"berth/internal/decisionlog/logtest"
	"berth/internal/engine"
	"berth/internal/store"
)

// broken takes every entry and fails to write it.
type broken struct{ err error }

func (b broken) Submit(context.Context, *store.Entry) (func(context.Context) error, error) {
	return func(context.Context) error { return b.err }, nil
}

// No answer goes out whose record did not become durable, whichever way it was asked.
func TestAnswersWaitForTheirRecord(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	logtest.Upload(t, h, logtest.Sample(t)...)
	disk := errors.New("the disk is gone")
	m, err := cluster.Open(t.Context(), h.Store, broken{disk}, cluster.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}()
	l := logtest.New(m, h.Store, h.Profiles, decisionlog.Options{})
	for name, ask := range map[string]func() error{
		"decide": func() error {
			_, err := l.Decide(t.Context(), decision.Question{Pod: logtest.Pod(t, "w", "")})
			return err
		},
		"judge": func() error {
			_, err := l.Evaluate(t.Context(), decision.Question{Verb: decision.VerbFilter, Pod: logtest.Pod(t, "w", "")}, func(*cluster.View, *engine.Result) error { return nil })
			return err
		},
		"decide and bind": func() error {
			_, err := l.Decide(t.Context(), decision.Question{Pod: logtest.Pod(t, "w", ""), Bind: true})
			return err
		},
		"bind": func() error { _, err := l.Bind(t.Context(), "default", "d", "free", "", "n1"); return err },
	} {
		if err := ask(); !errors.Is(err, disk) {
			t.Errorf("%s: answered with %v", name, err)
		}
	}
}
