package revision

import (
	"slices"
	"time"
)

// message is what happened to a chain. Its step changes a copy of the state.
type message interface {
	step(b bounds, s *chainState) effects
}

// bounds are the options that transitions depend on.
type bounds struct {
	keep  int   // recent views
	every int64 // revisions between two checkpoints
}

// effects are what the caller of a transition has to do after it.
type effects struct {
	stale   bool          // nothing changed: the message is of an epoch that is over, or cannot be carried out
	newer   chan struct{} // to be closed
	quiet   chan struct{} // to be closed
	release func()        // to be called: the store's lock
	save    *View         // to be written as a checkpoint, in the background
	read    bool          // the newest revision, in the background, until the store answers
}

// transition returns the state after a message. It is pure, and does not write s.
func transition(b bounds, s *chainState, x message) (*chainState, effects) {
	next := *s
	e := x.step(b, &next)
	if e.stale {
		return s, e
	}
	return &next, e
}

// loaded: the view was the newest stored revision at a time in the epoch, or later.
type loaded struct {
	epoch uint64
	view  *View
	lead  bool // the writer read it, and extends it
}

func (x loaded) step(b bounds, s *chainState) (e effects) {
	if x.epoch < s.began {
		return effects{stale: true} // the cluster may be another one by now
	}
	s.store(b, x.view, &e)
	if _, ok := s.position.(live); ok || s.epoch != x.epoch {
		return e
	}
	v := s.views()
	s.position = v
	if x.lead {
		s.position = live{v, v.durable}
	}
	return e
}

// store adds a stored revision. Heads may have been given up since it was written or read: what is
// stored stays so, and who was told of it must not get an older one.
func (s *chainState) store(b bounds, v *View, e *effects) {
	have, newer := s.views().add(v, b.keep)
	s.position = s.with(have)
	if newer {
		e.newer, s.newer = s.newer, nil
	}
	if at, ok := s.position.(live); ok && s.inFlight == 0 && at.head.Revision < have.durable.Revision {
		s.position = live{have, have.durable}
	}
	s.checkpoint = max(s.checkpoint, v.checkpoint)
}

// outdated: the head of the epoch is not known to be the newest any more.
type outdated struct{ epoch uint64 }

func (x outdated) step(_ bounds, s *chainState) effects {
	if s.epoch != x.epoch {
		return effects{stale: true}
	}
	s.giveUp()
	return effects{}
}

// giveUp drops the head, and begins an epoch.
func (s *chainState) giveUp() {
	s.epoch++
	if at, ok := s.position.(live); ok {
		s.position = known(at.stored)
	}
}

// begun: a writer is about to submit a revision that extends the head of the epoch.
type begun struct{ epoch uint64 }

func (x begun) step(_ bounds, s *chainState) effects {
	if s.epoch != x.epoch {
		return effects{stale: true} // it would be refused
	}
	s.inFlight++
	return effects{}
}

// unsent: what was begun was not submitted.
type unsent struct{}

func (unsent) step(_ bounds, s *chainState) (e effects) {
	s.end(&e)
	return e
}

// end ends a write that was begun. The last one releases the store's lock.
func (s *chainState) end(e *effects) {
	if s.inFlight--; s.inFlight > 0 {
		return
	}
	e.quiet, s.quiet = s.quiet, nil
	s.unlock(e)
}

func (s *chainState) unlock(e *effects) {
	if l := s.contention.lock; l != nil {
		e.release, s.contention.lock = l.release, nil
	}
}

// submitted: the view was passed to the committer after all that it extends.
type submitted struct {
	epoch uint64
	view  *View
}

func (x submitted) step(_ bounds, s *chainState) effects {
	if s.epoch != x.epoch {
		return effects{stale: true} // it is going to be refused, or its outcome will be read
	}
	s.position = live{s.views(), x.view}
	return effects{}
}

// outcome is how a write ended.
type outcome int

const (
	durable outcome = iota
	refused         // its parent is not the newest revision
	failed          // it is not stored
	unknown         // it may be stored, or may yet be
)

// written: a submitted view has an outcome.
type written struct {
	epoch   uint64
	view    *View
	outcome outcome
	now     time.Time
}

func (x written) step(b bounds, s *chainState) (e effects) {
	s.end(&e)
	switch ours := s.epoch == x.epoch; x.outcome {
	case durable:
		if x.epoch >= s.began {
			s.store(b, x.view, &e)
		}
		s.checkpoint = max(s.checkpoint, x.view.checkpoint)
		if x.view.Revision-s.checkpoint >= x.view.checkpointEvery(b.every) && !s.saving {
			s.saving, e.save = true, x.view
		}
	case refused:
		s.contention.until = x.now.Add(contended)
		if ours {
			s.giveUp()
		}
	case failed:
		if ours {
			s.giveUp()
		}
	case unknown:
		if !ours {
			break
		}
		s.giveUp()
		if v := s.views(); v.durable != nil {
			s.position, e.read = uncertain{v, s.epoch}, true
		}
	}
	return e
}

// saved: the attempt to write a checkpoint has ended. The newest has this number; 0: not known.
type saved struct{ checkpoint int64 }

func (x saved) step(_ bounds, s *chainState) effects {
	s.saving, s.checkpoint = false, max(s.checkpoint, x.checkpoint)
	return effects{}
}

// checkpointed: another process has written a checkpoint of the chain.
type checkpointed struct {
	epoch      uint64
	checkpoint int64
}

func (x checkpointed) step(_ bounds, s *chainState) effects {
	if s.epoch != x.epoch || s.checkpoint >= x.checkpoint {
		return effects{stale: true}
	}
	s.checkpoint = x.checkpoint
	return effects{}
}

// recompiled: twin is the head, compiled again. The recent views go, since they hold the tables of
// before.
type recompiled struct{ head, twin *View }

func (x recompiled) step(_ bounds, s *chainState) effects {
	at, ok := s.position.(live)
	if !ok || at.head != x.head {
		return effects{stale: true} // a write on its way failed meanwhile
	}
	v := stored{durable: at.durable}
	if v.durable == x.head {
		v.durable = x.twin
	}
	s.position = live{v, x.twin}
	return effects{}
}

// evicted: the views are to make room.
type evicted struct{}

func (evicted) step(_ bounds, s *chainState) effects {
	if s.busy() {
		return effects{stale: true}
	}
	s.position = empty{}
	return effects{}
}

// forgotten: the cluster of the epoch is gone, or is another one by now.
type forgotten struct{ epoch uint64 }

func (x forgotten) step(_ bounds, s *chainState) effects {
	if s.epoch != x.epoch {
		return effects{stale: true}
	}
	s.epoch++
	s.began, s.position, s.checkpoint = s.epoch, empty{}, 0
	return effects{}
}

// deleted: a revision is no longer stored.
type deleted struct{ revision int64 }

func (x deleted) step(_ bounds, s *chainState) effects {
	v := s.views()
	v.recent = slices.DeleteFunc(slices.Clone(v.recent), func(o *View) bool { return o.Revision == x.revision })
	s.position = s.with(v)
	return effects{}
}

// awaited: a goroutine waits for a newer stored revision.
type awaited struct{ newer chan struct{} }

func (x awaited) step(_ bounds, s *chainState) effects {
	if s.newer == nil {
		s.newer = x.newer
	}
	return effects{}
}

// quieted: the writer waits until no write is in flight.
type quieted struct{ quiet chan struct{} }

func (x quieted) step(_ bounds, s *chainState) effects {
	if s.inFlight == 0 {
		return effects{stale: true}
	}
	if s.quiet == nil {
		s.quiet = x.quiet
	}
	return effects{}
}

// locked: the writer holds the store's lock. The head is to be read under it.
type locked struct{ lock *storeLock }

func (x locked) step(_ bounds, s *chainState) effects {
	s.contention.lock = x.lock
	s.giveUp()
	return effects{}
}

// unlocked: the writer begins no further write under the lock for now.
type unlocked struct{}

func (unlocked) step(_ bounds, s *chainState) (e effects) {
	if s.inFlight > 0 || s.contention.lock == nil {
		return effects{stale: true} // the last write in flight releases the lock
	}
	s.unlock(&e)
	return e
}

// contested: other processes write to the chain.
type contested struct{ now time.Time }

func (x contested) step(_ bounds, s *chainState) effects {
	s.contention.until = x.now.Add(contended)
	return effects{}
}
