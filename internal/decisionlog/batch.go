package decisionlog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/cluster"
	"berth/internal/engine"
	"berth/internal/objects"
	"berth/internal/store"
)

// Batch answers many recorded questions of one cluster again, in order of their
// revisions: the state is walked change by change, and answers are told by
// their digests. What differs is worked out in full. It is for one goroutine,
// but for Ask.
type Batch struct {
	l    *Log
	walk *cluster.Walk
	o    Overrides // profile and configuration at most

	profiles map[string]*engine.Profile // by digest
	stamps   map[[2]string]string       // what unknownStamp says of engine and semantics
}

// NewBatch starts a batch over a cluster's records. Overrides may replace
// profile and configuration.
func (l *Log) NewBatch(name string, o Overrides) *Batch {
	return &Batch{
		l: l, walk: l.m.Walk(name), o: Overrides{Profile: o.Profile, Profiles: o.Profiles},
		profiles: map[string]*engine.Profile{}, stamps: map[[2]string]string{},
	}
}

// Asked is a record made ready to be answered again.
type Asked struct {
	d   *store.Decision
	in  *input
	pod *corev1.Pod // nil where the snapshot holds it, and for a bind
	err error
}

// Cursor is the record's place in the order of a batch.
func (a *Asked) Cursor() store.ReplayCursor {
	return store.ReplayCursor{Revision: a.d.Revision, CreatedAt: a.d.CreatedAt, ID: a.d.ID}
}

// Bytes is about what the record holds.
func (a *Asked) Bytes() int {
	n := len(a.d.Input)
	if a.in == nil {
		return n
	}
	n += 4 * len(a.in.Pod)
	for _, js := range a.in.Nodes {
		n += len(js)
	}
	return n
}

// Asker reads records' questions. It is for one goroutine, which need not be
// the one that judges.
type Asker struct{ pods *objects.PodCache }

// NewAsker makes one.
func NewAsker() *Asker { return &Asker{pods: objects.NewPodCache()} }

// Ask reads a record's question. What is wrong with it is told by Judge.
func (k *Asker) Ask(d *store.Decision) *Asked {
	a := &Asked{d: d}
	if a.in, a.err = decodeInput(d.Input); a.err != nil || a.in.Pod == nil {
		return a
	}
	o, err := k.pods.Decode(a.in.Pod)
	if err != nil {
		a.err = fmt.Errorf("input's pod: %w (%w)", cluster.ErrCorrupt, err)
		return a
	}
	a.pod = o.Value.(*corev1.Pod)
	return a
}

// Outcome is what became of a record that was answered again.
type Outcome struct {
	Identical bool
	// Failed says that it could not be answered.
	Failed bool
	// Difference is nil where the answer is identical.
	Difference *BatchDifference
}

// BatchDifference is a decision of a batch that came out otherwise, or that
// could not be answered again.
type BatchDifference struct {
	ID        string    `json:"id"`
	Snapshot  string    `json:"snapshot"`
	CreatedAt time.Time `json:"createdAt"`
	Verb      string    `json:"verb"`
	Pod       PodRef    `json:"pod"`
	// Differences are by path, the first of them where there are many.
	Differences        []Difference `json:"differences,omitempty"`
	DifferencesOmitted int          `json:"differencesOmitted,omitempty"`
	// Error says why there is no answer.
	Error string `json:"error,omitempty"`
}

// maxPaths is up to how many paths of a decision a batch keeps; a replay of that
// decision alone shows all.
const maxPaths = 20

// Judge answers a record again; records come in the order of their cursors. An
// error says that the batch cannot go on now: what is wrong with a record alone
// is in the outcome.
func (b *Batch) Judge(ctx context.Context, a *Asked) (out Outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			b.walk.Leave()
			out, err = b.failed(a, fmt.Errorf("the engine failed: %v", p)), nil
		}
	}()
	diff, err := b.judge(ctx, a)
	switch {
	case err == nil && diff == nil:
		return Outcome{Identical: true}, nil
	case err == nil:
		return Outcome{Difference: diff}, nil
	case ctx.Err() != nil, errors.Is(err, store.ErrUnavailable), errors.Is(err, store.ErrClosed), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return Outcome{}, err
	}
	return b.failed(a, err), nil
}

func (b *Batch) failed(a *Asked, err error) Outcome {
	d := differenceOf(a.d)
	d.Error = err.Error()
	return Outcome{Failed: true, Difference: d}
}

func differenceOf(d *store.Decision) *BatchDifference {
	return &BatchDifference{
		ID: d.ID, Snapshot: formatID(d.Cluster, d.Revision), CreatedAt: d.CreatedAt.UTC(), Verb: d.Verb, Pod: PodRef{d.Namespace, d.Pod, d.PodUID},
	}
}

func (b *Batch) judge(ctx context.Context, a *Asked) (*BatchDifference, error) {
	if a.err != nil {
		return nil, a.err
	}
	if note := b.unknown(a.d); note != "" {
		return nil, errors.New(note)
	}
	view, err := b.walk.To(ctx, a.d.Revision)
	if err != nil {
		return nil, err
	}
	if view.Digest != a.d.SnapshotDigest {
		return nil, fmt.Errorf("%s has digest %s, the record says %s: %w", view.ID(), view.Digest, a.d.SnapshotDigest, cluster.ErrCorrupt)
	}
	rec := &recalled{d: a.d, in: a.in, view: view, pod: a.pod}
	if a.in.asksNothing() {
		ans := a.in.unasked(view, a.d)
		if ans.Digest != a.d.AnswerDigest {
			return b.describe(ctx, rec)
		}
		if !b.o.none() {
			return nil, nil
		}
		al, err := b.l.alongAgain(ctx, rec)
		if err != nil || al == nil || al.digest == a.in.Along {
			return nil, err
		}
		return b.describe(ctx, rec)
	}
	if rec.pod == nil {
		if rec.pod, err = view.Pod(a.d.Namespace, a.d.Pod); err != nil {
			return nil, err
		}
	}
	if rec.profile, err = b.profile(ctx, a.d.ProfileDigest); err != nil {
		return nil, err
	}
	c, err := b.matter(rec)
	if err != nil {
		return nil, err
	}
	r, err := c.decideBy(ctx, b.walk.Decide)
	if err != nil {
		return nil, err
	}
	digest, same := r.Digest(), true
	if a.in.Along != "" && b.o.none() {
		var al *along
		if al, err = c.alongOf(r); err == nil {
			same = al.digest == a.in.Along
		}
	}
	r.Release()
	if err != nil {
		return nil, err
	}
	if same && digest == a.d.AnswerDigest && c.profile.Name == rec.profile.Name {
		return nil, nil
	}
	return b.describe(ctx, rec)
}

func (b *Batch) unknown(d *store.Decision) string {
	key := [2]string{d.Engine, d.Semantics}
	note, ok := b.stamps[key]
	if !ok {
		note = unknownStamp(d)
		if len(b.stamps) >= maxProfiles {
			clear(b.stamps)
		}
		b.stamps[key] = note
	}
	return note
}

func (b *Batch) profile(ctx context.Context, digest string) (*engine.Profile, error) {
	if p := b.profiles[digest]; p != nil {
		return p, nil
	}
	p, err := b.l.profile(ctx, digest)
	if err == nil {
		b.profiles[digest] = p
	}
	return p, err
}

// matter makes the question ready: as it was, or under the batch's profile.
func (b *Batch) matter(rec *recalled) (*matter, error) {
	q, err := rec.in.question(rec.view, rec.pod)
	if err != nil {
		return nil, err
	}
	q.Verb, q.Now = rec.d.Verb, rec.d.Now.UTC()
	q.classes = rec.in.recorded()
	q.Profiles, q.Profile = []*engine.Profile{rec.profile}, rec.profile.Name
	if !b.o.none() {
		q.DryRun = true // what is recorded decides nothing here
		q.Profiles, q.Profile = b.o.Profiles, b.o.Profile
	}
	c := &matter{q: q, view: rec.view, state: rec.view.State, pod: rec.pod, asked: rec.in.Pod}
	if err := b.l.settle(c, afresh); err != nil {
		return nil, err
	}
	c.names = nil
	if rec.in.Only != nil {
		if c.names, err = rec.in.Only.names(c.state.Nodes()); err != nil {
			return nil, err
		}
	}
	rec.names = c.names
	return c, nil
}

// describe says in which paths a record's answer came out otherwise.
func (b *Batch) describe(ctx context.Context, rec *recalled) (*BatchDifference, error) {
	d, err := b.l.st.Decision(ctx, rec.d.ID)
	if err != nil {
		return nil, err
	}
	rec.d = d
	r, err := b.l.differ(ctx, rec, b.o)
	if err != nil || len(r.Differences) == 0 {
		return nil, err
	}
	out := differenceOf(d)
	// What the answer came to goes first, and what single nodes had to do with it
	// second.
	whole := func(d Difference) bool { return !strings.Contains(d.Path, "[") }
	slices.SortStableFunc(r.Differences, func(a, b Difference) int {
		if whole(a) == whole(b) {
			return 0
		}
		if whole(a) {
			return -1
		}
		return 1
	})
	out.Differences, out.DifferencesOmitted = r.Differences, r.DifferencesOmitted
	if n := len(out.Differences); n > maxPaths {
		out.Differences, out.DifferencesOmitted = out.Differences[:maxPaths], out.DifferencesOmitted+n-maxPaths
	}
	return out, nil
}

// Verify holds the state that the batch has come to against its recorded
// digest. An error that wraps cluster.ErrCorrupt says that what was judged since
// the last time may be wrong, and is to be judged again after Careful.
func (b *Batch) Verify() error { return b.walk.Verify() }

// Careful makes the batch verify every state before it is used.
func (b *Batch) Careful() { b.walk.Careful() }

// Encode writes a difference for the store.
func (d *BatchDifference) Encode() ([]byte, error) {
	js, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("encode difference: %w", err)
	}
	return js, nil
}
