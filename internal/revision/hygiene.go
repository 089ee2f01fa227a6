package revision

import (
	"maps"
	"slices"
	"strings"

	policyv1 "k8s.io/api/policy/v1"

	"berth/internal/engine/state"
	"berth/internal/podlife"
	"berth/internal/steps"
)

// survey counts a state's pods from scratch.
func survey(count *steps.Counter, st *state.State, h *Hygiene) (err error) {
	h.TerminalPods, h.PendingPods = 0, 0
	h.PodsOnUnknownNodes, h.PodsOfUnknownClasses, h.PodsOfWrappingAmounts = PodList{}, PodList{}, PodList{}
	st.EachPod(func(p *state.Pod) {
		if err == nil {
			err = count.Take(1)
		}
		if err == nil {
			h.count(st, p, 1)
		}
	})
	h.NodesOvercommitted = 0
	for _, row := range st.Nodes().Order() {
		if err != nil {
			return err
		}
		err = count.Take(1)
		h.NodesOvercommitted += overcommitted(st, int(row))
	}
	return err
}

// overcommitted is 1 for a row whose pods ask for more than its node has. A node that does not say
// what it has is counted elsewhere (NodesWithoutCapacity).
func overcommitted(st *state.State, row int) int {
	use, has := st.Use(row), st.Nodes().Capacity(row)
	if has.Pods == 0 || has.CPU == 0 && has.Memory == 0 {
		return 0
	}
	if use.CPU > has.CPU || use.Memory > has.Memory || use.Ephemeral > has.Ephemeral || int64(use.Pods) > has.Pods {
		return 1
	}
	return 0
}

// surveyKinds counts what is odd about objects other than pods; kinds names
// those that changed, nil all.
func surveyKinds(st *state.State, h *Hygiene, kinds map[string]int) {
	changed := func(kind string) bool {
		_, ok := kinds[kind]
		return ok || kinds == nil
	}
	if changed("Node") {
		h.NodesWithoutCapacity, h.NodesNotReady, h.NodesCordoned = 0, NodeList{}, NodeList{}
		nodes := st.Nodes()
		for _, row := range nodes.Order() {
			if c := nodes.Capacity(int(row)); c.Pods == 0 || c.CPU == 0 && c.Memory == 0 {
				h.NodesWithoutCapacity++
			}
			n := nodes.Node(int(row))
			if n.Health.State == podlife.NodeNotReady {
				h.NodesNotReady.add(n.Name)
			}
			if n.Unschedulable {
				h.NodesCordoned.add(n.Name)
			}
		}
	}
	if changed("PriorityClass") {
		h.GlobalDefaults = 0
		for _, c := range st.PriorityClasses() {
			if c.GlobalDefault {
				h.GlobalDefaults++
			}
		}
	}
	if changed("PodDisruptionBudget") {
		h.BudgetsWithoutDisruptions = 0
		st.EachBudget(func(b *policyv1.PodDisruptionBudget) {
			if b.Status.DisruptionsAllowed == 0 {
				h.BudgetsWithoutDisruptions++
			}
		})
	}
}

// count adds a pod of a state (sign 1) or takes it out (-1). Taking out may leave
// a sample shorter than it should be; see stale.
func (h *Hygiene) count(st *state.State, p *state.Pod, sign int) {
	if p == nil {
		return
	}
	if class := st.UnknownClass(p); class != "" {
		h.PodsOfUnknownClasses.count(PodOnNode{Namespace: p.Namespace, Name: p.Name, PriorityClassName: class}, sign)
	}
	if p.Wraps {
		h.PodsOfWrappingAmounts.count(PodOnNode{Namespace: p.Namespace, Name: p.Name, Node: p.NodeName}, sign)
	}
	switch {
	case p.Terminal:
		h.TerminalPods += sign
	case p.NodeName == "":
		h.PendingPods += sign
	case p.Row < 0:
		h.PodsOnUnknownNodes.count(PodOnNode{Namespace: p.Namespace, Name: p.Name, Node: p.NodeName}, sign)
	}
}

func comparePods(a, b PodOnNode) int {
	if c := strings.Compare(a.Namespace, b.Namespace); c != 0 {
		return c
	}
	return strings.Compare(a.Name, b.Name)
}

// count writes a sample of its own: the one before belongs to an older view.
func (l *PodList) count(p PodOnNode, sign int) {
	l.Count += sign
	i, have := slices.BinarySearchFunc(l.Sample, p, comparePods)
	switch {
	case sign < 0 && have:
		l.Sample = slices.Delete(slices.Clone(l.Sample), i, i+1)
	case sign > 0 && i < sampleSize:
		fresh := make([]PodOnNode, 0, sampleSize+1)
		fresh = append(append(append(fresh, l.Sample[:i]...), p), l.Sample[i:]...)
		l.Sample = fresh[:min(len(fresh), sampleSize)]
	}
}

// stale reports whether the sample lacks pods that it could hold.
func (l *PodList) stale() bool { return len(l.Sample) < min(l.Count, sampleSize) }

// next makes the summary of a state that came from another by a few objects.
// touched are the names of the pods among them, others reports whether nodes or
// classes changed too, which move any number of pods to and from unknown ones.
func (s *Summary) next(count *steps.Counter, from, to *state.State, touched map[podName]struct{}, others bool, kinds map[string]int) (Summary, error) {
	out := Summary{Objects: s.Objects, Ignored: s.Ignored, Holds: s.Holds, Hygiene: s.Hygiene}
	changed := false
	for kind, n := range kinds {
		if n == 0 {
			continue
		}
		if !changed {
			out.Objects, changed = maps.Clone(s.Objects), true
			if out.Objects == nil {
				out.Objects = map[string]int{}
			}
		}
		if out.Objects[kind] += n; out.Objects[kind] == 0 {
			delete(out.Objects, kind)
		}
	}
	h := &out.Hygiene
	if !others {
		rows := map[int]struct{}{}
		for name := range touched {
			was, is := from.Pod(name.namespace, name.name), to.Pod(name.namespace, name.name)
			h.count(from, was, -1)
			h.count(to, is, 1)
			for _, p := range []*state.Pod{was, is} {
				if p != nil && p.Row >= 0 {
					rows[int(p.Row)] = struct{}{}
				}
			}
		}
		for row := range rows {
			h.NodesOvercommitted += overcommitted(to, row) - overcommitted(from, row)
		}
	}
	if others || h.PodsOnUnknownNodes.stale() || h.PodsOfUnknownClasses.stale() || h.PodsOfWrappingAmounts.stale() {
		if err := survey(count, to, h); err != nil {
			return Summary{}, err
		}
	}
	surveyKinds(to, h, kinds)
	out.describe()
	return out, nil
}

type podName struct{ namespace, name string }
