package replays

import (
	"context"
	"testing"

	"berth/internal/decision/record"
	"berth/internal/jobs"
	"berth/internal/store"
)

// altered is a store in which one record's columns are others than were written.
type altered struct {
	store.Store
	id     string
	change func(*store.Decision)
}

func (s *altered) Decision(ctx context.Context, id string) (*store.Decision, error) {
	d, err := s.Store.Decision(ctx, id)
	if err == nil && id == s.id {
		s.change(d)
	}
	return d, err
}

func (s *altered) ReplayDecisions(ctx context.Context, q store.ReplayRange, after store.ReplayCursor, limit int, f func(*store.Decision) error) error {
	return s.Store.ReplayDecisions(ctx, q, after, limit, func(d *store.Decision) error {
		if d.ID == s.id {
			s.change(d)
		}
		return f(d)
	})
}

// TestColumnsAreCompared: a record whose columns SQL shows otherwise than its answer was is not
// identical, although its digest agrees.
func TestColumnsAreCompared(t *testing.T) {
	onBoth(t, func(t *testing.T, h *fixture) {
		live(t, h, 20, 5)
		rows, err := h.log.List(t.Context(), store.DecisionFilter{Cluster: "prod", Verb: "decide", Outcome: "Scheduled", Limit: 1})
		if err != nil || len(rows) == 0 {
			t.Fatal(rows, err)
		}
		for path, c := range map[string]struct {
			change func(*store.Decision)
			single bool // a batch reads less of a record
		}{
			"outcome":        {func(d *store.Decision) { d.Outcome = "Unschedulable" }, false},
			"node":           {func(d *store.Decision) { d.Node = "n-evil" }, false},
			"nominatedNode":  {func(d *store.Decision) { d.NominatedNode = "n-evil" }, false},
			"pod.uid":        {func(d *store.Decision) { d.PodUID = "evil" }, false},
			"message":        {func(d *store.Decision) { d.Message = "all is well" }, true},
			"counts.nodes":   {func(d *store.Decision) { d.NodesTotal = 1000 }, true},
			"failures[P: r]": {func(d *store.Decision) { d.Failures = []store.Failure{{Plugin: "P", Reason: "r", Nodes: 1}} }, true},
			"profile":        {func(d *store.Decision) { d.Profile = "another" }, true},
		} {
			bad := newFixture(&altered{h.Store, rows[0].ID, c.change}, h.m)
			r, err := bad.log.Replay(t.Context(), rows[0].ID, record.Overrides{})
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			if r.Identical || len(r.Differences) != 1 || r.Differences[0].Path != path {
				t.Errorf("%s: identical %t, %+v", path, r.Identical, r.Differences)
			}
			got, err := bad.log.Get(t.Context(), rows[0].ID)
			if err != nil || !got.DigestAgrees || (got.Note == "") != c.single {
				t.Errorf("%s: digest agrees %t, note %q, %v", path, got.DigestAgrees, got.Note, err)
			}
			if c.single {
				continue
			}
			j := bad.jobs(nil, jobs.Options{})
			job := start(t, j, Request{})
			finish(t, j.Worker())
			if job = get(t, j, job.ID); job.Different != 1 || job.Errors != 0 {
				t.Errorf("%s in a batch: %+v", path, job)
			}
		}
	})
}
