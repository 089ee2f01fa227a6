package scenario

import (
	"cmp"
	"context"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine/state"
	"berth/internal/memory"
	"berth/internal/podlife"
	"berth/internal/revision"
	"berth/internal/steps"
)

// Capacity is how full a cluster is, and how much of what is free its own pods could use.
type Capacity struct {
	Snapshot string        `json:"snapshot" example:"prod@1042"`
	Nodes    CapacityNodes `json:"nodes"`
	// Resources are cpu, memory, pods, ephemeral-storage and the extended resources of most nodes.
	Resources []ResourceCapacity `json:"resources"`
	// Shapes are the most common sizes of the pods, those of daemons left out.
	Shapes []ShapeCapacity `json:"shapes"`
	// OtherPods are of sizes that are not among them.
	OtherPods int `json:"otherPods"`
	// PoolLabel is the label of nodes that pools are told by.
	PoolLabel string   `json:"poolLabel,omitempty"`
	Warnings  []string `json:"warnings,omitempty"`
} // @name Capacity

// CapacityNodes counts nodes.
type CapacityNodes struct {
	Total    int `json:"total"`
	Cordoned int `json:"cordoned"`
	// NotReady nodes are so by their conditions. Neither they nor cordoned ones count as room.
	NotReady int `json:"notReady,omitempty"`
	// InUse nodes have a pod that is no daemon's.
	InUse int `json:"inUse"`
	// Bound is the least number of nodes whose allocatable resources, each by itself, hold what
	// these pods request: no packing needs fewer.
	Bound int `json:"bound"`
	// CouldBeEmpty is how many nodes in use are above the bound: at most so many could be emptied.
	CouldBeEmpty int `json:"couldBeEmpty"`
	// GapPercent is CouldBeEmpty in percent of the nodes in use.
	GapPercent float64 `json:"gapPercent"`
} // @name CapacityNodes

// ResourceCapacity is one resource: cpu in millicores, memory and storage in bytes.
type ResourceCapacity struct {
	Resource    string `json:"resource" example:"cpu"`
	Allocatable int64  `json:"allocatable"`
	Requested   int64  `json:"requested"`
	// Free is what is left on nodes that are neither cordoned nor NotReady.
	Free int64 `json:"free"`
	// Stranded is free on nodes that have no room for a pod of any common shape that requests the
	// resource, since another resource is gone there; 0 where no shape requests it.
	Stranded int64 `json:"stranded"`
	// Fragmentation is the expected share of what is free that the next pod cannot use, by the
	// common shapes that request the resource, in percent: what is free on the nodes where the
	// shape has no room, weighted by how many pods are of the shape (Weng et al., Beware of
	// Fragmentation, ATC 23). Absent where no shape requests it or nothing is free.
	Fragmentation *float64 `json:"fragmentation,omitempty"`
	// Nodes is the distribution of requested/allocatable over nodes, in percent.
	Nodes Distribution `json:"nodes"`
	// Bound is the least number of nodes whose allocatable amounts of this resource alone hold what
	// pods request.
	Bound int        `json:"bound"`
	Zones []GroupUse `json:"zones,omitempty"`
	Pools []GroupUse `json:"pools,omitempty"`
} // @name ResourceCapacity

// Distribution is of numbers: shares in percent, unless the field names another unit.
type Distribution struct {
	Mean float64 `json:"mean"`
	SD   float64 `json:"sd"`
	Min  float64 `json:"min"`
	P10  float64 `json:"p10"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	Max  float64 `json:"max"`
} // @name Distribution

// GroupUse is a resource on the nodes with one value of a label.
type GroupUse struct {
	Name        string `json:"name"`
	Nodes       int    `json:"nodes"`
	Allocatable int64  `json:"allocatable"`
	Requested   int64  `json:"requested"`
	// Distribution is of requested/allocatable over the group's nodes.
	Distribution
} // @name GroupUse

// ShapeCapacity is a size of pods and the room that there is for it.
type ShapeCapacity struct {
	// Requests are what a pod requests, cpu in millicores.
	Requests map[string]int64 `json:"requests"`
	// Pods is how many pods are of this size, Example the first of them by name.
	Pods    int    `json:"pods"`
	Example string `json:"example" example:"shop/web-1"`
	// Room is how many pieces of this size are free, by resources alone, if nothing else came.
	Room int64 `json:"room"`
	// Nodes is how many nodes have room for one.
	Nodes int `json:"nodes"`
	// Largest is the largest pod of these proportions that a node has room for, as a multiple of
	// the requests; absent for pods that request nothing.
	Largest *float64 `json:"largest,omitempty"`
} // @name ShapeCapacity

// MeasureCapacity measures a view by its own pods. pool is the label of pools, or a word that
// stands for one; empty: pool.
func MeasureCapacity(ctx context.Context, v *revision.View, pool string) (*Capacity, error) {
	st := v.State
	if err := memory.Take(ctx, int64(st.Nodes().Len())*8*2*(gridScalars+maxScalars)+int64(st.PodCount())); err != nil {
		return nil, err
	}
	label := labelOf(st.Nodes(), cmp.Or(pool, "pool"))
	out, err := measure(ctx, st, daemonsOf(v), label, true)
	if err != nil {
		return nil, err
	}
	out.Snapshot = v.ID()
	return out, nil
}

// daemonsOf returns which pods a view has that are made by DaemonSets.
func daemonsOf(v *revision.View) (made func(*state.Pod) bool) {
	return func(p *state.Pod) bool {
		if !p.Daemon {
			return false
		}
		had := v.State.Pod(p.Namespace, p.Name)
		return had != nil && had.Daemon
	}
}

// measure measures a state. Without examples none is looked for in it.
func measure(ctx context.Context, st *state.State, daemon func(*state.Pod) bool, pool string, examples bool) (*Capacity, error) {
	g, count := newGrid(st), steps.Of(ctx)
	if err := g.readPods(count, st, daemon, examples); err != nil {
		return nil, err
	}
	out := &Capacity{Shapes: []ShapeCapacity{}, PoolLabel: pool, Nodes: CapacityNodes{Total: len(g.rows), InUse: g.inUse}}
	shapes, rest := g.shapes()
	out.OtherPods = rest
	room := make([][]int64, len(shapes)) // by shape and row
	for k, s := range shapes {
		if err := count.Take(len(g.rows)); err != nil {
			return nil, err
		}
		c := ShapeCapacity{Requests: map[string]int64{}, Pods: s.pods}
		if s.example != nil {
			c.Example = s.example.Namespace + "/" + s.example.Name
		}
		for i, n := range s.request {
			if n > 0 && i != gridPods {
				c.Requests[g.cols[i].name] = n
			}
		}
		room[k] = make([]int64, g.set.Len())
		largest := 0.0
		for _, row := range g.rows {
			if !g.usable(row) {
				continue
			}
			n, multiple := g.pieces(s.request, row)
			room[k][row], largest = n, max(largest, multiple)
			if c.Room += n; n > 0 {
				c.Nodes++
			}
		}
		if largest = math.Floor(largest*1000) / 1000; !math.IsInf(largest, 1) {
			c.Largest = &largest
		}
		out.Shapes = append(out.Shapes, c)
	}
	for i := range g.cols {
		if err := count.Take(len(g.rows)); err != nil {
			return nil, err
		}
		c := &g.cols[i]
		r := ResourceCapacity{Resource: c.name, Nodes: c.distribution(g.rows), Bound: g.bound(i)}
		for _, row := range g.rows {
			r.Allocatable += c.allocatable[row]
			r.Requested += c.requested[row]
			if g.usable(row) {
				r.Free += c.free(row)
			}
		}
		out.Nodes.Bound = max(out.Nodes.Bound, r.Bound)
		if i == gridEphemeral && r.Allocatable == 0 {
			continue
		}
		r.Stranded, r.Fragmentation = g.unusable(i, shapes, room)
		r.Zones = g.groups(c, corev1.LabelTopologyZone)
		r.Pools = g.groups(c, pool)
		out.Resources = append(out.Resources, r)
	}
	n := &out.Nodes
	for _, row := range g.rows {
		at := g.set.Node(int(row))
		if at.Unschedulable {
			n.Cordoned++
		}
		if at.Health.State == podlife.NodeNotReady {
			n.NotReady++
		}
	}
	if n.CouldBeEmpty = n.InUse - n.Bound; n.InUse > 0 {
		n.GapPercent = percent(float64(n.CouldBeEmpty), float64(n.InUse))
	}
	return out, nil
}

// unusable returns what of a resource is free where no shape that requests it has room, and the
// expected share of what is free that such a shape cannot use, in percent.
func (g *grid) unusable(i int, shapes []*podShape, room [][]int64) (stranded int64, share *float64) {
	c := &g.cols[i]
	var free, lost, weight float64
	for _, s := range shapes {
		if s.request[i] > 0 {
			weight += float64(s.pods)
		}
	}
	for _, row := range g.rows {
		left := c.free(row)
		if left == 0 || !g.usable(row) {
			continue
		}
		free += float64(left)
		fits := false
		for k, s := range shapes {
			switch {
			case s.request[i] == 0:
			case room[k][row] > 0:
				fits = true
			default:
				lost += float64(left) * float64(s.pods)
			}
		}
		if !fits {
			stranded += left
		}
	}
	if weight == 0 || free == 0 {
		return 0, nil
	}
	n := percent(lost, free*weight)
	return stranded, &n
}

// bound is the least number of nodes that hold what pods request of a resource beside daemon pods.
func (g *grid) bound(i int) (n int) {
	wanted := int64(0)
	for _, c := range g.classes {
		if c == nil {
			continue
		}
		wanted += c.request[i] * int64(c.pods)
	}
	room := make([]int64, 0, len(g.rows))
	for _, row := range g.rows {
		room = append(room, max(g.cols[i].allocatable[row]-g.cols[i].daemons[row], 0))
	}
	slices.Sort(room)
	for n < len(room) && wanted > 0 {
		n++
		wanted -= room[len(room)-n]
	}
	return min(n, g.inUse) // nodes that hold more than they have need no more
}
