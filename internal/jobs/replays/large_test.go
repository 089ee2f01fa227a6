package replays

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/jobs"
	"berth/internal/kube/object"
	"berth/internal/store"
)

// committed notes how far a job was with each commit.
type committed struct {
	store.Store
	done []int64
}

func (c *committed) AdvanceReplay(ctx context.Context, before, after *store.ReplayPart, differ []*store.ReplayDifference, lease time.Duration) (string, error) {
	c.done = append(c.done, after.Done)
	return c.Store.AdvanceReplay(ctx, before, after, differ, lease)
}

// TestChunksAreBoundedByWhatPodsTakeDecoded: what is kept until it is verified is twenty times the
// text of a list of volumes.
func TestChunksAreBoundedByWhatPodsTakeDecoded(t *testing.T) {
	const records, volumes, most = 9, 20_000, 3
	h := openFixture(t, backends["sqlite"](t))
	if _, _, err := h.m.Upload(t.Context(), "prod", func(yield func(object.Object) error) (map[string]int, error) {
		return nil, yield(node(t, 1))
	}); err != nil {
		t.Fatal(err)
	}
	for i := range records {
		p := decoded(t, fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p%d","namespace":"d"},"spec":{"containers":[{"name":"c%d"}]}}`, i, i)).Value.(*corev1.Pod)
		for range volumes {
			p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "a"})
		}
		if _, err := h.log.Decide(t.Context(), decision.Question{Cluster: "prod", Pod: p}); err != nil {
			t.Fatal(err)
		}
	}
	st := &committed{Store: h.Store}
	j := h.jobs(st, jobs.Options{Chunk: time.Hour})
	job := start(t, j, Request{})
	finish(t, j.Worker())
	want(t, get(t, j, job.ID), records, 0, 0)
	before := int64(0)
	for _, done := range st.done {
		if done > before+most {
			t.Errorf("%d records of 9 MB are kept", done-before)
		}
		before = done
	}
}
