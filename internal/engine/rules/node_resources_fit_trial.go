package rules

import (
	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

var _ engine.Measurer = (*NodeResourcesFit)(nil)

// Measure returns the pod's requests of the plain resources, and a trial of its other requests.
func (f *NodeResourcesFit) Measure(q *engine.Query) (need state.Amount, rest engine.Trial) {
	t := f.try(q)
	if need = t.need; len(t.scalars) == 0 {
		return need, nil
	}
	t.restOnly = true
	return need, t
}

// Try returns the trial of the rule: it judges a node by the requests of its pods.
func (f *NodeResourcesFit) Try(q *engine.Query, _ engine.NoState) engine.Trial { return f.try(q) }

func (f *NodeResourcesFit) try(q *engine.Query) *fitTrial {
	r := &q.Request
	t := &fitTrial{q: q, scalars: f.scalars(q)}
	t.need = state.Amount{CPU: wanted(r.CPU), Memory: wanted(r.Memory), Ephemeral: wanted(r.Ephemeral)}
	t.other = make([]int64, len(t.scalars))
	t.have = make([]int64, len(t.scalars))
	t.devices = make([]bool, len(t.scalars))
	for i, s := range t.scalars {
		t.devices[i] = f.leftToDevices(q, s.ID)
	}
	return t
}

// fitTrial is NodeResourcesFit on one node.
type fitTrial struct {
	q        *engine.Query
	need     state.Amount
	restOnly bool           // judge only the scalars
	scalars  []state.Scalar // by name
	devices  []bool         // a device class provides them
	row      int32
	use      state.Use
	have     []int64 // the row's capacity of the scalars
	other    []int64 // held amounts of the scalars
}

// Begin starts with the row's sums.
func (t *fitTrial) Begin(row int32, nominated []*state.Pod) {
	t.row, t.use = row, t.q.State.Use(int(row))
	for i, s := range t.scalars {
		t.have[i], _ = t.q.Nodes.Offers(s.ID, int(row))
		t.other[i] = t.q.State.Requested(s.ID).At(int(row))
	}
	for _, p := range nominated {
		t.Move(p, 1)
	}
}

// Move adds or subtracts a pod's requests.
func (t *fitTrial) Move(p *state.Pod, n int32) {
	r, k := &t.q.State.Counts(p.Class).Request, int64(n)
	t.use.Pods += n
	t.use.CPU += k * r.CPU
	t.use.Memory += k * r.Memory
	t.use.Ephemeral += k * r.Ephemeral
	for i := range t.scalars {
		for _, s := range r.Scalars {
			if s.ID == t.scalars[i].ID {
				t.other[i] += k * s.N
			}
		}
	}
}

// AffectedBy reports whether pods of the class hold a resource that is judged.
func (t *fitTrial) AffectedBy(c *state.Class) bool {
	if !t.restOnly {
		return true
	}
	for i := range t.scalars {
		for _, s := range t.q.State.Counts(c).Request.Scalars {
			if s.ID == t.scalars[i].ID {
				return true
			}
		}
	}
	return false
}

// Fits reports whether all requests are within what is left.
func (t *fitTrial) Fits() bool {
	c, u := t.q.Nodes.Capacity(int(t.row)), &t.use
	if !t.restOnly && (int64(u.Pods) >= c.Pods || t.need.CPU > c.CPU-u.CPU || t.need.Memory > c.Memory-u.Memory || t.need.Ephemeral > c.Ephemeral-u.Ephemeral) {
		return false
	}
	for i, s := range t.scalars {
		if have := t.have[i]; s.N > have-t.other[i] && (have != 0 || !t.devices[i]) {
			return false
		}
	}
	return true
}

// Verdict returns a reason for each resource that is short.
func (t *fitTrial) Verdict() (engine.Code, []string) {
	var reasons []string
	code := engine.Unschedulable
	c, u := t.q.Nodes.Capacity(int(t.row)), &t.use
	if int64(u.Pods) >= c.Pods {
		reasons = append(reasons, ReasonTooManyPods)
	}
	add := func(name string, want, have, used int64) {
		if want > have-used {
			reasons = append(reasons, ReasonInsufficient+name)
			if want > have {
				code = engine.UnschedulableAndUnresolvable
			}
		}
	}
	add(string(corev1.ResourceCPU), t.need.CPU, c.CPU, u.CPU)
	add(string(corev1.ResourceMemory), t.need.Memory, c.Memory, u.Memory)
	add(string(corev1.ResourceEphemeralStorage), t.need.Ephemeral, c.Ephemeral, u.Ephemeral)
	for i, s := range t.scalars {
		if have := t.have[i]; have != 0 || !t.devices[i] {
			add(t.q.ScalarName(s.ID), s.N, have, t.other[i])
		}
	}
	if reasons == nil {
		return engine.Success, nil
	}
	return code, reasons
}
