package revision

import (
	"slices"
	"sync"
)

// heavy bounds the objects of all views in the cache together at most: what was read
// from the store shares little with the newest state.
const heavy = 400_000

// viewCache holds the most recently used views that were read from the store.
type viewCache struct {
	keep  int
	heavy int // objects of all views together

	mu   sync.Mutex
	list []*View // least recently used first
}

func (c *viewCache) get(cluster string, revision int64) *View {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, v := range c.list {
		if v.Cluster == cluster && v.Revision == revision {
			c.list = append(slices.Delete(c.list, i, i+1), v)
			return v
		}
	}
	return nil
}

func (c *viewCache) put(v *View) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = slices.DeleteFunc(c.list, func(o *View) bool { return o.Cluster == v.Cluster && o.Revision == v.Revision })
	c.list = append(c.list, v)
	objects := 0
	for _, v := range c.list {
		objects += v.weight()
	}
	for len(c.list) > 1 && (len(c.list) > c.keep || objects > c.heavy) {
		objects -= c.list[0].weight()
		c.list = slices.Delete(c.list, 0, 1)
	}
}

// before returns the newest view of a cluster from first on that is older than a
// revision.
func (c *viewCache) before(cluster string, revision, first int64) *View {
	c.mu.Lock()
	defer c.mu.Unlock()
	var best *View
	for _, v := range c.list {
		if v.Cluster == cluster && v.Revision < revision && v.Revision >= first && (best == nil || best.Revision < v.Revision) {
			best = v
		}
	}
	return best
}

// drop forgets a revision, or with 0 all of a cluster's.
func (c *viewCache) drop(cluster string, revision int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = slices.DeleteFunc(c.list, func(v *View) bool {
		return v.Cluster == cluster && (revision == 0 || v.Revision == revision)
	})
}

// clear forgets all.
func (c *viewCache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = nil
}
