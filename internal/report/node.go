package report

import (
	"cmp"
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"berth/internal/engine/state"
	"berth/internal/memory"
	"berth/internal/podlife"
	"berth/internal/revision"
	"berth/internal/words"
)

// NodeStory is one node at a revision: its state, its room, and its pods.
type NodeStory struct {
	Snapshot string `json:"snapshot" example:"prod@1042"`
	Name     string `json:"name" example:"worker-7"`
	Zone     string `json:"zone,omitempty"`
	Cordoned bool   `json:"cordoned,omitempty"`
	podlife.NodeHealth
	Labels map[string]string `json:"labels,omitempty"`
	Taints []NodeTaint       `json:"taints,omitempty"`
	// Resources are what the node has and its pods request, cpu, memory and pods first.
	Resources []NodeRoom `json:"resources"`
	// Pods are on the node, those of the highest priority first: evictions begin at the end.
	Pods []NodePod `json:"pods"`
	// Nominated pods wait for pods to leave the node.
	Nominated []NodePod `json:"nominated,omitempty"`
} // @name NodeStory

// NodeTaint is a taint of a node.
type NodeTaint struct {
	Key    string `json:"key" example:"dedicated"`
	Value  string `json:"value,omitempty" example:"database"`
	Effect string `json:"effect" example:"NoSchedule"`
} // @name NodeTaint

// String writes a taint as kubectl does.
func (t NodeTaint) String() string {
	if t.Value == "" {
		return t.Key + ":" + t.Effect
	}
	return t.Key + "=" + t.Value + ":" + t.Effect
}

// NodeRoom is one resource of a node, cpu in thousandths, all else in its own unit.
type NodeRoom struct {
	Resource    string `json:"resource" example:"cpu"`
	Allocatable int64  `json:"allocatable"`
	Requested   int64  `json:"requested"`
	// Leaving is what of it pods request that are being deleted, and Nominated what those request
	// that are nominated.
	Leaving   int64 `json:"leaving,omitempty"`
	Nominated int64 `json:"nominated,omitempty"`
} // @name NodeRoom

// NodePod is a pod on a node, or nominated to it.
type NodePod struct {
	Namespace string `json:"namespace" example:"shop"`
	Name      string `json:"name" example:"web-0"`
	Priority  int32  `json:"priority"`
	// Owner is the kind and name of its controller.
	Owner string `json:"owner,omitempty" example:"ReplicaSet/web"`
	// Requests are in the order of the node's resources.
	Requests []int64 `json:"requests"`
	// Ended pods take no room; leaving ones are being deleted, and gone at LeavesAt.
	Ended    bool       `json:"ended,omitempty"`
	Leaving  bool       `json:"leaving,omitempty"`
	LeavesAt *time.Time `json:"leavesAt,omitempty"`
	// Stays is set for the pod of a DaemonSet, which a drain leaves.
	Stays bool `json:"stays,omitempty"`
	// Budgets are those that select it, with the disruptions that each allows.
	Budgets []NodeBudget `json:"budgets,omitempty"`
} // @name NodePod

// NodeBudget is a disruption budget of a pod.
type NodeBudget struct {
	Name    string `json:"name"`
	Allowed int32  `json:"allowed"`
} // @name NodeBudget

// nodePodBytes is about what a pod of a story takes, with its text.
const nodePodBytes = 1 << 10

// NodeOf tells the story of a node; nil where the view has none of that name, with the name that
// was meant, if one is near.
func NodeOf(ctx context.Context, v *revision.View, name string) (story *NodeStory, near string, err error) {
	st := v.State
	set := st.Nodes()
	row := set.Row(name)
	if row < 0 {
		var names []string
		for _, r := range set.Order() {
			names = append(names, set.Node(int(r)).Name)
		}
		near, _ = words.Nearest(name, names)
		return nil, near, nil
	}
	n, pods := set.Node(row), st.PodsOn(row)
	if err := memory.Take(ctx, int64(pods.Len()+1)*nodePodBytes); err != nil {
		return nil, "", err
	}
	out := &NodeStory{
		Snapshot: v.ID(), Name: n.Name, Zone: n.Labels[corev1.LabelTopologyZone], Cordoned: n.Unschedulable, NodeHealth: n.Health, Labels: n.Labels, Pods: []NodePod{},
	}
	for _, t := range n.Taints {
		out.Taints = append(out.Taints, NodeTaint{t.Key, t.Value, string(t.Effect)})
	}
	r := &nodeRoom{st: st, row: row, out: out}
	r.measure()
	for p := range pods.All() {
		out.Pods = append(out.Pods, r.pod(p))
	}
	slices.SortFunc(out.Pods, byPriority)
	for p := range st.NominatedPods().All() {
		if p.Nominated == name && p.NodeName == "" {
			out.Nominated = append(out.Nominated, r.pod(p))
		}
	}
	slices.SortFunc(out.Nominated, byPriority)
	for i := range out.Resources {
		room := &out.Resources[i]
		for _, p := range out.Pods {
			if p.Leaving && !p.Ended {
				room.Leaving += p.Requests[i]
			}
		}
		for _, p := range out.Nominated {
			room.Nominated += p.Requests[i]
		}
	}
	return out, "", nil
}

func byPriority(a, b NodePod) int {
	return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// nodeRoom reads what a node has.
type nodeRoom struct {
	st      *state.State
	row     int
	scalars []int32 // ids of the resources behind the first four
	out     *NodeStory
}

// measure writes the node's resources: the four that every node has, and the extended ones of its
// own.
func (r *nodeRoom) measure() {
	set := r.st.Nodes()
	c, u := set.Capacity(r.row), r.st.Use(r.row)
	r.out.Resources = []NodeRoom{
		{Resource: string(corev1.ResourceCPU), Allocatable: c.CPU, Requested: u.CPU},
		{Resource: string(corev1.ResourceMemory), Allocatable: c.Memory, Requested: u.Memory},
		{Resource: string(corev1.ResourcePods), Allocatable: c.Pods, Requested: int64(u.Pods)},
		{Resource: string(corev1.ResourceEphemeralStorage), Allocatable: c.Ephemeral, Requested: u.Ephemeral},
	}
	names := state.NewLocalNames(r.st)
	set.EachScalar(func(id int32, _ int) {
		if n, listed := set.Offers(id, r.row); listed {
			r.scalars = append(r.scalars, id)
			r.out.Resources = append(r.out.Resources, NodeRoom{Resource: names.ScalarName(id), Allocatable: n, Requested: r.st.Requested(id).At(r.row)})
		}
	})
}

func (r *nodeRoom) pod(p *state.Pod) NodePod {
	request := &r.st.Counts(p.Class).Request
	out := NodePod{
		Namespace: p.Namespace, Name: p.Name, Priority: r.st.PriorityOf(p), Ended: p.Terminal, Leaving: p.Terminating, Stays: p.Daemon,
		Requests: []int64{request.CPU, request.Memory, 1, request.Ephemeral},
	}
	if owner, ok := r.st.TopOwner(p); ok {
		out.Owner = owner.String()
	}
	if p.Ends > 0 {
		at := time.Unix(p.Ends, 0).UTC()
		out.LeavesAt = &at
	}
	for _, id := range r.scalars {
		var n int64
		for _, s := range request.Scalars {
			if s.ID == id {
				n = s.N
			}
		}
		out.Requests = append(out.Requests, n)
	}
	list, _, _ := r.st.Budgets()
	for i := range list {
		if b := &list[i]; b.Namespace == p.Namespace && b.Selector.Matches(labels.Set(p.Class.Shape.Labels)) {
			out.Budgets = append(out.Budgets, NodeBudget{b.Name, b.Allowed})
		}
	}
	return out
}
