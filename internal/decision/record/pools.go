package record

import (
	"cmp"
	"slices"
	"strings"

	"berth/internal/engine/state"
	"berth/internal/store"
)

const (
	// maxPools is how many pools a record counts one by one.
	maxPools = 20
	// otherPools are the rest, by a name that no label can have as its value.
	otherPools = "(others)"
)

// pools counts rows by their value of the label for pools, most nodes first; nil where there is no
// such label.
func (l *Log) pools(nodes *state.NodeSet, rows state.Bits) (out []store.PoolCount) {
	if l.o.PoolLabel == "" {
		return nil
	}
	column := nodes.Column(l.o.PoolLabel)
	out = make([]store.PoolCount, 0, min(len(column.Values), maxPools)+2)
	without, others := rows.Count(), 0
	for v, n := range column.Counts(rows) {
		if without -= n; n == 0 {
			continue
		}
		if value := column.Values[v]; value != "" {
			others += insertPool(&out, store.PoolCount{Pool: value, Nodes: n})
		} else {
			without += n
		}
	}
	if without > 0 {
		others += insertPool(&out, store.PoolCount{Nodes: without})
	}
	if others > 0 {
		out = append(out, store.PoolCount{Pool: otherPools, Nodes: others})
	}
	return out
}

// insertPool puts a pool in its place among the largest, and returns the nodes of the one that has
// no place any more.
func insertPool(list *[]store.PoolCount, p store.PoolCount) (dropped int) {
	at, _ := slices.BinarySearchFunc(*list, p, func(a, b store.PoolCount) int {
		return cmp.Or(cmp.Compare(b.Nodes, a.Nodes), strings.Compare(a.Pool, b.Pool))
	})
	if at == maxPools {
		return p.Nodes
	}
	*list = slices.Insert(*list, at, p)
	if len(*list) > maxPools {
		dropped = (*list)[maxPools].Nodes
		*list = (*list)[:maxPools]
	}
	return dropped
}
