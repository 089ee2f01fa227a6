package handlers

import (
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/cluster"
	"berth/internal/engine/state"
	"berth/internal/handlers/wire"
)

// keptTables is for how many clusters a table is kept. Each keeps its cluster's nodes in memory.
const keptTables = 16

// nameTables keep for each cluster the table of its newest nodes' names. Making one costs more than
// an answer, and binds leave the nodes alone, so that a table serves many revisions.
type nameTables struct {
	mu     sync.RWMutex
	tables map[string]nameTable // by cluster; guarded by mu
}

type nameTable struct {
	set   *state.NodeSet
	names *wire.Names
}

// of returns the table of a view's nodes: a row of the one is a row of the other. A hole among the
// rows has no name.
func (t *nameTables) of(v *cluster.View) nameTable {
	set := v.State.Nodes()
	t.mu.RLock()
	have := t.tables[v.Cluster]
	t.mu.RUnlock()
	if have.set == set {
		return have
	}
	names := make([]string, set.Len())
	for row := range names {
		if n := set.Node(row); n != nil {
			names[row] = n.Name
		}
	}
	have = nameTable{set, wire.NewNames(names)}
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, known := t.tables[v.Cluster]; !known && len(t.tables) >= keptTables {
		for name := range t.tables { // any one: they are made again in moments
			delete(t.tables, name)
			break
		}
	}
	t.tables[v.Cluster] = have
	return have
}

// last returns the table that was made last for a cluster; none before the first.
func (t *nameTables) last(name string) nameTable {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.tables[name]
}

func (t *nameTables) forget(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.tables, name)
}

// cachedClusters is how many clusters' nodes are kept decoded; they share the memory in equal
// parts.
const cachedClusters = 2

// nodeCaches keep the nodes of the clusters that last called in Nodes mode.
type nodeCaches struct {
	bytes  int64
	mu     sync.Mutex
	caches map[string]*wire.NodeCache[*corev1.Node] // guarded by mu
	order  []string                                 // guarded by mu: the cluster that called last comes last
}

func (c *nodeCaches) of(name string) *wire.NodeCache[*corev1.Node] {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, other := range c.order {
		if other == name {
			c.order = append(append(c.order[:i:i], c.order[i+1:]...), name)
			return c.caches[name]
		}
	}
	if len(c.order) == cachedClusters {
		delete(c.caches, c.order[0])
		c.order = c.order[1:]
	}
	cache := wire.NewNodeCache[*corev1.Node](c.bytes/cachedClusters, decodedNodeBytes)
	c.caches[name], c.order = cache, append(c.order, name)
	return cache
}

func (c *nodeCaches) forget(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.caches, name)
	c.order = slices.DeleteFunc(c.order, func(other string) bool { return other == name })
}

// decodedNodeBytes is what a decoded node is taken to need: labels, taints, images and quantities,
// without what decisions do not read.
const decodedNodeBytes = 12 << 10
