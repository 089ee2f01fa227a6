package scenario

import (
	"cmp"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine/state"
	"berth/internal/podlife"
	"berth/internal/steps"
)

// maxScalars is how many extended resources are measured, those of most nodes first.
const maxScalars = 16

// grid is what nodes have and what their pods request, resource by resource.
type grid struct {
	set  *state.NodeSet
	rows []int32 // by the nodes' names
	cols []gridColumn
	// classes are those of pods on nodes, by id; daemons are not counted. inUse nodes have other
	// pods.
	classes []*podShape
	inUse   int
}

// gridColumn is one resource, by row: cpu in millicores, memory and storage in bytes.
type gridColumn struct {
	name                   string
	id                     int32 // of an extended resource; -1 for others
	allocatable, requested []int64
	daemons                []int64 // of what is requested
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
	g := &grid{set: set, rows: set.Order(), classes: make([]*podShape, st.Tables().Classes())}
	add := func(name string, id int32) *gridColumn {
		all := make([]int64, 3*set.Len())
		g.cols = append(g.cols, gridColumn{name: name, id: id, allocatable: all[:set.Len()], requested: all[set.Len() : 2*set.Len()], daemons: all[2*set.Len():]})
		return &g.cols[len(g.cols)-1]
	}
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourcePods, corev1.ResourceEphemeralStorage} {
		add(string(name), -1)
	}
	for _, row := range g.rows {
		c, u := set.Capacity(int(row)), st.Use(int(row))
		for i, v := range [][2]int64{{c.CPU, u.CPU}, {c.Memory, u.Memory}, {c.Pods, int64(u.Pods)}, {c.Ephemeral, u.Ephemeral}} {
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

// readPods reads the classes of the pods on nodes; with examples, the first of each by name.
func (g *grid) readPods(count *steps.Counter, st *state.State, daemon func(*state.Pod) bool, examples bool) error {
	for _, row := range g.rows {
		pods, inUse := st.PodsOn(int(row)), 0
		if err := count.Take(pods.Len()); err != nil {
			return err
		}
		for p := range pods.All() {
			c := g.class(st, p.Class)
			if daemon(p) {
				for i, n := range c.request {
					g.cols[i].daemons[row] += n
				}
				continue
			}
			inUse = 1
			if c.pods++; examples && (c.example == nil || podBefore(p, c.example)) {
				c.example = p
			}
		}
		g.inUse += inUse
	}
	return nil
}

func podBefore(a, b *state.Pod) bool {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name)) < 0
}

// free is what of a resource is left on a row, at least 0.
func (c *gridColumn) free(row int32) int64 { return max(c.allocatable[row]-c.requested[row], 0) }

// usable reports whether new pods may come to a row and start: it is neither cordoned nor NotReady.
func (g *grid) usable(row int32) bool {
	n := g.set.Node(int(row))
	return !n.Unschedulable && n.Health.State != podlife.NodeNotReady
}

// class returns what is known of a class.
func (g *grid) class(st *state.State, c *state.Class) *podShape {
	s := g.classes[c.ID]
	if s == nil {
		s = &podShape{request: g.vector(&st.Counts(c).Request)}
		g.classes[c.ID] = s
	}
	return s
}

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

// pieces is how many pods with a request a row has room for, and the largest multiple of the
// request that is room for one pod.
func (g *grid) pieces(request []int64, row int32) (n int64, largest float64) {
	n, largest = math.MaxInt64, math.Inf(1)
	for i, want := range request {
		if want <= 0 {
			continue
		}
		free := g.cols[i].free(row)
		n = min(n, free/want)
		if i != gridPods || free == 0 {
			largest = min(largest, float64(free)/float64(want))
		}
	}
	return n, largest
}
