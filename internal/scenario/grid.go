package scenario

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine/state"
)

// maxScalars is how many extended resources are measured, those of most nodes first.
const maxScalars = 16

// grid is what nodes have and what their pods request, resource by resource.
type grid struct {
	set  *state.NodeSet
	rows []int32 // by the nodes' names
	cols []gridColumn
}

// gridColumn is one resource, by row: cpu in millicores, memory and storage in bytes.
type gridColumn struct {
	name                   string
	id                     int32 // of an extended resource; -1 for others
	allocatable, requested []int64
}

const (
	gridCPU = iota
	gridMemory
	gridPods
	gridEphemeral
	gridScalars // the first of them
)

func newGrid(st *state.State) *grid {
	set := st.Nodes()
	g := &grid{set: set, rows: set.Order()}
	add := func(name string, id int32) *gridColumn {
		g.cols = append(g.cols, gridColumn{name: name, id: id, allocatable: make([]int64, set.Len()), requested: make([]int64, set.Len())})
		return &g.cols[len(g.cols)-1]
	}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods, corev1.ResourceEphemeralStorage} {
		add(string(name), -1)
	}
	for _, row := range g.rows {
		c, u := set.Capacity(int(row)), st.Use(int(row))
		for i, v := range [][2]int64{{c.CPU, u.CPU}, {c.Memory, u.Memory}, {c.Pods, u.Pods}, {c.Ephemeral, u.Ephemeral}} {
			g.cols[i].allocatable[row], g.cols[i].requested[row] = v[0], v[1]
		}
	}
	type scalar struct {
		id    int32
		nodes int
		name  string
	}
	var list []scalar
	names := state.NewLocalNames(st)
	set.EachScalar(func(id int32, nodes int) { list = append(list, scalar{id, nodes, names.ScalarName(id)}) })
	slices.SortFunc(list, func(a, b scalar) int { return cmp.Or(b.nodes-a.nodes, cmp.Compare(a.name, b.name)) })
	for _, s := range list[:min(len(list), maxScalars)] {
		c := add(s.name, s.id)
		requested := st.Requested(s.id)
		for _, row := range g.rows {
			c.allocatable[row], _ = set.Offers(s.id, int(row))
			c.requested[row] = requested.At(int(row))
		}
	}
	return g
}

// free is what of a resource is left on a row, at least 0.
func (c *gridColumn) free(row int32) int64 { return max(c.allocatable[row]-c.requested[row], 0) }

// usable reports whether new pods may come to a row: it is not cordoned.
func (g *grid) usable(row int32) bool { return !g.set.Node(int(row)).Unschedulable }

// vector is a pod's request, a number for each resource of the grid.
func (g *grid) vector(r *state.Request) []int64 {
	out := make([]int64, len(g.cols))
	out[gridCPU], out[gridMemory], out[gridPods], out[gridEphemeral] = r.CPU, r.Memory, 1, r.Ephemeral
	for i := gridScalars; i < len(g.cols); i++ {
		for _, s := range r.Scalars {
			if s.ID == g.cols[i].id {
				out[i] = s.N
			}
		}
	}
	return out
}

// pieces is how many pods with a request a row has room for.
func (g *grid) pieces(request []int64, row int32) int64 {
	n := int64(-1)
	for i, want := range request {
		if want <= 0 {
			continue
		}
		if fit := g.cols[i].free(row) / want; n < 0 || fit < n {
			n = fit
		}
	}
	return max(n, 0)
}
