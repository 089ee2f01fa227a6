package revision

import (
	"fmt"
	"log/slog"

	"berth/internal/engine/recall"
	"berth/internal/engine/state"
	"berth/internal/memory"
	"berth/internal/store"
)

// Writing a large state takes long, and reading one as well: it is written after as many changes as
// a quarter of its objects, up to mostChanges times the configured number, which bounds the memory
// that reading them takes.
const (
	objectsPerChange = 4
	mostChanges      = 10
)

// checkpointEvery returns after how many changes a state is written whole, no fewer than least.
func (v *View) checkpointEvery(least int64) int64 {
	return max(least, min(int64(v.inv.n/objectsPerChange), mostChanges*least))
}

// save writes a checkpoint of a view in the background. Writers go on: the view
// does not change.
func (m *Manager) save(l *chain, v *View) {
	newest, err := m.saveOnce(v)
	m.apply(l, saved{newest})
	if err != nil {
		// Nothing is lost: the revision loads from an older one, and the next
		// change tries again.
		m.o.Log.Warn("checkpoint not written", slog.String("snapshot", v.ID()), slog.Any("error", err))
		return
	}
	if outgrown(v.State) {
		if err := m.recompile(l, v); err != nil {
			m.o.Log.Warn("the state could not be compiled again", slog.String("snapshot", v.ID()), slog.Any("error", err))
		}
	}
}

// saveOnce writes a checkpoint unless another process makes one just now, or has
// made one that is new enough; it returns the newest one's number. Making one
// costs seconds of a large cluster.
func (m *Manager) saveOnce(v *View) (newest int64, err error) {
	unlock, ok, err := m.st.TryLock(m.ctx, "checkpoint "+v.Cluster)
	if err != nil {
		return 0, fmt.Errorf("checkpoint %s: %w", v.ID(), err)
	}
	if !ok {
		return 0, nil
	}
	defer unlock()
	heads, err := m.st.Heads(m.ctx)
	if err != nil {
		return 0, fmt.Errorf("checkpoint %s: %w", v.ID(), err)
	}
	if made := heads[v.Cluster].Checkpoint; v.Revision-made < v.checkpointEvery(int64(m.o.CheckpointEvery)) {
		return made, nil
	}
	return v.Revision, m.putCheckpoint(v)
}

func (m *Manager) putCheckpoint(v *View) error {
	ctx := m.ctx
	if v.inv.bytes >= largeCheckpoint {
		done, err := m.lockLarge(ctx)
		if err != nil {
			return err
		}
		defer done()
	}
	if m.o.Budget != nil {
		claim := m.o.Budget.PatientClaim()
		defer claim.End()
		ctx = memory.With(ctx, claim)
	}
	payload, err := encodeCheckpoint(ctx, v.inv)
	if err != nil {
		return err
	}
	if err := memory.TakeOutside(ctx, storedFactor*int64(len(payload))); err != nil {
		return err
	}
	if err := m.st.PutCheckpoint(m.ctx, &store.Checkpoint{Cluster: v.Cluster, Number: v.Revision, Payload: payload, Woken: v.woken.encode()}); err != nil {
		return fmt.Errorf("checkpoint %s: %w", v.ID(), err)
	}
	return nil
}

// recompile replaces the head's state by one that has interned only what it
// uses. It is made from v without holding up writers; what they changed since
// is added under the lock.
func (m *Manager) recompile(l *chain, v *View) error {
	fresh, err := advance(m.ctx, state.NewState(), new(inventory), v.inv)
	if err != nil {
		return err
	}
	if err := l.lock(m.ctx); err != nil {
		return err
	}
	defer l.unlock()
	at, ok := l.state.Load().position.(live)
	if !ok {
		return nil
	}
	head := at.head
	st, err := advance(m.ctx, fresh, v.inv, head.inv)
	if err != nil {
		return err
	}
	twin := &View{
		Cluster: head.Cluster, Revision: head.Revision, Digest: head.Digest, CreatedAt: head.CreatedAt, Cause: head.Cause,
		State: st, Summary: head.Summary, inv: head.inv, token: head.token, checkpoint: head.checkpoint, write: head.write, changed: head.changed, woken: head.woken,
		decider: recall.NewPool(),
	}
	m.apply(l, recompiled{head, twin})
	return nil
}
