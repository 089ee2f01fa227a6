package record

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/revision"
	"berth/internal/semantics"
	"berth/internal/store"
)

// Overrides replace parts of a recorded question.
type Overrides struct {
	Snapshot string            // an id, such as prod@latest
	Profile  string            // a profile's name, of Profiles or the server's
	Profiles []*engine.Profile // another configuration
	// Release has the recorded profile as another release of Kubernetes has it. It counts where
	// neither Profile nor Profiles are given.
	Release *semantics.Release
	Pod     *corev1.Pod
}

func (o *Overrides) none() bool { return o.String() == "" }

// String names what is not as recorded.
func (o *Overrides) String() string {
	var names []string
	for _, given := range []struct {
		name string
		is   bool
	}{{"snapshot", o.Snapshot != ""}, {"pod", o.Pod != nil}, {"profile", o.Profile != ""}, {"config", len(o.Profiles) > 0}, {"semantics", o.Release != nil}} {
		if given.is {
			names = append(names, given.name)
		}
	}
	return strings.Join(names, " ")
}

// Replay is a recorded question answered once more.
type Replay struct {
	// Identical is set where the answer is the recorded one: without overrides to
	// the last score of the last node, with them in everything that is compared.
	Identical bool `json:"identical"`
	// Differences are by path in the two answers; identities, times and durations
	// are left out.
	Differences        []Difference     `json:"differences"`
	DifferencesOmitted int              `json:"differencesOmitted,omitempty"`
	Decision           *decision.Answer `json:"decision"`
	Note               string           `json:"note,omitempty"`
} // @name Replay

// Replay answers a recorded question again. Without overrides everything is as
// recorded, and the answer must be identical; a record of an engine or of
// semantics that this version does not know is replayed all the same, with a note
// about it. That it was answered again is on record before Replay returns.
func (l *Log) Replay(ctx context.Context, id string, o Overrides) (*Replay, error) {
	d, err := l.Record(ctx, id)
	if err != nil {
		return nil, err
	}
	rec, err := l.read(ctx, d)
	if err != nil {
		return nil, err
	}
	out, err := l.differ(ctx, rec, o)
	if err != nil {
		return nil, err
	}
	return out, l.recordReplay(ctx, d, &o, out)
}

// recordReplay writes down what a replay came to.
func (l *Log) recordReplay(ctx context.Context, d *store.Decision, o *Overrides, r *Replay) error {
	id, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("make an id: %w", err)
	}
	err = l.st.PutReplay(ctx, &store.ReplayResult{
		ID: id.String(), Cluster: d.Cluster, DecisionID: d.ID, Seq: d.Seq, Identical: r.Identical,
		Differences: int64(len(r.Differences) + r.DifferencesOmitted), Overrides: o.String(),
		Semantics: r.Decision.Semantics, ProfileDigest: r.Decision.ProfileDigest, CreatedAt: l.now(), Asked: store.AskedOf(ctx),
	})
	if err != nil {
		return fmt.Errorf("record the replay of decision %s: %w", d.ID, err)
	}
	return nil
}

// differ answers a record again, under overrides or none, and compares.
func (l *Log) differ(ctx context.Context, rec *record, o Overrides) (*Replay, error) {
	base, err := l.replay(ctx, rec)
	if err != nil {
		return nil, err
	}
	defer base.release()
	out := &Replay{Note: unknownStamp(rec.Decision)}
	agrees := base.digest == rec.AnswerDigest
	if !agrees && out.Note == "" {
		out.Note = otherEngine(rec.Decision)
	}
	if o.none() {
		err = l.compareAsRecorded(ctx, rec, base, agrees, out)
	} else {
		err = l.compareUnder(ctx, rec, base, agrees, o, out)
	}
	if err != nil {
		return nil, err
	}
	out.Decision.ID, out.Decision.CreatedAt = rec.ID, rec.CreatedAt.UTC()
	return out, nil
}

// compareAsRecorded compares the answer with the record, and with the columns that SQL shows of it.
// Where its digest is another, the recorded answer is known by its columns only.
func (l *Log) compareAsRecorded(ctx context.Context, rec *record, r *replayed, agrees bool, out *Replay) error {
	e, same, err := l.effects(ctx, rec, r)
	if err != nil {
		return err
	}
	out.Identical = agrees && same
	if !same {
		out.Differences = append(out.Differences, Difference{Path: "boundAlong", Recorded: rec.kind.recordedEffects(), Replayed: e.Digest})
	}
	if out.Decision, err = r.answer(ctx, rec, ""); err != nil {
		return err
	}
	if agrees {
		err := out.compare(fromColumns(rec.Decision), r.shown(rec), true)
		out.Identical = same && len(out.Differences) == 0
		return err
	}
	full, err := r.answer(ctx, rec, engine.ExplainFull)
	if err != nil {
		return err
	}
	return out.compare(fromColumns(rec.Decision), columnsOf(full), true)
}

var errNoOverride = errors.New("a ledger bind has neither profile nor pod to replace")

// compareUnder compares the answer under overrides with the answer as recorded.
func (l *Log) compareUnder(ctx context.Context, rec *record, base *replayed, agrees bool, o Overrides, out *Replay) error {
	view := rec.view
	if o.Snapshot != "" {
		name, rev, err := revision.ParseID(o.Snapshot)
		if err != nil {
			return decision.Errorf(decision.Malformed, "snapshot", "%v", err)
		}
		if view, err = l.m.View(ctx, name, rev); err != nil {
			return err
		}
	}
	if base.Outcome == nil && (o.Profile != "" || len(o.Profiles) > 0 || o.Pod != nil) {
		return decision.Errorf(decision.Invalid, "pod", "%v", errNoOverride)
	}
	r, err := rec.kind.replay(ctx, l, rec, view, &o, engine.Decide)
	if err != nil {
		return err
	}
	defer r.release()
	full, err := r.answer(ctx, rec, engine.ExplainFull)
	if err != nil {
		return err
	}
	if out.Decision, err = r.answer(ctx, rec, ""); err != nil {
		return err
	}
	if r.Outcome == nil {
		a := out.Decision
		a.Cluster, a.Snapshot, a.SnapshotDigest, a.BoundSnapshot = view.Cluster, view.ID(), view.Digest, ""
	}
	was := fromColumns(rec.Decision)
	if agrees {
		if was, err = base.answer(ctx, rec, engine.ExplainFull); err != nil {
			return err
		}
	} else {
		full = columnsOf(full)
	}
	if err := out.compare(was, full, false); err != nil {
		return err
	}
	out.Identical = len(out.Differences) == 0
	return nil
}

// columnsOf leaves of an answer what a record keeps in columns.
func columnsOf(a *decision.Answer) *decision.Answer {
	out := *a
	out.Suggestions = nil
	out.Decision = engine.Decision{
		Outcome: a.Outcome, Node: a.Node, NominatedNode: a.NominatedNode, Message: a.Message, Priority: a.Priority,
		Counts: a.Counts, Failures: a.Failures, Digest: a.Digest,
	}
	return &out
}
