package record

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/jsonscan"
	"berth/internal/kube/object"
	"berth/internal/revision"
	"berth/internal/store"
	"berth/internal/upgrade"
)

// Batch answers many recorded questions of one cluster again, in order of their
// revisions: the state is walked change by change, and answers are compared by
// their digests. What differs is worked out in full. It is for one goroutine.
type Batch struct {
	l      *Log
	walk   *revision.Walk
	decide decision.Engine // the walk's
	o      Overrides       // profile, configuration and release at most
	// digests compares those that are hashed beside; nil: each is compared at once.
	digests *digests

	stamp [2]string         // an engine and its semantics, those of most records of late
	note  string            // the unknownStamp of these
	rec   record            // at hand
	stood *between          // where the last record of a placement was decided
	pod   corev1.Pod        // of its question
	room  decision.Prepared // for its question
}

// NewBatch starts a batch over a cluster's records. Overrides may replace
// profile, configuration and release.
func (l *Log) NewBatch(name string, o Overrides) *Batch {
	b := &Batch{l: l, walk: l.m.Walk(name), o: Overrides{Profile: o.Profile, Profiles: o.Profiles, Release: o.Release}}
	b.decide = b.walk.Decide
	if b.o.none() {
		b.digests = newDigests()
	}
	return b
}

// Item is a record made ready to be answered again.
type Item struct {
	d    *store.Decision
	kind Kind
	err  error
	// The pod of the question is the template with its own values; nil where there is none.
	template *corev1.Pod
	own      object.Own
	decoded  int   // what the template takes where it was decoded for this record
	in       input // kind is of, where it begins with a pod like one before
}

// Cursor is the record's place in the order of a batch.
func (i *Item) Cursor() store.ReplayCursor {
	return store.ReplayCursor{Revision: i.d.Revision, CreatedAt: i.d.CreatedAt, ID: i.d.ID}
}

// Bytes is about what the record holds: a pod that is like one before shares what is decoded.
func (i *Item) Bytes() int {
	n := len(i.d.Input) + i.decoded
	if e, ok := i.kind.(*Evaluated); ok {
		n += 4 * len(e.PodJSON)
		for _, js := range e.Nodes {
			n += len(js)
		}
	}
	return n
}

// pod returns a copy of the question's pod; nil where the snapshot has it.
func (i *Item) pod() *corev1.Pod {
	if i.template == nil {
		return nil
	}
	pod := i.own.Of(i.template)
	return &pod
}

// Reader decodes the records of a batch. It is for one goroutine, which may be another one than the
// batch's.
type Reader struct {
	pods   *object.PodCache
	before ending // of the input before
}

// NewReader makes one.
func NewReader() *Reader { return &Reader{pods: object.NewPodCache()} }

// Read decodes a record. Batch.Replay reports what is wrong with it.
func (r *Reader) Read(d *store.Decision) *Item {
	i := &Item{d: d}
	js, err := InputText(d.Input)
	if err != nil {
		i.err = fmt.Errorf("input: %w", err)
		return i
	}
	if pod, ok := bytes.CutPrefix(js, inputHead); ok { // most are of a pod like one before
		rest := r.before.text
		if len(rest) == 0 || !bytes.HasSuffix(pod, rest) {
			rest = []byte{'}'}
		}
		end := max(len(pod)-len(rest), 0)
		t, own := r.pods.Known(pod[:end])
		if t == nil && bytes.HasPrefix(pod, []byte{'{'}) {
			end = jsonscan.ValueEnd(pod, 0)
		}
		if end >= 0 && i.in.quick(js, len(inputHead)+end, &r.before) {
			if i.kind, i.template, i.own = i.in.kind(), t, own; t != nil {
				return i
			}
		}
	}
	if i.kind == nil {
		i.kind, i.err = decodeInput(js)
	}
	e, ok := i.kind.(*Evaluated)
	if i.err != nil || !ok || e.PodJSON == nil {
		return i
	}
	before := r.pods.Decoded()
	i.template, i.own, err = r.pods.SplitByKey(e.PodJSON)
	i.decoded = r.pods.Decoded() - before
	if err != nil {
		i.err = fmt.Errorf("input's pod: %w (%w)", revision.ErrCorrupt, err)
	}
	return i
}

// Comparison is the result of a record that was answered again.
type Comparison struct {
	Identical bool
	// Failed is set where it could not be answered.
	Failed bool
	// Difference is nil where the answer is identical.
	Difference *BatchDifference
}

// BatchDifference is a decision of a batch whose answer is another one, or that
// could not be answered again.
type BatchDifference struct {
	ID        string          `json:"id"`
	Snapshot  string          `json:"snapshot"`
	CreatedAt time.Time       `json:"createdAt"`
	Verb      string          `json:"verb"`
	Pod       decision.PodRef `json:"pod"`
	// Differences are by path, the first of them where there are many.
	Differences        []Difference `json:"differences,omitempty"`
	DifferencesOmitted int          `json:"differencesOmitted,omitempty"` // a node counts once where there are many
	// Changes are the differences between two releases with their causes, where the batch is under
	// another one and nothing else.
	Changes []upgrade.Change `json:"changes,omitempty"`
	// Error is why there is no answer.
	Error string `json:"error,omitempty"`
}

// maxPaths is up to how many paths of a decision a batch keeps; a replay of that
// decision alone shows all.
const maxPaths = 20

// Replay answers a record again; records come in the order of their cursors. After an
// error the batch cannot go on now: what is wrong with a record alone
// is in the comparison.
func (b *Batch) Replay(ctx context.Context, i *Item) (out Comparison, err error) {
	defer func() {
		if p := recover(); p != nil {
			b.walk.Leave()
			out, err = b.failed(i, fmt.Errorf("the engine failed: %v", p)), nil
		}
	}()
	diff, err := b.replay(ctx, i)
	switch {
	case err == nil && diff == nil:
		return Comparison{Identical: true}, nil
	case err == nil:
		return Comparison{Difference: diff}, nil
	case ctx.Err() != nil, errors.Is(err, store.ErrUnavailable), errors.Is(err, store.ErrClosed), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return Comparison{}, err
	}
	return b.failed(i, err), nil
}

func (b *Batch) failed(i *Item, err error) Comparison {
	d := differenceOf(i.d)
	d.Error = err.Error()
	return Comparison{Failed: true, Difference: d}
}

func differenceOf(d *store.Decision) *BatchDifference {
	return &BatchDifference{
		ID: d.ID, Snapshot: revision.FormatID(d.Cluster, d.Revision), CreatedAt: d.CreatedAt.UTC(), Verb: d.Verb, Pod: podOf(d),
	}
}

func (b *Batch) replay(ctx context.Context, i *Item) (*BatchDifference, error) {
	if i.err != nil {
		return nil, i.err
	}
	if note := b.unknown(i.d); note != "" {
		return nil, errors.New(note)
	}
	rec, decide, err := b.record(ctx, i)
	if err != nil {
		return nil, err
	}
	e, evaluated := rec.kind.(*Evaluated)
	if evaluated && i.template != nil {
		b.pod = i.own.Of(i.template)
		e.pod, e.owned = &b.pod, true
	}
	if err := rec.kind.read(ctx, b.l, rec); err != nil {
		return nil, err
	}
	beside := evaluated && b.digests != nil
	if evaluated {
		e.undigested, e.room = beside, &b.room
	}
	same, err := b.same(ctx, rec, beside, decide)
	if evaluated && err != nil && b.o.upgrades() {
		if _, err = upgrade.ReplyOf(ctx, nil, err); err == nil {
			same = false // the other release refuses the question, which is a change
		}
	}
	if err != nil || same {
		return nil, err
	}
	if evaluated {
		e.undigested, e.room = false, nil
		if i.template != nil { // the whole record is read more than once
			e.pod, e.owned = i.pod(), false
		}
	}
	return b.describe(ctx, rec)
}

// record returns a record with the state that it is answered on, and what decides there.
func (b *Batch) record(ctx context.Context, i *Item) (rec *record, decide decision.Engine, err error) {
	view, err := b.walk.To(ctx, i.d.Revision)
	if err != nil {
		return nil, nil, err
	}
	b.rec = record{i.d, i.kind, view}
	rec = &b.rec
	if err := rec.checkView(); err != nil {
		return nil, nil, err
	}
	stood, err := b.l.stand(ctx, rec, b.stood)
	switch {
	case err != nil:
		b.stood = nil
		return nil, nil, err
	case stood == nil:
		return rec, b.decide, nil
	}
	b.stood = stood
	return rec, stood.trial.Decide, nil
}

// same answers a record again, and reports whether its digest is the recorded one, or is compared
// beside.
func (b *Batch) same(ctx context.Context, rec *record, beside bool, decide decision.Engine) (bool, error) {
	r, err := rec.kind.replay(ctx, b.l, rec, rec.view, &b.o, decide)
	if err != nil {
		return false, err
	}
	defer r.release()
	same := beside || r.digest == rec.AnswerDigest
	if e, ok := rec.kind.(*Evaluated); ok && r.Profile.Name != e.profile.Name {
		same = false
	}
	if same && b.o.none() {
		_, same, err = b.l.effects(ctx, rec, r)
		same = same && !r.showsAnother(rec)
	}
	if err == nil && same && beside {
		b.digests.add(r.form, r.Result, rec.AnswerDigest)
	}
	return same, err
}

func (b *Batch) unknown(d *store.Decision) string {
	if d.Engine != b.stamp[0] || d.Semantics != b.stamp[1] || d.Engine == "" {
		b.stamp, b.note = [2]string{d.Engine, d.Semantics}, unknownStamp(d)
	}
	return b.note
}

// describe lists the paths in which a record's answer differs.
func (b *Batch) describe(ctx context.Context, rec *record) (*BatchDifference, error) {
	d, err := b.l.st.Decision(ctx, rec.ID)
	if err != nil {
		return nil, err
	}
	rec.Decision = d
	out := differenceOf(d)
	if e, ok := rec.kind.(*Evaluated); ok && b.o.upgrades() {
		if told, differs, err := b.l.changed(ctx, rec, e, b.o.Release, out); told || err != nil {
			if !differs {
				out = nil
			}
			return out, err
		}
	}
	r, err := b.l.differ(ctx, rec, b.o)
	if err != nil || len(r.Differences) == 0 {
		return nil, err
	}
	out.tell(r)
	return out, nil
}

// ErrDiffer is the error of answers some of which differ, where it is not known which ones.
var ErrDiffer = errors.New("digests of answers differ from the recorded ones")

// Verify compares the state that the batch has reached, and the answers since the last time, with
// the recorded digests. After an error that wraps revision.ErrCorrupt, or is ErrDiffer, what was
// answered since the last time may be wrong, and is to be answered again, after Careful or AtOnce.
func (b *Batch) Verify() error {
	if err := b.walk.Verify(); err != nil {
		return err
	}
	if b.digests != nil && !b.digests.agree() {
		return ErrDiffer
	}
	return nil
}

// AtOnce makes the batch compare every digest before it goes on.
func (b *Batch) AtOnce() { b.digests = nil }

// Careful makes the batch verify every state before it is used, too.
func (b *Batch) Careful() {
	b.AtOnce()
	b.walk.Careful()
}

// Encode writes a difference for the store.
func (d *BatchDifference) Encode() ([]byte, error) {
	js, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("encode difference: %w", err)
	}
	return js, nil
}
