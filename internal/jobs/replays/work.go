package replays

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"berth/internal/decision/record"
	"berth/internal/jobs"
	"berth/internal/memory"
	"berth/internal/revision"
	"berth/internal/store"
)

const (
	// pageSize is how many records are read at a time at most, and firstPage at first: the first
	// answer waits for them. chunkSize and chunkBytes are after how many at the latest progress is
	// committed.
	pageSize   = 1024
	firstPage  = 64
	chunkSize  = 8192
	chunkBytes = 4 * store.PageBytes
	// slice is after how long a worker lets others go first.
	slice = 500 * time.Microsecond
	// maxAttempts is how often a part is begun without progress before its job is
	// given up: a record that kills the process must not do so for ever.
	maxAttempts = 10
)

// Work works on jobs, this process's and others', until ctx ends.
func (j *Jobs) Work(ctx context.Context) {
	j.Jobs.Work(ctx, func() jobs.Runner { return j.Worker().run })
}

// Worker works on one part at a time. It is for one goroutine.
type Worker struct {
	j     *Jobs
	job   string        // that batch is of
	batch *record.Batch // kept from one part to the next, which often follows it
}

// Worker makes a worker.
func (j *Jobs) Worker() *Worker { return &Worker{j: j} }

// Step claims a part and works on it until it is done, the job ends, or ctx
// does. It reports whether there was one.
func (w *Worker) Step(ctx context.Context) (worked bool, err error) { return w.j.Step(ctx, w.run) }

// run is a jobs.Runner.
func (w *Worker) run(ctx context.Context, job *store.Job) error {
	err := w.work(ctx, job)
	if err != nil {
		w.batch = nil // it may stand beyond what was counted
		jobs.LetGo(ctx, func(ctx context.Context) error { return w.j.st.ReleaseReplay(ctx, job.Part) })
		err = fmt.Errorf("part %d: %w", job.Part.Number, err)
	}
	return err
}

func (w *Worker) work(ctx context.Context, job *store.Job) error {
	part := job.Part
	if part.Attempts > maxAttempts {
		return w.j.Fail(ctx, job, fmt.Sprintf("part %d was begun %d times without progress", part.Number, part.Attempts-1))
	}
	o, err := w.j.overrides(job)
	if err != nil {
		return w.j.Fail(ctx, job, err.Error())
	}
	if w.batch == nil || w.job != job.ID {
		w.batch, w.job = w.j.log.NewBatch(job.Cluster, o), job.ID
	}
	r := &run{j: w.j, batch: w.batch, part: part, at: *part, committed: time.Now()}
	return r.all(ctx, store.ReplayRange{Cluster: job.Cluster, Since: job.Since, Until: job.Until, First: part.First, Last: part.Last})
}

// run is one claim of a part.
type run struct {
	j         *Jobs
	batch     *record.Batch
	part      *store.ReplayPart // as committed
	at        store.ReplayPart  // with what came since
	chunk     []*record.Item    // what came since
	size      int               // of chunk, in bytes
	differ    []*store.ReplayDifference
	committed time.Time
	ended     bool // the job has
}

// all answers the rest of the part again. Records are read and decoded beside.
func (r *run) all(ctx context.Context, q store.ReplayRange) error {
	reading, stop := context.WithCancel(ctx)
	defer stop()
	pages := make(chan []*record.Item, 2)
	failed := make(chan error, 1)
	go func() {
		defer close(pages)
		failed <- r.read(reading, q, r.part.Cursor, pages)
	}()
	err := r.judge(ctx, pages)
	stop()
	for range pages {
	}
	if readErr := <-failed; err == nil && !r.ended {
		err = readErr
	}
	if err != nil || r.ended {
		return err
	}
	r.at.State, r.at.Total = store.JobDone, r.at.Done
	return r.commit(ctx)
}

func (r *run) read(ctx context.Context, q store.ReplayRange, after store.ReplayCursor, pages chan<- []*record.Item) error {
	reader := record.NewReader()
	send := func(page []*record.Item) error {
		select {
		case pages <- page:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	for limit, more := firstPage, true; more; {
		var list []*store.Decision
		size := 0
		err := r.j.st.ReplayDecisions(ctx, q, after, limit, func(d *store.Decision) error {
			list, size = append(list, d), size+len(d.Input)
			return nil
		})
		if err != nil {
			return err
		}
		page, bytes := make([]*record.Item, 0, len(list)), 0
		for _, d := range list {
			after = store.ReplayCursor{Revision: d.Revision, CreatedAt: d.CreatedAt, ID: d.ID}
			a := reader.Read(d)
			if page, bytes = append(page, a), bytes+a.Bytes(); bytes < store.PageBytes {
				continue
			}
			if err := send(page); err != nil { // what was small in the store can be large
				return err
			}
			page, bytes = nil, 0
		}
		if err := send(page); err != nil {
			return err
		}
		limit, more = store.NextPage(limit, len(list), size, pageSize)
	}
	return nil
}

func (r *run) judge(ctx context.Context, pages <-chan []*record.Item) error {
	turn := time.Now()
	for page := range pages {
		for _, a := range page {
			if err := r.one(ctx, a); err != nil {
				return err
			}
			r.chunk, r.size = append(r.chunk, a), r.size+a.Bytes()
			now := time.Now()
			if now.Sub(turn) > slice { // decisions that callers wait for go first
				runtime.Gosched()
				turn = now
			}
			if now.Sub(r.committed) < r.j.Chunk && len(r.chunk) < chunkSize && r.size < chunkBytes {
				continue
			}
			if err := r.commit(ctx); err != nil || r.ended {
				return err
			}
		}
	}
	return ctx.Err()
}

// one answers a record again and counts it.
func (r *run) one(ctx context.Context, a *record.Item) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if b := r.j.Budget; b != nil {
		claim := b.PatientClaim()
		defer claim.End()
		ctx = memory.With(ctx, claim)
	}
	out, err := r.batch.Replay(ctx, a)
	if err != nil {
		return err
	}
	r.at.Done++
	r.at.Cursor = a.Cursor()
	switch {
	case out.Identical:
		r.at.Identical++
		return nil
	case out.Failed:
		r.at.Errors++
	default:
		r.at.Different++
	}
	payload, err := out.Difference.Encode()
	if err != nil {
		return err
	}
	r.differ = append(r.differ, &store.ReplayDifference{ReplayCursor: a.Cursor(), Payload: payload})
	return nil
}

// commit makes what came since the last time durable. State and answers are verified before.
func (r *run) commit(ctx context.Context) error {
	if err := r.verify(ctx); err != nil {
		return err
	}
	after := r.at
	state, err := r.j.st.AdvanceReplay(ctx, r.part, &after, r.differ, r.j.Lease)
	if err != nil {
		return err
	}
	r.j.Observe(after.Identical-r.part.Identical, after.Different-r.part.Different, after.Errors-r.part.Errors)
	r.part = &after
	clear(r.chunk)
	r.chunk, r.size, r.differ, r.committed = r.chunk[:0], 0, nil, time.Now()
	r.ended = store.JobEnded(state)
	return nil
}

// verify holds the state and the answers since the last time against their recorded digests. Where
// these are others all of it is done again: with each answer compared at once, which tells those
// that differ, and with care, were the state wrong.
func (r *run) verify(ctx context.Context) error {
	for {
		switch err := r.batch.Verify(); {
		case err == nil:
			return nil
		case errors.Is(err, record.ErrDiffer):
			r.batch.AtOnce()
		case errors.Is(err, revision.ErrCorrupt):
			r.j.Log.LogAttrs(ctx, slog.LevelError, "a batch replay came upon damaged revisions", slog.String("replay", r.part.Replay), slog.String("error", err.Error()))
			r.batch.Careful()
		default:
			return err
		}
		state, total := r.at.State, r.at.Total
		r.at, r.differ = *r.part, nil
		for _, a := range r.chunk {
			if err := r.one(ctx, a); err != nil {
				return err
			}
		}
		if r.at.State = state; state == store.JobDone {
			total = r.at.Done
		}
		r.at.Total = total
	}
}
