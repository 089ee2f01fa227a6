package memory

import "sync"

// Owner is for whom a claim is. Its value is a key of maps, and always the same.
type Owner interface{ Owner() any }

// reserve is the part of a budget that only urgent claims take, and only where they find no other:
// work that can wait must not have a decision wait. One owner takes half of it at most. The heap is
// not looked at for it: a reserve is a sixteenth of the runtime's limit, of which the ceiling
// leaves a quarter.
type reserve struct {
	size int64

	mu   sync.Mutex
	all  int64         // guarded by mu
	each map[any]int64 // guarded by mu: what each owner has of it
}

// reserveOf is the reserve of a budget of so many bytes: a ninth, in whole MiB if it has some.
func reserveOf(limit int64) int64 {
	size := limit / 9
	if size > 1<<20 {
		size &^= 1<<20 - 1
	}
	return size
}

func (r *reserve) taken() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all
}

// take takes n bytes if they are there.
func (r *reserve) take(owner any, n int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all+n > r.size || r.each[owner]+n > r.size/2 {
		return false
	}
	if r.each == nil {
		r.each = map[any]int64{}
	}
	r.all += n
	r.each[owner] += n
	return true
}

func (r *reserve) give(owner any, n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all -= n
	if r.each[owner] -= n; r.each[owner] <= 0 {
		delete(r.each, owner)
	}
}

// keep takes n bytes of the reserve, if the claim is urgent and they are there.
func (c *Claim) keep(n int64) bool {
	if !c.Urgent() || !c.b.kept.take(c.owner.Owner(), n) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept += n
	return true
}
