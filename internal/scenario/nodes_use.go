package scenario

import (
	"cmp"
	"context"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/memory"
	"berth/internal/podlife"
	"berth/internal/revision"
	"berth/internal/steps"
)

// NodesUse is what each node has and what its pods request.
type NodesUse struct {
	Snapshot string `json:"snapshot" example:"prod@1042"`
	// GroupLabel is the label whose values are the nodes' groups.
	GroupLabel string `json:"groupLabel" example:"topology.kubernetes.io/rack"`
	// Resources name the columns of allocatable and requested: cpu in millicores, memory and
	// storage in bytes.
	Resources []string  `json:"resources" example:"cpu,memory,pods"`
	Nodes     []NodeUse `json:"nodes"`
} // @name NodesUse

// NodeUse is one node's use.
type NodeUse struct {
	Name     string `json:"name" example:"worker-7"`
	Zone     string `json:"zone,omitempty"`
	Group    string `json:"group,omitempty"`
	Cordoned bool   `json:"cordoned,omitempty"`
	podlife.NodeHealth
	// Taints counts the node's taints that keep pods away.
	Taints      int     `json:"taints,omitempty"`
	Allocatable []int64 `json:"allocatable"`
	Requested   []int64 `json:"requested"`
} // @name NodeUse

const (
	// nodeUseBytes is what a node takes in an answer and in its text, and nodeUseSteps the time.
	nodeUseBytes = 1 << 10
	nodeUseSteps = 256
)

// MeasureNodes returns the use of each node of a view, by name. group is the label that groups are
// told by, or a word that stands for one; empty: the rack where nodes have one, else the pool.
func MeasureNodes(ctx context.Context, v *revision.View, group string) (*NodesUse, error) {
	set := v.State.Nodes()
	if err := memory.Take(ctx, int64(set.Len())*(nodeUseBytes+8*2*(gridScalars+maxScalars))); err != nil {
		return nil, err
	}
	label, count := labelOf(set, cmp.Or(group, "rack")), steps.Of(ctx)
	g := newGrid(v.State)
	out := &NodesUse{Snapshot: v.ID(), GroupLabel: label, Nodes: make([]NodeUse, 0, len(g.rows))}
	for i := range g.cols {
		out.Resources = append(out.Resources, g.cols[i].name)
	}
	for _, row := range g.rows {
		if err := count.Take(nodeUseSteps); err != nil {
			return nil, err
		}
		n := set.Node(int(row))
		use := NodeUse{Name: n.Name, Zone: n.Labels[corev1.LabelTopologyZone], Group: n.Labels[label], Cordoned: n.Unschedulable, NodeHealth: n.Health}
		for _, t := range n.Taints {
			if t.Effect != corev1.TaintEffectPreferNoSchedule {
				use.Taints++
			}
		}
		for i := range g.cols {
			use.Allocatable = append(use.Allocatable, g.cols[i].allocatable[row])
			use.Requested = append(use.Requested, g.cols[i].requested[row])
		}
		out.Nodes = append(out.Nodes, use)
	}
	return out, nil
}
