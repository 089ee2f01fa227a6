package replays

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/internal/jobs"
	"berth/internal/revision"
	"berth/internal/store"
)

// tampered is a store one of whose changes is another one than was written.
type tampered struct {
	store.Store
	number int64
}

func (s *tampered) ReplayChanges(ctx context.Context, cluster string, after int64, limit int) ([]*store.ReplayChange, error) {
	list, err := s.Store.ReplayChanges(ctx, cluster, after, limit)
	for _, c := range list {
		if c.Number == s.number {
			c.Change = []byte(damage)
		}
	}
	return list, err
}

func (s *tampered) RevisionsAfter(ctx context.Context, cluster string, after int64, limit int) ([]*store.Revision, error) {
	list, err := s.Store.RevisionsAfter(ctx, cluster, after, limit)
	for _, r := range list {
		if r.Number == s.number {
			r.Change = []byte(damage)
		}
	}
	return list, err
}

func (s *tampered) Revision(ctx context.Context, cluster string, number int64) (*store.Revision, error) {
	r, err := s.Store.Revision(ctx, cluster, number)
	if err == nil && number == s.number {
		r.Change = []byte(damage)
	}
	return r, err
}

// damage deletes nodes that decisions would choose.
const damage = `{"delete":[{"kind":"Node","name":"n6"},{"kind":"Node","name":"n7"}]}`

// TestDamagedChangeSpoilsNothingElse: decisions on a state that a damaged change
// led to are not judged on it.
func TestDamagedChangeSpoilsNothingElse(t *testing.T) {
	onBoth(t, func(t *testing.T, h *fixture) {
		n := live(t, h, 60, 12)
		rows, err := h.log.List(t.Context(), store.DecisionFilter{Cluster: "prod"})
		if err != nil {
			t.Fatal(err)
		}
		number := int64(0)
		for _, r := range rows { // the first bind's revision
			if r.BoundSnapshot != "" {
				if _, err := fmt.Sscanf(r.BoundSnapshot, "prod@%d", &number); err != nil {
					t.Fatal(err)
				}
			}
		}
		m, err := revision.Open(t.Context(), &tampered{h.Store, number}, nil, revision.Options{CheckpointEvery: 25})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = m.Close() }()
		bad := newFixture(h.Store, m)
		for _, chunk := range []time.Duration{time.Nanosecond, time.Hour} {
			j := bad.jobs(nil, jobs.Options{Chunk: chunk})
			job := start(t, j, Request{})
			finish(t, j.Worker())
			job = get(t, j, job.ID)
			if job.State != store.JobDone || job.Done != int64(n) || job.Different != 0 || job.Errors == 0 || job.Identical == 0 {
				t.Fatalf("%+v of %d", job, n)
			}
			for _, d := range found(t, j, job) {
				if !strings.Contains(d.Error, "damaged") {
					t.Errorf("%+v", d)
				}
			}
		}
	})
}
