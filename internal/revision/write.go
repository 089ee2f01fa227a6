package revision

import (
	"context"
	"errors"
	"fmt"

	"berth/internal/engine"
	"berth/internal/engine/recall"
	"berth/internal/kube/object"
	"berth/internal/steps"
	"berth/internal/store"
)

// lostError is the error of a write whose parent was not the newest. It wraps store.ErrConflict.
type lostError struct{ err error }

func (e *lostError) Error() string { return e.err.Error() }
func (e *lostError) Unwrap() error { return e.err }

// Step is what is written together. Without Bind, Apply and Delete only the
// decision is recorded and no revision made. Where there is a revision, its
// number becomes the decision's BoundRevision.
type Step struct {
	Bind     *Bind
	Apply    []object.Object
	Delete   []object.Key
	Decision *store.Decision
	Profile  *store.Profile
	// Placed are the decisions of a placement, in their order, in place of Decision, and Profiles
	// theirs. Apply has the pods that they bind.
	Placed   []*store.Decision
	Profiles []*store.Profile
	// Hold holds the pods that Placed binds; nil: they are bound for good.
	Hold *Hold
	// Spooled is set by Update if the decision is durable on the local disk and not in the store
	// yet.
	Spooled bool
	// Before, where not nil, is called with the view that the step makes, or with the newest one
	// where it makes none, before the step is written. Its error leaves the step unwritten.
	Before func(v *View) error
	// Meanwhile, where not nil, is called without the lock while the step is being written. The
	// write may yet fail.
	Meanwhile func()

	holds *holdStep
}

// revises reports whether the step makes a revision.
func (s *Step) revises() bool {
	return s != nil && (s.Bind != nil || len(s.Apply)+len(s.Delete) > 0 || s.holds != nil)
}

// Update runs f under the cluster's writer lock on its newest view and writes the step that f
// returns, whole or not at all. A nil step writes nothing. If parent is neither 0 nor the newest,
// the error wraps store.ErrConflict. f may run again after a conflict, and where it refuses on a
// view that is not the newest in the store. Update returns the view after the step, once the step
// and everything that f could read are durable. Other writers go on meanwhile.
func (m *Manager) Update(ctx context.Context, cluster string, parent int64, f func(v *View) (*Step, error)) (*View, *Step, error) {
	var view *View
	var step *Step
	err := retry(ctx, func() (err error) {
		// A refusal on the newest revision known here is final only if the store has none newer.
		for {
			var on *View
			view, step, err = m.update(ctx, cluster, parent, func(v *View) (*Step, error) {
				step, err := f(v)
				if on = nil; err != nil && parent == 0 {
					on = v
				}
				return step, err
			})
			if err == nil || on == nil {
				return err
			}
			newer, lookErr := m.CatchUp(ctx, on)
			if lookErr != nil {
				return lookErr
			}
			if newer == nil {
				return err
			}
		}
	})
	if err != nil {
		return nil, nil, err
	}
	return view, step, nil
}

func (m *Manager) update(ctx context.Context, cluster string, parent int64, f func(v *View) (*Step, error)) (*View, *Step, error) {
	l, err := m.chain(ctx, cluster, false)
	if err != nil {
		return nil, nil, m.absent(cluster, err)
	}
	defer m.leave(l)
	head, step, v, err := m.stepLocked(ctx, l, parent, f)
	if head == nil {
		return nil, nil, err
	}
	if v != nil {
		return v, step, m.finish(ctx, v.write, step.Meanwhile)
	}
	if err == nil && step != nil && step.Meanwhile != nil {
		step.Meanwhile()
	}
	// What f read may yet be refused, and its answer would be wrong then.
	if werr := head.write.wait(ctx); werr != nil {
		return nil, nil, werr
	}
	if err == nil && step != nil && step.Before != nil {
		err = step.Before(head)
	}
	switch {
	case err != nil || step == nil:
	case step.Decision != nil:
		step.Spooled, err = m.RecordEntry(ctx, step.Decision, step.Profile)
	case step.Placed != nil:
		step.Spooled, err = m.record(ctx, &store.Entry{Placed: step.Placed, Profiles: step.Profiles, Fresh: true})
	}
	return head, step, err
}

// stepLocked is the part of update under the lock. head is nil if f did not run, v if no revision
// was begun.
func (m *Manager) stepLocked(ctx context.Context, l *chain, parent int64, f func(v *View) (*Step, error)) (head *View, step *Step, v *View, err error) {
	if err := l.lock(ctx); err != nil {
		return nil, nil, nil, err
	}
	defer l.unlock()
	defer m.unlockStore(l)
	head, epoch, err := m.parent(ctx, l, parent)
	if err != nil {
		return head, nil, nil, err
	}
	if head.due(m) {
		if err := m.expireLocked(ctx, l, head, epoch); err != nil {
			return nil, nil, nil, err
		}
		if head, epoch, err = m.parent(ctx, l, parent); err != nil {
			return head, nil, nil, err
		}
	}
	store.KeyedOf(ctx).Retry()
	if step, err = f(head); err != nil || !step.revises() {
		return head, step, nil, err
	}
	v, dead, err := m.begin(ctx, l, head, epoch, step)
	switch {
	case err != nil && dead:
		return nil, nil, nil, err
	case err != nil:
		return head, step, nil, err
	}
	return head, step, v, nil
}

// begin submits the revision of a step. dead is set where what the step was made on is not to be
// waited for.
func (m *Manager) begin(ctx context.Context, l *chain, head *View, epoch uint64, step *Step) (v *View, dead bool, err error) {
	if step.Hold != nil {
		if step.holds, err = m.holdOf(ctx, head, step); err != nil {
			return nil, false, err
		}
	}
	x := difference{apply: step.Apply, del: step.Delete, bind: step.Bind, recorded: step.Decision != nil, cause: causeChange, holds: step.holds}
	if x.placed = placedPods(step.Placed); x.bind != nil || len(x.placed) > 0 {
		x.cause = causeBind
	}
	if step.holds != nil && step.holds.cause != "" {
		x.cause = step.holds.cause
	}
	v, r, err := m.grow(ctx, head, x)
	if err != nil {
		return nil, false, err
	}
	e := &store.Entry{Revision: r, Decision: step.Decision, Profile: step.Profile, Placed: step.Placed, Profiles: step.Profiles, Fresh: true}
	if step.holds != nil {
		e.Holds = step.holds.rows
	}
	for d := range e.Decisions() {
		d.BoundRevision = v.Revision
	}
	if step.Before != nil {
		if err := step.Before(v); err != nil {
			return nil, false, err
		}
	}
	return v, true, m.submit(ctx, l, epoch, v, e)
}

// placedPods are the pods that decisions bind.
func placedPods(list []*store.Decision) map[object.Key]bool {
	if list == nil {
		return nil
	}
	pods := make(map[object.Key]bool, len(list))
	for _, d := range list {
		if d.Outcome == string(engine.Scheduled) {
			pods[object.Key{Kind: "Pod", Namespace: d.Namespace, Name: d.Pod}] = true
		}
	}
	return pods
}

// parent returns the view that a write extends, and its epoch, also for a cluster without
// revisions. If revision is not the newest, the newest comes with the error: the error holds once
// that is durable. The caller holds the chain's writer token.
func (m *Manager) parent(ctx context.Context, l *chain, revision int64) (*View, uint64, error) {
	if err := m.lockStore(ctx, l); err != nil {
		return nil, 0, err
	}
	for again := false; ; again = true {
		head, epoch, err := m.head(ctx, l)
		switch {
		case err != nil:
			return nil, epoch, err
		case revision == 0 || revision == head.Revision:
			return head, epoch, nil
		case revision < head.Revision:
			// With the head: it may yet be refused, and then was never the newest.
			detail := fmt.Sprintf("%s is not the newest, which is %s", FormatID(l.name, revision), head.ID())
			return head, 0, &ConflictError{Detail: detail, Revision: head.Revision}
		case again:
			return nil, 0, fmt.Errorf("%s: %w", FormatID(l.name, revision), store.ErrNotFound)
		}
		m.apply(l, outdated{epoch}) // another process may have written it
	}
}

// Change makes the next revision by applying and deleting objects without admission. Parent 0
// stands for the newest. For another parent that is not the newest the error wraps
// store.ErrConflict. A request that cannot be carried out is an *InvalidError.
func (m *Manager) Change(ctx context.Context, cluster string, parent int64, apply []object.Object, del []object.Key) (*View, error) {
	v, _, err := m.Update(ctx, cluster, parent, func(*View) (*Step, error) { return &Step{Apply: apply, Delete: del}, nil })
	return v, err
}

// Upload makes a revision of everything that read yields, without admission: the cluster that it
// comes from has admitted it. If the newest revision has the same content, Upload returns that, and
// created is false. Objects are compiled as they come and not kept.
func (m *Manager) Upload(ctx context.Context, cluster string, read object.Reader) (v *View, created bool, err error) {
	return m.upload(ctx, cluster, true, func() (*View, error) { return collect(ctx, read) })
}

// UploadResolved is Upload that sets the priority of pods without one from their class or the
// default class, once. stored has the classes that the upload lacks. Unless it may, an upload that
// has neither nodes nor pods does not replace a revision that has: *EmptiesError.
func (m *Manager) UploadResolved(ctx context.Context, cluster string, read object.Reader, stored Classes, mayEmpty bool) (v *View, created bool, err error) {
	return m.upload(ctx, cluster, mayEmpty, func() (*View, error) { return collectResolved(ctx, read, stored) })
}

func (m *Manager) upload(ctx context.Context, cluster string, mayEmpty bool, collect func() (*View, error)) (v *View, created bool, err error) {
	if err := CheckName(cluster); err != nil {
		return nil, false, err
	}
	fresh, err := collect()
	if err != nil {
		return nil, false, err
	}
	l, err := m.chain(ctx, cluster, true)
	if err != nil {
		return nil, false, err
	}
	defer m.leave(l)
	var checkpoint []byte
	if have := l.held(0); have == nil || have.Digest != fresh.Digest {
		// Most likely needed, and no caller holds the lock yet.
		if checkpoint, err = encodeCheckpoint(ctx, fresh.inv); err != nil {
			return nil, false, err
		}
	}
	err = retry(ctx, func() error {
		v, created, err = m.uploadLocked(ctx, l, fresh, mayEmpty, &checkpoint)
		switch {
		case err != nil:
			return err
		case created:
			return m.finish(ctx, v.write, nil)
		default:
			return v.write.wait(ctx)
		}
	})
	if err != nil {
		return nil, false, err
	}
	m.trim(l)
	return v, created, nil
}

// inhabited counts a revision's nodes and pods.
func inhabited(v *View) int { return v.Summary.Objects["Node"] + v.Summary.Objects["Pod"] }

func (m *Manager) uploadLocked(ctx context.Context, l *chain, fresh *View, mayEmpty bool, checkpoint *[]byte) (*View, bool, error) {
	if err := l.lock(ctx); err != nil {
		return nil, false, err
	}
	defer l.unlock()
	defer m.unlockStore(l)
	head, epoch, err := m.parent(ctx, l, 0)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, false, err
	}
	store.KeyedOf(ctx).Retry()
	if head != nil && head.Digest == fresh.Digest {
		return head, false, nil
	}
	if head != nil && !mayEmpty && inhabited(fresh) == 0 && inhabited(head) > 0 {
		return nil, false, &EmptiesError{ID: head.ID(), Nodes: head.Summary.Objects["Node"], Pods: head.Summary.Objects["Pod"]}
	}
	if *checkpoint == nil {
		if *checkpoint, err = encodeCheckpoint(ctx, fresh.inv); err != nil {
			return nil, false, err
		}
	}
	v := &View{
		Cluster: l.name, Digest: fresh.Digest, CreatedAt: m.now(), Cause: causeUpload,
		State: fresh.State, Summary: fresh.Summary, inv: fresh.inv, decider: recall.NewPool(),
	}
	parent := ""
	if head != nil {
		v.Summary.Holds = head.Summary.Holds // an upload ends none
		v.Revision, parent = head.Revision+1, head.token
	} else if v.Revision, err = m.first(l.name); err != nil {
		return nil, false, err
	}
	v.token, v.checkpoint = store.NewToken(v.Revision), v.Revision
	r, err := revisionOf(v, parent)
	if err != nil {
		return nil, false, err
	}
	if err := m.wakeUpload(ctx, head, v); err != nil {
		return nil, false, err
	}
	var from *inventory
	if head != nil {
		from = head.inv
	}
	differ, err := replaced(steps.Of(ctx), from, fresh.inv)
	if err != nil {
		return nil, false, err
	}
	differ.into(r)
	c := &store.Checkpoint{Cluster: l.name, Number: v.Revision, Payload: *checkpoint, Woken: v.woken.encode()}
	if err := store.KeyedOf(ctx).Prepare(v); err != nil {
		return nil, false, err
	}
	return v, true, m.submit(ctx, l, epoch, v, &store.Entry{Revision: r, Checkpoint: c})
}
