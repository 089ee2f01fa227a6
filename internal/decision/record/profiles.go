package record

import (
	"context"
	"fmt"
	"sync"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/engine/rules"
	"berth/internal/revision"
	"berth/internal/semantics"
	"berth/internal/store"
)

// maxProfiles bounds the profiles that are remembered: as built from the store,
// and as known to be stored.
const maxProfiles = 256

// profileCache knows the profiles of records by digest.
type profileCache struct {
	st     store.Store
	server []*engine.Profile

	mu       sync.Mutex
	stored   map[string]struct{}        // those that the store is known to have
	restored map[string]*engine.Profile // by digest, and the release that stands in for theirs
}

func newProfileCache(st store.Store, server []*engine.Profile) profileCache {
	return profileCache{st: st, server: server, stored: map[string]struct{}{}, restored: map[string]*engine.Profile{}}
}

// unstored returns the profile to write with a record; nil where the store is
// known to have it.
func (c *profileCache) unstored(p *engine.Profile) *store.Profile {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.stored[p.Digest]; ok {
		return nil
	}
	return &store.Profile{Digest: p.Digest, Name: p.Name, Payload: p.Payload}
}

// noteStored remembers that a profile was written; nil is none.
func (c *profileCache) noteStored(p *store.Profile) {
	if p == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.stored) >= maxProfiles {
		clear(c.stored) // writing one again does no harm
	}
	c.stored[p.Digest] = struct{}{}
}

// replaced forgets which profiles the store has.
func (c *profileCache) replaced() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.stored)
}

// get returns the profile that a record names.
func (c *profileCache) get(ctx context.Context, digest string) (*engine.Profile, error) {
	for _, p := range c.server {
		if p.Digest == digest {
			return p, nil
		}
	}
	c.mu.Lock()
	p := c.restored[digest]
	c.mu.Unlock()
	if p != nil {
		return p, nil
	}
	kept, err := c.kept(ctx, digest)
	if err != nil {
		return nil, err
	}
	if p, err = rules.Restore(kept.Payload); err != nil {
		return nil, fmt.Errorf("profile %s: %w (%w)", digest, revision.ErrCorrupt, err)
	}
	c.keep(digest, p)
	return p, nil
}

func (c *profileCache) keep(key string, p *engine.Profile) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.restored) >= maxProfiles {
		clear(c.restored)
	}
	c.restored[key] = p
}

// under returns a profile as a release has it; nil: as it is.
func (c *profileCache) under(p *engine.Profile, r *semantics.Release) (*engine.Profile, error) {
	key := p.Digest + " " + r.Stamp()
	c.mu.Lock()
	other := c.restored[key]
	c.mu.Unlock()
	if other != nil {
		return other, nil
	}
	other, err := rules.Under(p, r)
	if err != nil {
		return nil, decision.Errorf(decision.Invalid, "semantics", "profile %s is none of %s: %v", p.Name, r.Stamp(), err)
	}
	c.keep(key, other)
	return other, nil
}

// kept returns a configuration of the server's or of the store, as its digest says.
func (c *profileCache) kept(ctx context.Context, digest string) (*store.Profile, error) {
	for _, p := range c.server {
		if p.Digest == digest {
			return &store.Profile{Digest: p.Digest, Name: p.Name, Payload: p.Payload}, nil
		}
	}
	kept, err := c.st.Profile(ctx, digest)
	if err != nil {
		return nil, fmt.Errorf("profile %s: %w", digest, err)
	}
	if is := decision.DigestOf(kept.Payload); is != digest {
		return nil, fmt.Errorf("profile %s: its bytes have digest %s: %w", digest, is, revision.ErrCorrupt)
	}
	return kept, nil
}
