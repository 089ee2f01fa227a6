package extender

import (
	lru "github.com/hashicorp/golang-lru/v2"
	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine/state"
	"berth/internal/handlers/extender/wire"
	"berth/internal/revision"
)

// keptTables is for how many clusters a table is kept. Each keeps its cluster's nodes in memory.
const keptTables = 16

// nameTables keep for each cluster the table of its newest nodes' names. Making one costs more than
// an answer, and binds leave the nodes alone, so that a table serves many revisions.
type nameTables struct{ *lru.Cache[string, nameTable] }

func newNameTables() nameTables { return nameTables{newCache[nameTable](keptTables)} }

func newCache[V any](size int) *lru.Cache[string, V] {
	c, err := lru.New[string, V](size)
	if err != nil {
		panic(err) // of a size below one
	}
	return c
}

type nameTable struct {
	set   *state.NodeSet
	names *wire.Names
}

// of returns the table of a view's nodes: a row of the one is a row of the other. A row without a
// node has no name.
func (t nameTables) of(v *revision.View) nameTable {
	set := v.State.Nodes()
	if have := t.last(v.Cluster); have.set == set {
		return have
	}
	names := make([]string, set.Len())
	for row := range names {
		if n := set.Node(row); n != nil {
			names[row] = n.Name
		}
	}
	made := nameTable{set, wire.NewNames(names)}
	t.Add(v.Cluster, made)
	return made
}

// last returns the table that was made last for a cluster; none before the first.
func (t nameTables) last(name string) nameTable {
	table, _ := t.Get(name)
	return table
}

// cachedClusters is how many clusters' nodes are kept decoded; they share the memory in equal
// parts.
const cachedClusters = 2

// nodeCaches keep the nodes of the clusters that last called in Nodes mode.
type nodeCaches struct {
	*lru.Cache[string, *wire.NodeCache[*corev1.Node]]
	bytes int64
}

func newNodeCaches(bytes int64) nodeCaches {
	return nodeCaches{newCache[*wire.NodeCache[*corev1.Node]](cachedClusters), bytes}
}

func (c nodeCaches) of(name string) *wire.NodeCache[*corev1.Node] {
	if cache, ok := c.Get(name); ok {
		return cache
	}
	made := wire.NewNodeCache[*corev1.Node](c.bytes/cachedClusters, decodedNodeBytes)
	if first, ok, _ := c.PeekOrAdd(name, made); ok {
		return first
	}
	return made
}

// decodedNodeBytes is what a decoded node is taken to need: labels, taints, images and quantities,
// without what decisions do not read.
const decodedNodeBytes = 12 << 10
