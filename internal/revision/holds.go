package revision

import (
	"context"
	"sync"

	"berth/internal/memory"
)

// holds counts the requests that use a view that was loaded for them. Nothing else bounds how many
// states are in use at once: the manager lets go of them while they are.
type holds struct {
	mu    sync.Mutex
	views map[*View]*viewUse // guarded by mu
}

// viewUse is a view in use.
type viewUse struct {
	by    int // requests
	claim *memory.Claim
}

// hold takes the memory of a view for as long as any request uses it. Requests that use the same
// view take it once.
func (h *holds) hold(ctx context.Context, v *View) error {
	c := memory.Of(ctx)
	if c == nil {
		return nil
	}
	h.mu.Lock()
	one := h.views[v]
	first := one == nil
	if first {
		if h.views == nil {
			h.views = map[*View]*viewUse{}
		}
		one = &viewUse{claim: c.Budget().Like(c)}
		h.views[v] = one
	}
	one.by++
	h.mu.Unlock()
	c.OnEnd(func() { h.release(v) })
	if !first {
		return nil
	}
	return one.claim.Take(ctx, v.Bytes())
}

func (h *holds) release(v *View) {
	h.mu.Lock()
	defer h.mu.Unlock()
	one := h.views[v]
	if one.by--; one.by == 0 {
		delete(h.views, v)
		one.claim.End()
	}
}
