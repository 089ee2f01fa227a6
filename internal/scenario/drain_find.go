package scenario

import (
	"cmp"
	"slices"
	"strings"

	"berth/internal/engine/state"
	"berth/internal/steps"
	"berth/internal/world"
)

// Find is which nodes can be emptied one after the other.
type Find struct {
	// Asked is how many nodes were wanted, Tried how many were tried.
	Asked int `json:"asked"`
	Tried int `json:"tried"`
	// Kept are nodes that were tried and cannot be emptied, with the first reason; at most a
	// hundred.
	Kept []KeptNode `json:"kept,omitempty"`
	// Reasons has all of them, those with the same reason together, the most first. With the nodes
	// found their numbers add up to tried.
	Reasons []KeptReason `json:"reasons,omitempty"`
} // @name DrainFind

// KeptNode is a node that cannot be emptied.
type KeptNode struct {
	Name   string `json:"name" example:"worker-7"`
	Reason string `json:"reason" example:"pod prod/web-0 would have no node: 0/3 nodes are available: 3 Insufficient cpu."`
} // @name KeptNode

// KeptReason is why nodes cannot be emptied.
type KeptReason struct {
	// Reason has no name of a pod, as every node has others.
	Reason string `json:"reason" example:"a pod would have no node: 0/3 nodes are available: 3 Insufficient cpu."`
	Nodes  int    `json:"nodes"`
	// Names are the first few of the nodes, in the order in which they were tried.
	Names []string `json:"names" example:"worker-7"`
	// First is the reason of the first node, with the pod's name.
	First string `json:"first"`
} // @name DrainKeptReason

const (
	// maxKept bounds the nodes that an answer names with a reason, maxKeptNames those of a reason.
	maxKept      = 100
	maxKeptNames = 5
)

// withoutReasons returns the answer that digests are over: they were there before the reasons.
func (d *Drain) withoutReasons() *Drain {
	out := *d
	if out.Told, out.Remedied = (Told{}), (Remedied{}); d.Find != nil {
		find := *d.Find
		find.Reasons, out.Find = nil, &find
	}
	return &out
}

// keep notes why a node is kept.
func (f *Find) keep(name, pod, why string) {
	if len(f.Kept) < maxKept {
		f.Kept = append(f.Kept, KeptNode{name, why})
	}
	reason := strings.Replace(why, "pod "+pod, "a pod", 1)
	i := slices.IndexFunc(f.Reasons, func(r KeptReason) bool { return r.Reason == reason })
	if i < 0 {
		i = len(f.Reasons)
		f.Reasons = append(f.Reasons, KeptReason{Reason: reason, First: why})
	}
	r := &f.Reasons[i]
	if r.Nodes++; len(r.Names) < maxKeptNames {
		r.Names = append(r.Names, name)
	}
}

// find drains as many of the nodes as can be emptied, up to a number, each on the state that the
// drains before it left. A node counts if all its pods may go and find another node without a
// preemption; what was tried in vain is taken back. Emptier nodes are tried first: the choice is a
// greedy one, so that there may be a larger set, but each node of this one is proven by running it.
func (d *disruption) find(names []string, q *DrainQuestion, out *Drain) error {
	names, err := d.byUse(names)
	if err != nil {
		return err
	}
	// What the pods that wait bring about comes first: it is no reason to keep a node.
	if err := d.Finish(); err != nil {
		return err
	}
	out.Find = &Find{Asked: q.Find}
	for _, name := range names {
		if len(out.Nodes) == q.Find {
			break
		}
		out.Find.Tried++
		node, pod, why, err := d.empty(name, q)
		if err != nil {
			return err
		}
		if node != nil {
			out.Nodes = append(out.Nodes, node)
		} else {
			out.Find.keep(name, pod, why)
		}
		d.Options().Watch.Progressed("nodes tried", out.Find.Tried, len(names))
	}
	slices.SortStableFunc(out.Find.Reasons, func(a, b KeptReason) int { return b.Nodes - a.Nodes })
	out.Seconds = d.Seconds()
	return nil
}

// byUse orders nodes by the share of cpu or memory that is requested, whichever is larger, then by
// name.
func (d *disruption) byUse(names []string) ([]string, error) {
	st := d.State()
	share := make(map[string]float64, len(names))
	for _, n := range names {
		if row := st.Nodes().Row(n); row >= 0 {
			share[n] = useOf(st, row)
		}
	}
	out := slices.Clone(names)
	err := steps.Sort(d.steps, out, func(a, b string) int {
		return cmp.Or(cmp.Compare(share[a], share[b]), cmp.Compare(a, b))
	})
	return out, err
}

// useOf returns the larger of the requested shares of a node's cpu and memory.
func useOf(st *state.State, row int) float64 {
	use, has := st.Use(row), st.Nodes().Capacity(row)
	part := func(n, of int64) float64 {
		if of <= 0 {
			return 1
		}
		return float64(n) / float64(of)
	}
	return max(part(use.CPU, has.CPU), part(use.Memory, has.Memory))
}

// empty drains a node if all its pods find another one, and returns why where it is kept as it was.
func (d *disruption) empty(name string, q *DrainQuestion) (node *DrainedNode, pod, why string, err error) {
	back := d.Mark()
	nodes, err := d.drainEach([]string{name}, q)
	if err != nil {
		return nil, "", "", err
	}
	node = nodes[0]
	if err := d.Finish(); err != nil {
		return nil, "", "", err
	}
	if pod, why = d.keeps(node, back); why == "" {
		d.Keep()
		return node, "", "", nil
	}
	return nil, pod, why, d.Undo(back)
}

// keeps returns why a node is not to be emptied, and the pod that it names; empty where it is. back
// is as it was before.
func (d *disruption) keeps(node *DrainedNode, back world.Mark) (pod, why string) {
	for _, list := range [][]PodReason{node.Refused, node.Blocked} {
		if len(list) > 0 {
			pod = list[0].Namespace + "/" + list[0].Name
			return pod, "pod " + pod + ": " + list[0].Reason
		}
	}
	for _, p := range d.Since(back) {
		pod = p.Namespace + "/" + p.Name
		switch {
		case p.Cause == world.CausePreemption:
			return pod + " on " + p.Node, "pod " + pod + " on " + p.Node + " would be preempted"
		case p.Replacement != nil && p.Replacement.Node == "":
			return pod, "pod " + pod + " would have no node: " + p.Replacement.Message
		}
	}
	return "", ""
}
