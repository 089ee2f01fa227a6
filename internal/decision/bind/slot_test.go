package bind_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"berth/internal/decision"
	"berth/internal/decision/bind"
	"berth/internal/decision/record"
	"berth/internal/revision"
	"berth/internal/store"
	"berth/internal/store/groupcommit"
	"berth/test/logtest"
)

// place is a slot that reports when it is released.
type place chan struct{}

func (p place) Release() { close(p) }

// patient ends each write when its caller has released its slot.
type patient struct {
	revision.Committer
	slot place
}

func (c patient) Submit(ctx context.Context, e *store.Entry) (func(context.Context) error, error) {
	wait, err := c.Committer.Submit(ctx, e)
	return func(ctx context.Context) error {
		select {
		case <-c.slot:
			return wait(ctx)
		case <-time.After(10 * time.Second):
			return errors.New("the slot is held while the record is written")
		}
	}, err
}

func TestABindHoldsNoSlotWhileItIsWritten(t *testing.T) {
	h := logtest.Open(t, t.TempDir())
	logtest.Upload(t, h, logtest.Sample(t)...)
	p, g := place(make(chan struct{})), groupcommit.NewGroup(h.Store, groupcommit.Options{})
	m, err := revision.Open(t.Context(), h.Store, patient{g, p}, revision.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(m.Close(), g.Close(context.Background())); err != nil {
			t.Error(err)
		}
	}()
	b := bind.New(m, logtest.New(m, h.Store, h.Profiles, record.Options{}).Log, bind.Options{})
	ctx := context.WithValue(t.Context(), decision.SlotKey{}, decision.Slot(p))
	a, err := b.Decide(ctx, decision.Question{Cluster: "default", Pod: logtest.Pod(t, "w", "")})
	if err != nil || a.BoundSnapshot != "default@2" {
		t.Fatalf("%+v: %v", a, err)
	}
}
