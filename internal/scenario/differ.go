package scenario

import (
	"cmp"
	"slices"

	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/world"
)

// RunDifference is where two runs of one scenario differ.
type RunDifference struct {
	// Profile is compared with Against.
	Profile string `json:"profile"`
	Against string `json:"against"`
	// Elsewhere are the arrivals that both place, on different nodes; Gained are placed by the
	// profile alone, Lost by the other alone.
	Elsewhere int `json:"elsewhere"`
	Gained    int `json:"gained"`
	Lost      int `json:"lost"`
	// Pods are the first of them by namespace and name.
	Pods []MovedPod `json:"pods,omitempty"`
	// First is the first attempt that comes out otherwise; absent where none does. Until then both
	// runs have the same state.
	First *FirstDifference `json:"first,omitempty"`
} // @name SimulationDifference

// MovedPod is a pod that two runs place differently; an empty node stands for none.
type MovedPod struct {
	Pod     string `json:"pod"`
	Node    string `json:"node,omitempty"`
	Against string `json:"against,omitempty"`
} // @name SimulationMovedPod

// FirstDifference is one pod decided on the same state under two configurations.
type FirstDifference struct {
	// Attempt counts from 1.
	Attempt int        `json:"attempt"`
	Pod     string     `json:"pod"`
	Profile OneOutcome `json:"profile"`
	Against OneOutcome `json:"against"`
} // @name SimulationFirstDifference

// OneOutcome is a decision under one configuration. Nodes are both chosen nodes with their scores,
// the one of this decision first, where it scored them; Limit is why it has none.
type OneOutcome struct {
	Outcome engine.Outcome       `json:"outcome" enums:"Scheduled,Unschedulable,Gated,Preempting,Error" swaggertype:"string"`
	Node    string               `json:"node,omitempty"`
	Nodes   []engine.NodeVerdict `json:"nodes,omitempty"`
	Limit   *Limit               `json:"limit,omitempty"`
} // @name SimulationOutcome

// maxMoved is how many pods are listed that go elsewhere.
const maxMoved = 50

// differ compares a run with the first one.
func (s *simulation) differ(a, b *traced) (*RunDifference, error) {
	out := &RunDifference{Profile: b.config.name, Against: a.config.name}
	var moved []world.PodName
	for i := range s.arrivals {
		n := world.NameOf(s.arrivals[i].Pod)
		from, to := a.At[n], b.At[n]
		switch {
		case from == to:
			continue
		case from == "":
			out.Gained++
		case to == "":
			out.Lost++
		default:
			out.Elsewhere++
		}
		moved = append(moved, n)
	}
	slices.SortFunc(moved, func(x, y world.PodName) int {
		return cmp.Or(cmp.Compare(x.Namespace, y.Namespace), cmp.Compare(x.Name, y.Name))
	})
	for _, n := range moved[:min(len(moved), maxMoved)] {
		out.Pods = append(out.Pods, MovedPod{n.String(), b.At[n], a.At[n]})
	}
	k := 0
	for k < len(a.Steps) && k < len(b.Steps) && a.Steps[k] == b.Steps[k] {
		k++
	}
	if k == len(a.Steps) || k == len(b.Steps) {
		return out, nil
	}
	var err error
	out.First, err = s.first(a, b, k)
	return out, err
}

// first runs the scenario up to an attempt once more, and decides it under both configurations.
func (s *simulation) first(a, b *traced, k int) (*FirstDifference, error) {
	o := s.o
	o.Profiles, o.Digests = a.config.profiles, s.o.Digests
	f := world.NewFork(s.view, o)
	if k > 0 { // 0 is no limit
		if _, err := f.Run(s.ctx, s.arrivals, world.Limits{Attempts: k, Tries: s.q.Tries}, nil); err != nil {
			return nil, err
		}
	}
	name := a.Steps[k].Pod
	if b.Steps[k].Pod != name {
		return nil, nil // a rule of the queue differs, such as a gate: no decision does
	}
	out := &FirstDifference{Attempt: k + 1, Pod: name.String()}
	for _, x := range []struct {
		of   *traced
		to   *OneOutcome
		also string
	}{{b, &out.Profile, a.Steps[k].Node}, {a, &out.Against, b.Steps[k].Node}} {
		f.Options().Profiles = x.of.config.profiles
		one, err := s.outcome(f, name, x.of.Steps[k], x.also)
		if err != nil {
			return nil, err
		}
		*x.to = *one
	}
	return out, nil
}

// outcome decides about a pod on the fork as it is, and shows its node beside another one.
func (s *simulation) outcome(f *world.Fork, name world.PodName, at step, also string) (*OneOutcome, error) {
	out := &OneOutcome{Outcome: at.Outcome, Node: at.Node}
	i := slices.IndexFunc(s.arrivals, func(x world.Arrival) bool { return world.NameOf(x.Pod) == name })
	pod := s.arrivals[i].Pod
	if p := f.Changed(name); p != nil {
		pod = p
	}
	if at.Outcome != engine.Scheduled {
		var err error
		out.Limit, err = why(s.ctx, f, pod, func(*Limit) bool { return true })
		return out, err
	}
	err := judge(s.ctx, f, pod, func(r *engine.Result) {
		for _, node := range []string{at.Node, also} {
			if row := r.Nodes().Row(node); node != "" && row >= 0 {
				out.Nodes = append(out.Nodes, explain.InParts(r, row))
			}
		}
	})
	return out, err
}
