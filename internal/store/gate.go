package store

import (
	"context"
	"sync"
)

// Gate lets calls to a database pass while it answers. Shut, it refuses new ones at once and ends
// those under way. The zero value is open. It is safe for concurrent use.
type Gate struct {
	mu    sync.Mutex
	err   error // what calls return while the gate is shut
	calls map[*context.CancelCauseFunc]struct{}
}

// Enter returns the context of a call, which ends with the gate's error as its cause where the gate
// is shut before done is called.
func (g *Gate) Enter(ctx context.Context) (_ context.Context, done func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return nil, nil, g.err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	if g.calls == nil {
		g.calls = map[*context.CancelCauseFunc]struct{}{}
	}
	g.calls[&cancel] = struct{}{}
	return ctx, func() {
		g.mu.Lock()
		delete(g.calls, &cancel)
		g.mu.Unlock()
		cancel(nil)
	}, nil
}

// Shut has calls return err, which is an ErrUnavailable.
func (g *Gate) Shut(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.err = err
	for cancel := range g.calls {
		(*cancel)(err)
	}
}

// Open lets calls pass again.
func (g *Gate) Open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.err = nil
}
