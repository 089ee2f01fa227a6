package rules

import (
	"math"
	"math/bits"
	"slices"
	"sort"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/state"
	"berth/internal/semantics"
)

// The reasons of NodeResourcesFit. A scalar resource's reason is ReasonInsufficient and its name.
const (
	ReasonTooManyPods  = "Too many pods"
	ReasonInsufficient = "Insufficient "
)

// NodeResourcesFit rejects nodes that have too little left for the pod's requests, and scores by
// how much would be left (plugins/noderesources/fit.go).
type NodeResourcesFit struct {
	// Ignored and IgnoredGroups list extended resources to ignore, by name and by the group before
	// the slash.
	Ignored, IgnoredGroups []string
	scorer                 resourceScorer
	extended               bool           // devices may provide extended resources
	counting               state.Counting // of pods in hints
}

var (
	_ engine.Filterer[engine.NoState] = (*NodeResourcesFit)(nil)
	_ engine.Scorer[engine.NoState]   = (*NodeResourcesFit)(nil)
	_ engine.Detailer[engine.NoState] = (*NodeResourcesFit)(nil)

	_ engine.ReasonRanker = (*NodeResourcesFit)(nil)
	_ engine.Local        = (*NodeResourcesFit)(nil)
)

// nodeResourcesFitDescriptor is the rule's entry in the registry.
var nodeResourcesFitDescriptor = Descriptor{
	Plugin: "NodeResourcesFit", Phases: []string{phasePreFilter, phaseFilter, phaseScore}, Weight: 1,
	Also: []string{phasePreScore, phasePlacement}, Needs: filterNeeds,
	Judges: "Requests compared with what is left of the node's allocatable resources, and its number of pods. " +
		"The score follows the profile's strategy (LeastAllocated, MostAllocated or RequestedToCapacityRatio).",
	Code: codeUnschedulable + "; " + codeUnresolvable + " if one request alone exceeds the allocatable",
	Reasons: []string{
		ReasonTooManyPods, ReasonInsufficient,
	},
	Upstream: "noderesources/fit.go, resource_allocation.go",
	Differs:  "Several extended resources that are short are named in order of their names; upstream's order is that of a Go map.",
	Args:     codecOf(func(a *Args) { a.NodeResourcesFit = FitArgs{Strategy: LeastAllocated, Resources: cpuAndMemory()} }, readFitArgs),
	Details:  []*engine.DetailKind{{Name: "resource", Fields: "name, requested, available, capacity: in millicores for cpu, bytes for memory", Cause: resourceCause, Words: resourceWords}},
	build: func(a *Args, r *semantics.Release) (*engine.Plugin, error) {
		f := a.NodeResourcesFit
		scorer, err := newResourceScorer(f.Strategy, f.Resources, f.Shape)
		return engine.Adapt[engine.NoState](&NodeResourcesFit{Ignored: f.IgnoredResources, IgnoredGroups: f.IgnoredResourceGroups, scorer: scorer, extended: r.DRAExtendedResource, counting: countingOf(r)}), err
	},
}

// countingOf is what pods on nodes count as in a release.
func countingOf(r *semantics.Release) state.Counting {
	return state.CountingOf(r.SumsOfWholePods, r.InPlacePodLevelResourcesVerticalScaling)
}

// Name is the plugin's name.
func (*NodeResourcesFit) Name() string { return "NodeResourcesFit" }

// Locality returns OwnRow: a node's resources are taken by its own pods.
func (*NodeResourcesFit) Locality(_ *engine.Query) engine.Locality { return engine.OwnRow }

// ignores reports whether the profile excludes an extended resource from the check.
func (f *NodeResourcesFit) ignores(name string) bool {
	if len(f.Ignored)+len(f.IgnoredGroups) == 0 || !state.IsExtended(corev1.ResourceName(name)) {
		return false
	}
	group, _, _ := strings.Cut(name, "/")
	return slices.Contains(f.Ignored, name) || slices.Contains(f.IgnoredGroups, group)
}

// Filter compares the requests with what is left, resource by resource. A node whose whole
// allocatable is below a request is unresolvable; one with too many pods is not.
func (f *NodeResourcesFit) Filter(q *engine.Query, _ engine.NoState, in state.Bits, rej *engine.Rejected) error {
	tooMany, noCPU, noMemory, noDisk, never := q.Bits(), q.Bits(), q.Bits(), q.Bits(), q.Bits()
	// A resource without a request is never short.
	cpu, memory, disk := wanted(q.Request.CPU), wanted(q.Request.Memory), wanted(q.Request.Ephemeral)
	capacity := q.Nodes.Capacities()
	for from, to := range in.BlockRuns() {
		if l := q.State.LeastLeft(from); l.Pods > 0 && cpu <= l.CPU && memory <= l.Memory && disk <= l.Ephemeral {
			continue // each of the nodes has enough
		}
		uses, capacities := q.State.Uses(from, to), capacity[from:to]
		for k := range uses {
			u, c := &uses[k], &capacities[k]
			if int64(u.Pods) < c.Pods && cpu <= c.CPU-u.CPU && memory <= c.Memory-u.Memory && disk <= c.Ephemeral-u.Ephemeral {
				continue
			}
			row := from + k
			if int64(u.Pods) >= c.Pods {
				tooMany.Set(row)
			}
			// What is left may wrap around, as upstream's does, and then nothing is short.
			shortCPU, shortMemory, shortDisk := cpu > c.CPU-u.CPU, memory > c.Memory-u.Memory, disk > c.Ephemeral-u.Ephemeral
			if shortCPU {
				noCPU.Set(row)
			}
			if shortMemory {
				noMemory.Set(row)
			}
			if shortDisk {
				noDisk.Set(row)
			}
			if shortCPU && cpu > c.CPU || shortMemory && memory > c.Memory || shortDisk && disk > c.Ephemeral {
				never.Set(row)
			}
		}
	}
	rej.Add(ReasonTooManyPods, engine.Unschedulable, tooMany)
	rej.Add(ReasonInsufficient+string(corev1.ResourceCPU), engine.Unschedulable, noCPU)
	rej.Add(ReasonInsufficient+string(corev1.ResourceMemory), engine.Unschedulable, noMemory)
	rej.Add(ReasonInsufficient+string(corev1.ResourceEphemeralStorage), engine.Unschedulable, noDisk)
	for _, s := range f.scalars(q) {
		short := q.Bits()
		col, requested := q.Nodes.ScalarColumn(s.ID), q.State.Requested(s.ID)
		devices := f.leftToDevices(q, s.ID)
		var none [state.ChunkSize]int64
		for i, word := range in {
			if word == 0 {
				continue
			}
			held := requested.Chunk(i)
			if held == nil {
				held = &none
			}
			for ; word != 0; word &= word - 1 {
				k := bits.TrailingZeros64(word)
				row := i<<state.ChunkBits + k
				var have int64
				if col != nil {
					have = col[row]
				}
				if have == 0 && devices {
					continue
				}
				if s.N > have-held[k] {
					short.Set(row)
					if s.N > have {
						never.Set(row)
					}
				}
			}
		}
		if !short.Empty() {
			rej.Add(ReasonInsufficient+q.ScalarName(s.ID), engine.Unschedulable, short)
		}
	}
	rej.Unresolvable.Or(never)
	return nil
}

// ReasonRank orders reasons as Filter finds them. Other resources come last, by name.
func (f *NodeResourcesFit) ReasonRank(text string) int {
	order := []string{
		ReasonTooManyPods, ReasonInsufficient + string(corev1.ResourceCPU), ReasonInsufficient + string(corev1.ResourceMemory),
		ReasonInsufficient + string(corev1.ResourceEphemeralStorage),
	}
	if i := slices.Index(order, text); i >= 0 {
		return i
	}
	return len(order)
}

// wanted is the amount to compare with. A request of 0 is below any amount left, even where a node
// is overcommitted.
func wanted(n int64) int64 {
	if n <= 0 {
		return math.MinInt64
	}
	return n
}

// scalars lists the other resources to compare by name, which makes the order of reasons stable.
func (f *NodeResourcesFit) scalars(q *engine.Query) []state.Scalar {
	var out []state.Scalar
	for _, s := range q.Request.Scalars {
		if s.N != 0 && !f.ignores(q.ScalarName(s.ID)) {
			out = append(out, s)
		}
	}
	if len(out) > 1 {
		sort.Slice(out, func(i, j int) bool { return q.ScalarName(out[i].ID) < q.ScalarName(out[j].ID) })
	}
	return out
}

// leftToDevices reports whether nodes that offer none of a resource are left to DynamicResources
// because a device class provides it (plugins/noderesources/fit.go shouldDelegateResourceToDRA).
func (f *NodeResourcesFit) leftToDevices(q *engine.Query, id int32) bool {
	return f.extended && q.State.ExtendedClass(corev1.ResourceName(q.ScalarName(id))) != nil
}

// Details lists, for each resource that is short, the request and what is left.
func (f *NodeResourcesFit) Details(q *engine.Query, _ engine.NoState, row int) []engine.Detail {
	var out engine.Details
	add := func(name string, want, have, used int64) {
		if want > 0 && want > have-used {
			out.Add(func() engine.Detail {
				n := &[...]int64{want, have - used, have}
				return engine.Detail{Kind: "resource", Name: name, Requested: &n[0], Available: &n[1], Capacity: &n[2]}
			})
		}
	}
	c, u := q.Nodes.Capacity(row), q.State.Use(row)
	add(string(corev1.ResourcePods), 1, c.Pods, int64(u.Pods))
	add(string(corev1.ResourceCPU), q.Request.CPU, c.CPU, u.CPU)
	add(string(corev1.ResourceMemory), q.Request.Memory, c.Memory, u.Memory)
	add(string(corev1.ResourceEphemeralStorage), q.Request.Ephemeral, c.Ephemeral, u.Ephemeral)
	for _, s := range f.scalars(q) {
		have, _ := q.Nodes.Offers(s.ID, row)
		if have == 0 && f.leftToDevices(q, s.ID) {
			continue
		}
		add(q.ScalarName(s.ID), s.N, have, q.State.Requested(s.ID).At(row))
	}
	return out.List()
}

// Score scores by the profile's strategy. Raw and normalised scores are the same.
func (f *NodeResourcesFit) Score(q *engine.Query, _ engine.NoState, feasible state.Bits, out *engine.Scores) error {
	f.scorer.score(q, feasible, out)
	return nil
}
