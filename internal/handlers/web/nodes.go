package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"berth/internal/scenario"
	"berth/internal/words"
)

// nodesView is the list of nodes.
type nodesView struct {
	Snapshot, Summary, GroupLabel string
	// States are what is the matter with nodes and how many of each, as filters.
	States []stateCount
	Rows   []nodeRow
	// Pools reports whether a node has a pool.
	Pools bool
	// Hidden rows are behind the first ones.
	Hidden int
	// Columns are those that the list may be ordered by.
	Columns []nodeColumn
}

type stateCount struct {
	nodeState
	Nodes int
}

type nodeRow struct {
	*scenario.NodeUse
	States []nodeState
	// Free are what is left of cpu and memory, Full is how far the fullest resource is requested.
	FreeCPU, FreeMemory string
	Pods                string
	Full                int
	Bar                 any
}

// nodeColumn is a column that the list of nodes may be ordered by.
type nodeColumn struct {
	Name, Key string
	Number    bool
}

var nodeColumns = []nodeColumn{{"Node", "name", false}, {"State", "state", false}, {"Zone", "zone", false}, {"Pool", "pool", false}, {"Free cpu", "cpu", true}, {"Free memory", "memory", true}, {"Pods", "pods", true}, {"Fullest", "full", true}}

// shownNodeRows is how many nodes the list has unless the URL wants all.
const shownNodeRows = 200

func nodesData(v *visit) string { return v.ofCluster([]string{"nodes"}, "group", "snapshot") }

func loadNodes(v *visit) (string, any, error) {
	if v.cluster == "" {
		return "Nodes", nil, nil
	}
	nodes := &scenario.NodesUse{}
	if err := v.get(nodesData(v), nodes); err != nil {
		return "", nil, err
	}
	v.nodes = nodes // fields offer names of them
	view := nodesOf(nodes, v.query.Get("state"), v.query.Get("zone"), v.query.Get("pool"), v.query.Get("name"))
	sortNodes(view.Rows, v.query.Get("sort"))
	if n := len(view.Rows); n > shownNodeRows && v.query.Get("rows") != "all" {
		view.Rows, view.Hidden = view.Rows[:shownNodeRows], n-shownNodeRows
	}
	return view.Summary, view, nil
}

// nodesOf lists the nodes that have a state, zone and group, and a part of a name; empty ones are
// of all.
func nodesOf(nodes *scenario.NodesUse, state, zone, group, name string) *nodesView {
	view := &nodesView{Snapshot: nodes.Snapshot, GroupLabel: nodes.GroupLabel, Columns: nodeColumns}
	counts, out := map[nodeState]int{}, 0
	for i := range nodes.Nodes {
		n := &nodes.Nodes[i]
		states := statesOf(n)
		view.Pools = view.Pools || n.Group != ""
		for _, s := range states {
			counts[s]++
		}
		if takesNone(states) {
			out++
		}
		if zone != "" && n.Zone != zone || group != "" && n.Group != group || !strings.Contains(n.Name, name) {
			continue
		}
		if state == "" || slices.ContainsFunc(states, func(s nodeState) bool { return s.Class == state }) {
			view.Rows = append(view.Rows, nodeRowOf(nodes, n, states))
		}
	}
	for s, n := range counts {
		view.States = append(view.States, stateCount{s, n})
	}
	slices.SortFunc(view.States, func(a, b stateCount) int {
		return cmp.Or(slices.Index(stateOrder, a.Class)-slices.Index(stateOrder, b.Class), cmp.Compare(a.Word, b.Word))
	})
	all := len(nodes.Nodes)
	view.Summary = fmt.Sprintf("%s of %s %s pods.", words.Count(all-out), words.Plural(all, "node"), agree(all-out, "takes", "take"))
	if out == 0 {
		view.Summary = fmt.Sprintf("%s %s pods.", words.Plural(all, "node"), agree(all, "takes", "take"))
	}
	return view
}

func nodeRowOf(nodes *scenario.NodesUse, n *scenario.NodeUse, states []nodeState) nodeRow {
	row := nodeRow{NodeUse: n, States: states}
	for i, name := range nodes.Resources {
		free := amounts(name, []int64{n.Allocatable[i] - n.Requested[i]})[0]
		switch name {
		case "cpu":
			row.FreeCPU = free
		case "memory":
			row.FreeMemory = free
		case "pods":
			row.Pods = words.Count(int(n.Requested[i])) + " of " + words.Count(int(n.Allocatable[i]))
		}
		row.Full = max(row.Full, percent(n.Requested[i], n.Allocatable[i]))
	}
	row.Bar = bar(row.Full, 100, "s2")
	return row
}

// sortNodes orders rows by a column, a minus before it the other way round; what is wrong comes
// first where none is named.
func sortNodes(rows []nodeRow, by string) {
	key, down := strings.CutPrefix(by, "-")
	order := map[string]func(a, b *nodeRow) int{
		"state":  func(a, b *nodeRow) int { return worst(a) - worst(b) },
		"zone":   func(a, b *nodeRow) int { return cmp.Compare(a.Zone, b.Zone) },
		"pool":   func(a, b *nodeRow) int { return cmp.Compare(a.Group, b.Group) },
		"cpu":    func(a, b *nodeRow) int { return cmp.Compare(free(a, 0), free(b, 0)) },
		"memory": func(a, b *nodeRow) int { return cmp.Compare(free(a, 1), free(b, 1)) },
		"pods":   func(a, b *nodeRow) int { return cmp.Compare(a.Requested[2], b.Requested[2]) },
		"full":   func(a, b *nodeRow) int { return a.Full - b.Full },
	}[cmp.Or(key, "state")]
	slices.SortStableFunc(rows, func(a, b nodeRow) int {
		n := 0
		if order != nil {
			n = order(&a, &b)
		}
		n = cmp.Or(n, cmp.Compare(a.Name, b.Name))
		if down {
			return -n
		}
		return n
	})
}

// free is what is left of one of the first resources, which every node has in the same order.
func free(r *nodeRow, i int) int64 { return r.Allocatable[i] - r.Requested[i] }

func worst(r *nodeRow) int {
	if len(r.States) == 0 {
		return len(stateOrder)
	}
	return slices.Index(stateOrder, r.States[0].Class)
}

// SortBy is the address of the page ordered by a column, the other way round where it is already.
func (f *frame) SortBy(key string) string {
	if f.query.Get("sort") == key {
		return f.With("sort", "-"+key)
	}
	return f.With("sort", key)
}

// Sorted describes how a column orders the page, as aria-sort does.
func (f *frame) Sorted(key string) string {
	switch f.query.Get("sort") {
	case key:
		return "ascending"
	case "-" + key:
		return "descending"
	}
	return "none"
}
