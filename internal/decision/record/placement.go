package record

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/google/uuid"

	"berth/internal/decision"
	"berth/internal/kube/object"
	"berth/internal/memory"
	"berth/internal/revision"
	"berth/internal/span"
	"berth/internal/store"
)

// Placement makes the records of pods that are placed one after the other on a trial. It is for one
// goroutine.
type Placement struct {
	ID    string
	at    time.Time
	l     *Log
	trial *revision.Trial

	records  []*store.Decision
	kinds    []*Evaluated
	profiles []*store.Profile
}

// placed is a record's place in its placement.
type placed struct {
	// After is how many objects of the placement's change the state had beside the snapshot's.
	After int `json:"after"`
	// In is the record whose Change it is; empty: the revision that follows the snapshot has it.
	In string `json:"in,omitempty"`
	// Change is that of a placement that did not hold, as a revision would have it.
	Change []byte `json:"change,omitempty"`
}

// NewPlacement begins a placement on a trial.
func (l *Log) NewPlacement(t *revision.Trial) (*Placement, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("make an id: %w", err)
	}
	at := l.now()
	var ms [8]byte
	binary.BigEndian.PutUint64(ms[:], uint64(at.UnixMilli()))
	copy(id[:6], ms[2:])
	return &Placement{ID: id.String(), at: at, l: l, trial: t}, nil
}

// PlacedAround returns the times between which the records of a placement are; ok is false for what
// is no placement's id.
func PlacedAround(id string) (since, until time.Time, ok bool) {
	u, err := uuid.Parse(id)
	if err != nil || u.Version() != 7 {
		return since, until, false
	}
	var ms [8]byte
	copy(ms[2:], u[:6])
	since = time.UnixMilli(int64(binary.BigEndian.Uint64(ms[:]))).UTC()
	return since, since.Add(time.Millisecond), true
}

// Try decides a normalized question on a trial, and records nothing. The outcome is to be released
// before the trial changes.
func (l *Log) Try(ctx context.Context, t *revision.Trial, q decision.Question) (_ *decision.Outcome, err error) {
	ctx, part := span.Start(ctx, span.Evaluate)
	defer func() { part.End(err) }()
	p, err := l.scheduler.Prepare(ctx, t.View(), q)
	if err != nil {
		return nil, err
	}
	return p.Decide(ctx, t.Decide)
}

// Decide is Log.Try that makes the record. It returns the record's id.
func (p *Placement) Decide(ctx context.Context, q decision.Question) (o *decision.Outcome, id string, err error) {
	began := time.Now()
	if o, err = p.l.Try(ctx, p.trial, q); err != nil {
		return nil, "", err
	}
	d, err := p.l.columns(o)
	if err == nil {
		err = memory.Take(ctx, d.Footprint()+2*int64(len(o.PodJSON)))
	}
	if err != nil {
		o.Release()
		return nil, "", err
	}
	d.CreatedAt, d.Placement = p.at, p.ID
	kind := newEvaluated(o)
	kind.Placed = &placed{After: len(p.trial.Puts)}
	d.DurationMicros = time.Since(began).Microseconds()
	p.records, p.kinds = append(p.records, d), append(p.kinds, kind)
	if u := p.l.profiles.unstored(o.Profile); u != nil && !hasProfile(p.profiles, u) {
		p.profiles = append(p.profiles, u)
	}
	return o, d.ID, nil
}

func hasProfile(list []*store.Profile, p *store.Profile) bool {
	for _, have := range list {
		if have.Digest == p.Digest {
			return true
		}
	}
	return false
}

// End returns the records, whose inputs it writes. Where the placement does not hold they bind
// nothing, and are of questions: the first one keeps the change that is not made.
func (p *Placement) End(holds bool) ([]*store.Decision, []*store.Profile, error) {
	if !holds && len(p.records) > 0 {
		change, err := revision.AppliedChange(p.trial.Puts)
		if err != nil {
			return nil, nil, err
		}
		p.kinds[0].Placed.Change = change
		for i, d := range p.records {
			d.Purpose, d.Facts = decision.PurposeQuestion, ""
			p.kinds[i].Placed.In = p.records[0].ID
		}
	}
	for i, d := range p.records {
		var err error
		if d.Input, err = p.kinds[i].input().encode(); err != nil {
			return nil, nil, err
		}
	}
	return p.records, p.profiles, nil
}

// Written remembers that the records are in the store.
func (p *Placement) Written() {
	for _, prof := range p.profiles {
		p.l.profiles.noteStored(prof)
	}
	for _, d := range p.records {
		p.l.Written(d, nil)
	}
}

// committed is whether the placement that a decision is of held; nil for a decision of none.
func committed(d *store.Decision) *bool {
	if d.Placement == "" {
		return nil
	}
	return new(d.Purpose != decision.PurposeQuestion)
}

// between is the state that records of one placement were decided on, between two revisions.
type between struct {
	of    string // the placement's change
	trial *revision.Trial
	puts  []object.Object // of the change; nil: not read yet
}

// between returns the state that a record of a placement was decided on. before, which may be nil,
// is that of another record: it goes on from there where it can.
func (l *Log) between(ctx context.Context, rec *record, p *placed, before *between) (*between, error) {
	of := revision.FormatID(rec.Cluster, rec.Revision) + " " + p.In
	b := before
	if b == nil || b.of != of || len(b.trial.Puts) > p.After {
		base, err := l.m.View(ctx, rec.Cluster, rec.Revision)
		if err != nil {
			return nil, err
		}
		b = &between{of: of, trial: base.Trial()}
	}
	if len(b.trial.Puts) == p.After {
		return b, nil
	}
	if b.puts == nil {
		var err error
		if b.puts, err = l.changeOf(ctx, rec, p); err != nil {
			return nil, err
		}
	}
	if len(b.puts) < p.After {
		return nil, fmt.Errorf("the change of placement %s has %d objects, its record names %d: %w", rec.Placement, len(b.puts), p.After, revision.ErrCorrupt)
	}
	return b, b.trial.Put(ctx, b.puts[len(b.trial.Puts):p.After]...)
}

// changeOf reads the change of a placement.
func (l *Log) changeOf(ctx context.Context, rec *record, p *placed) ([]object.Object, error) {
	change := p.Change
	switch {
	case p.In == "":
		r, err := l.st.Revision(ctx, rec.Cluster, rec.Revision+1)
		if err != nil {
			return nil, fmt.Errorf("the change of a placement: %w", err)
		}
		change = r.Change
	case p.In != rec.ID:
		d, err := l.st.Decision(ctx, p.In)
		if err != nil {
			return nil, fmt.Errorf("the change of a placement: %w", err)
		}
		js, err := InputText(d.Input)
		if err != nil {
			return nil, fmt.Errorf("decision %s: %w", d.ID, err)
		}
		kind, err := decodeInput(js)
		if err != nil {
			return nil, fmt.Errorf("decision %s: %w", d.ID, err)
		}
		e, ok := kind.(*Evaluated)
		if !ok || e.Placed == nil {
			return nil, fmt.Errorf("decision %s is of no placement: %w", d.ID, revision.ErrCorrupt)
		}
		change = e.Placed.Change
	}
	if err := memory.Take(ctx, object.Weight(change)); err != nil {
		return nil, err
	}
	return revision.Applied(change)
}

// stand has the record's view be the state that it was decided on.
func (l *Log) stand(ctx context.Context, rec *record, before *between) (*between, error) {
	e, ok := rec.kind.(*Evaluated)
	if !ok || e.Placed == nil {
		return nil, nil
	}
	b, err := l.between(ctx, rec, e.Placed, before)
	if err != nil {
		return nil, err
	}
	rec.view = b.trial.View()
	return b, nil
}
