package record

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/memory"
	"berth/internal/store"
)

// Asked is a pod as a decision was asked about it, and when.
type Asked struct {
	Pod *corev1.Pod
	At  time.Time
}

// historyPage is how many records are read at once.
const historyPage = 1000

// Started returns the revision that the first decision of a window was made on; store.ErrNotFound
// where the window has none.
func (l *Log) Started(ctx context.Context, name string, since, until time.Time) (revision int64, err error) {
	err = l.st.ReplayDecisions(ctx, windowOf(name, since, until), store.ReplayCursor{}, 1, func(d *store.Decision) error {
		revision = d.Revision
		return nil
	})
	if err == nil && revision == 0 {
		err = fmt.Errorf("decisions of %s: %w", name, store.ErrNotFound)
	}
	return revision, err
}

func windowOf(name string, since, until time.Time) store.ReplayRange {
	return store.ReplayRange{Cluster: name, Since: since.UTC(), Until: until.UTC(), Last: math.MaxInt64}
}

// History returns the pods of the decisions of a window, each as its first decision had it, in the
// order in which they were decided; at most so many, and more reports whether there are others.
// What was decided without a pod of its own in the record is read from its revision. Progress is
// called with how many records were read.
func (l *Log) History(ctx context.Context, name string, since, until time.Time, most int, progress func(done int)) (out []Asked, more bool, err error) {
	reader, walk, q := NewReader(), l.m.Walk(name), windowOf(name, since, until)
	index, done := map[decision.PodRef]int{}, 0
	var after store.ReplayCursor
	for limit, next := historyPage, true; next; {
		size, n := 0, 0
		err := l.st.ReplayDecisions(ctx, q, after, limit, func(d *store.Decision) error {
			after = store.ReplayCursor{Revision: d.Revision, CreatedAt: d.CreatedAt, ID: d.ID}
			size, n = size+len(d.Input), n+1
			i := reader.Read(d)
			_, ok := i.kind.(*Evaluated)
			if i.err != nil || !ok {
				return i.err // a bind alone asked about no pod
			}
			// Decisions of one moment, of different revisions, come in the order of these.
			k := decision.PodRef{Namespace: d.Namespace, Name: d.Pod}
			if at, known := index[k]; known && !d.CreatedAt.Before(out[at].At) {
				return nil
			}
			pod := i.pod()
			if pod == nil {
				view, err := walk.To(ctx, d.Revision)
				if err != nil {
					return err
				}
				if pod, err = view.Pod(d.Namespace, d.Pod); err != nil {
					return err
				}
			}
			at, known := index[k]
			if !known {
				if len(out) == most {
					more = true
					return nil
				}
				if err := memory.Take(ctx, int64(i.Bytes())); err != nil {
					return err
				}
				at = len(out)
				index[k], out = at, append(out, Asked{})
			}
			out[at] = Asked{Pod: pod, At: d.CreatedAt}
			return nil
		})
		if err != nil || more {
			return nil, more, err
		}
		if done += n; progress != nil {
			progress(done)
		}
		limit, next = store.NextPage(limit, n, size, historyPage)
	}
	slices.SortStableFunc(out, func(a, b Asked) int { return a.At.Compare(b.At) })
	return out, false, nil
}
