package record

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/store"
)

const (
	// fillPage is how many records are read at a time, and fillRows how many one transaction
	// changes: writers to the cluster wait for it.
	fillPage, fillRows = 1000, 500
	// fillPods is how many pods' attempts are remembered at once. What falls out is not looked up
	// again, as a server does.
	fillPods = 1 << 17
)

// Filled is what a backfill of a cluster's records came to.
type Filled struct {
	Purposes, Attempts, Facts int64 // that were filled in
	// Sealed are records whose seals cover that they have no purpose or attempt: those stay.
	Sealed int64
	// NoPurpose are decisions that bound nothing, of which it is not known whether they were asked
	// to. NoAttempt are calls whose /filter may have been removed for its age.
	NoPurpose, NoAttempt int64
	// NoFacts are records whose pod cannot be read.
	NoFacts int64
}

// Backfill fills in what records of earlier releases lack. What is there stays, so that one that
// was cut off may begin again, and comes to the same.
type Backfill struct {
	l    *Log
	f    *store.Fillable
	told func(records int64)
	out  *Filled

	page, rows int // records read at a time, and changed in one transaction
}

// NewBackfill makes a backfill of a cluster. told is called with how many records were looked at,
// now and then.
func (l *Log) NewBackfill(f *store.Fillable, out *Filled, told func(records int64)) *Backfill {
	return &Backfill{l: l, f: f, out: out, told: told, page: fillPage, rows: fillRows}
}

// pages passes all records of the cluster on, a page at a time.
func (b *Backfill) pages(
	ctx context.Context, byRevision bool, f func([]*store.Decision) error,
) error {
	var at store.ReplayCursor
	for done := int64(0); ; {
		list, err := b.l.st.BackfillRecords(ctx, b.f.Cluster, byRevision, at, b.page)
		if err != nil {
			return fmt.Errorf("records of %s: %w", b.f.Cluster, err)
		}
		if len(list) == 0 {
			return nil
		}
		if err := f(list); err != nil {
			return err
		}
		last := list[len(list)-1]
		at = store.ReplayCursor{Revision: last.Revision, CreatedAt: last.CreatedAt, ID: last.ID}
		done += int64(len(list))
		b.told(done)
	}
}

// inputs passes on what records are of. A record that cannot be read is passed on with nil.
func (b *Backfill) inputs(
	ctx context.Context, list []*store.Decision, f func(*store.Decision, Kind) error,
) error {
	for len(list) > 0 {
		ids := make([]string, len(list))
		for i, d := range list {
			ids[i] = d.ID
		}
		inputs, more, err := b.l.st.Inputs(ctx, b.f.Cluster, ids)
		if err != nil {
			return fmt.Errorf("inputs of %s: %w", b.f.Cluster, err)
		}
		var rest []*store.Decision
		for _, d := range list {
			input, ok := inputs[d.ID]
			if !ok && more {
				rest = append(rest, d)
				continue
			}
			kind, err := decodeInput(input)
			if err != nil {
				kind = nil
			}
			if err := f(d, kind); err != nil {
				return err
			}
		}
		list = rest
	}
	return nil
}

// Attribute fills in purposes and attempts. Records are gone through in the order of their times,
// with what servers remember of attempts; those of earlier releases do not say which node
// kube-scheduler had nominated, so that a call about one node alone, which it turned down, counts
// as about that one.
func (b *Backfill) Attribute(ctx context.Context) error {
	known, began := newAttempts(fillPods), time.Time{}
	return b.pages(ctx, false, func(list []*store.Decision) error {
		var lacking, unclear []*store.Decision
		for _, d := range list {
			if began.IsZero() {
				began = d.CreatedAt
			}
			had := *d
			b.attempt(known, d, began)
			if had.Purpose != "" && had.Attempt != "" {
				continue
			}
			if !b.f.Open(d.Seq) {
				if d.Seq <= b.f.Last {
					b.out.Sealed++
				}
				continue
			}
			if had.Attempt == "" {
				count(&b.out.Attempts, &b.out.NoAttempt, d.Attempt)
			}
			if had.Purpose == "" {
				if d.Purpose = purposeOf(d, nil); d.Purpose == "" {
					unclear = append(unclear, d)
				} else {
					b.out.Purposes++
				}
			}
			if had.Purpose != d.Purpose || had.Attempt != d.Attempt {
				lacking = append(lacking, d)
			}
		}
		err := b.inputs(ctx, unclear, func(d *store.Decision, kind Kind) error {
			d.Purpose = purposeOf(d, kind)
			count(&b.out.Purposes, &b.out.NoPurpose, d.Purpose)
			if d.Purpose != "" && !slices.Contains(lacking, d) {
				lacking = append(lacking, d)
			}
			return nil
		})
		if err != nil {
			return err
		}
		for some := range slices.Chunk(lacking, b.rows) {
			if _, err := b.l.st.FillDecisions(ctx, b.f, some); err != nil {
				return err
			}
		}
		return nil
	})
}

func count(told, untold *int64, value string) {
	if value == "" {
		told = untold
	}
	*told++
}

// attempt works out the attempt of a record that has none, and remembers it. began is the time of
// the oldest record.
func (b *Backfill) attempt(known attempts, d *store.Decision, began time.Time) {
	if _, ok := known[d.Mode]; !ok {
		return // which no release writes
	}
	if d.Attempt == "" {
		d.Attempt = known.of(d)
		follows := d.Verb != decision.VerbDecide && d.Verb != decision.VerbFilter
		if follows && d.Attempt == d.ID && b.f.Shortened && d.CreatedAt.Sub(began) <= maxAttempt {
			d.Attempt = ""
			return
		}
	}
	known.note(d)
	if d.Verb == decision.VerbFilter && d.NodesTotal == 1 && d.NodesFeasible == 0 {
		known.retries(d)
	}
}

// purposeOf returns the purpose of a record as far as it shows: a decision that was to bind makes a
// revision where it finds a node, and may be on no nodes of the caller's own. kind may be nil.
func purposeOf(d *store.Decision, kind Kind) string {
	if p := d.KnownPurpose(); p != "" {
		return p
	}
	e, ok := kind.(*Evaluated)
	if d.Outcome == string(engine.Scheduled) || ok && e.Nodes != nil {
		return decision.PurposeQuestion
	}
	return ""
}

// Facts fills in the facts of pods that have none, of the inputs of their records and the states
// that these are on. Pods of questions have none, as servers write it.
func (b *Backfill) Facts(ctx context.Context) error {
	walk := b.l.m.Walk(b.f.Cluster)
	return b.pages(ctx, true, func(list []*store.Decision) error {
		var digests []string
		for _, d := range list {
			if d.PodDigest != "" {
				digests = append(digests, d.PodDigest)
			}
		}
		seen, err := b.l.st.FactsSeen(ctx, b.f.Cluster, digests)
		if err != nil {
			return fmt.Errorf("facts of %s: %w", b.f.Cluster, err)
		}
		var lacking []*store.Decision
		for _, d := range list {
			d.Purpose = purposeOf(d, nil)
			if d.PodDigest == "" || d.Seq > b.f.Last || d.Purpose == decision.PurposeQuestion {
				continue
			}
			if at, ok := seen[d.PodDigest]; ok && d.CreatedAt.Sub(at) < store.FactsStay {
				continue
			}
			lacking = append(lacking, d)
			seen[d.PodDigest] = d.CreatedAt
		}
		return b.facts(ctx, walk, lacking)
	})
}

// facts fills in the facts of the pods of some records.
func (b *Backfill) facts(
	ctx context.Context, walk *revision.Walk, lacking []*store.Decision,
) error {
	var ready []*store.Decision
	err := b.inputs(ctx, lacking, func(d *store.Decision, kind Kind) error {
		v, err := walk.To(ctx, d.Revision)
		var pod *corev1.Pod
		if err == nil {
			pod, err = recordedPod(v, d, kind)
		}
		if err == nil {
			d.Facts = factsOf(v, pod)
			if err = d.ValidateFacts(); err == nil {
				ready = append(ready, d)
				return nil
			}
		}
		if ctx.Err() != nil || errors.Is(err, store.ErrUnavailable) ||
			errors.Is(err, store.ErrClosed) {
			return err
		}
		b.out.NoFacts++
		return nil
	})
	if err != nil {
		return err
	}
	if len(ready) == 0 {
		return nil
	}
	if err := b.l.st.FillFacts(ctx, ready); err != nil {
		return fmt.Errorf("facts of %s: %w", b.f.Cluster, err)
	}
	b.out.Facts += int64(len(ready))
	return nil
}

// recordedPod returns the pod that a record is about, as it was judged.
func recordedPod(v *revision.View, d *store.Decision, kind Kind) (*corev1.Pod, error) {
	if kind == nil {
		return nil, fmt.Errorf("decision %s: its input: %w", d.ID, revision.ErrCorrupt)
	}
	var js []byte
	if e, ok := kind.(*Evaluated); ok {
		js = e.PodJSON
	}
	if js == nil {
		js, _ = v.Object(podKey(d.Namespace, d.Pod))
	}
	if decision.DigestOf(js) != d.PodDigest {
		return nil, fmt.Errorf("decision %s: its pod: %w", d.ID, revision.ErrCorrupt)
	}
	o, err := object.FromCanonical("Pod", js)
	if err != nil {
		return nil, fmt.Errorf("decision %s: its pod: %w", d.ID, err)
	}
	return o.Value.(*corev1.Pod), nil
}
