package preempt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// namedNode is the result for a node of Options.Victims.
type namedNode struct {
	node       string
	kept       bool
	why        engine.Rejection
	victims    []engine.Victim
	violations int64
	added      int // victims beyond those named
}

// JudgeVictims answers Options.Victims. Of what the state does not know, the answer changes
// nothing: a node that it does not have stays as it came, and so does a pod that it does not have
// on the node, since kube-scheduler's cache may be ahead. Such a pod counts for nothing here.
// names, where not nil, are the only nodes that PreFilter left.
func (w Ways) JudgeVictims(r *engine.Result, names map[string]struct{}) error {
	q, s := r.Query, newSearch(r, w)
	s.eligible = true
	r.PostFilter = &engine.PostFilter{Search: s}
	for _, v := range q.Options.Victims {
		if row := q.Nodes.Row(v.Node); row >= 0 {
			s.potential.Set(row)
		}
	}
	q.Candidates = s.potential
	if r.PreFilter == nil {
		s.runs = newDryRun(r, s.potential, w)
	}
	for i := range q.Options.Victims {
		v := &q.Options.Victims[i]
		n := namedNode{node: v.Node, kept: true, victims: []engine.Victim{}}
		row := q.Nodes.Row(v.Node)
		_, listed := names[v.Node]
		switch {
		case row < 0:
			n.victims, n.violations = echoed(v), v.NumPDBViolations
		case r.PreFilter != nil:
			n.kept, n.why = false, r.RejectionOf(row)
		case names != nil && !listed:
			n.kept, n.why = false, engine.Rejection{
				Code: engine.UnschedulableAndUnresolvable, Reasons: []string{"the pod names its nodes, and this is none of them"},
			}
		default:
			s.runs.judge(row, v, &n)
		}
		s.named = append(s.named, n)
		if n.kept {
			r.Outcome = engine.Preempting
		}
	}
	slices.SortFunc(s.named, func(a, b namedNode) int { return cmp.Compare(a.node, b.node) })
	return nil
}

// judge judges one node: first without the named victims, then without all pods of lower priority,
// of which those are put back that can stay.
func (j *dryRun) judge(row int, v *engine.NodeVictims, a *namedNode) {
	k := j.q.State.Ranking(row, j.now)
	index := make(map[string]int, len(k.Pods))
	for i, p := range k.Pods {
		index[p.UID] = i
	}
	named := make([]bool, len(k.Pods))
	var known []*state.Pod
	var foreign []engine.NamedVictim
	for _, n := range v.Victims {
		if i, ok := index[n.UID]; !ok {
			foreign = append(foreign, n)
		} else if !named[i] {
			named[i] = true
			known = append(known, k.Pods[i])
		}
	}
	from := k.Below(j.priority)
	j.begin(row, known)
	if !j.fits(row) {
		for i := from; i < len(k.Pods); i++ {
			if !named[i] {
				j.move(row, k.Pods[i], -1)
			}
		}
		if !j.fits(row) {
			a.kept, a.why = false, j.why(row)
			return
		}
		a.added = j.spareUnnamed(row, k, from, named)
	}
	j.account(k, from, named, foreign, v, a)
}

// spareUnnamed puts back pods that were not named while the pod still fits, and names those that
// cannot stay.
func (j *dryRun) spareUnnamed(row int, k *state.Ranking, from int, named []bool) (added int) {
	j.classify(k, from)
	for _, forbidden := range []bool{true, false} {
		for i := from; i < len(k.Pods); i++ {
			if named[i] || j.violates(i-from) != forbidden {
				continue
			}
			j.move(row, k.Pods[i], 1)
			if !j.fits(row) {
				j.move(row, k.Pods[i], -1)
				named[i] = true
				added++
			}
		}
	}
	return added
}

// account lists the victims by importance and counts the violations anew. A victim that the state
// does not know keeps its place after the one that it was named after, unless its priority is
// known.
func (j *dryRun) account(k *state.Ranking, from int, named []bool, foreign []engine.NamedVictim, v *engine.NodeVictims, a *namedNode) {
	j.classify(k, from)
	violating := func(i int) bool { return i >= from && j.violates(i-from) }
	last := int32(0)
	priorities := map[string]int32{}
	if len(foreign) > 0 {
		uid := make(map[string]int32, len(k.Pods))
		for i, p := range k.Pods {
			uid[p.UID] = k.Of[i].Priority
		}
		last = j.priority - 1
		for _, n := range v.Victims {
			if p, ok := uid[n.UID]; ok {
				last = p
			} else if n.Priority != nil {
				last = *n.Priority
			}
			priorities[n.UID] = last
		}
	}
	for i, p := range k.Pods {
		if !named[i] {
			continue
		}
		w := engine.Victim{Namespace: p.Namespace, Name: p.Name, UID: p.UID, Priority: k.Of[i].Priority, GracePeriodSeconds: p.Grace, Terminating: p.Terminating, ViolatesPDB: violating(i)}
		if w.ViolatesPDB {
			a.violations++
		}
		a.victims = append(a.victims, w)
	}
	blind := false
	for _, n := range foreign {
		w := engine.Victim{Namespace: n.Namespace, Name: n.Name, UID: n.UID, Priority: priorities[n.UID], Unknown: true}
		w.ViolatesPDB = n.Name != "" && j.allowances.takeForeign(&n)
		if w.ViolatesPDB {
			a.violations++
		}
		blind = blind || n.Name == ""
		a.victims = append(a.victims, w)
	}
	if blind { // only the sender knows what a bare UID violates
		a.violations = max(a.violations, v.NumPDBViolations)
	}
	if len(foreign) > 0 {
		slices.SortStableFunc(a.victims, func(x, y engine.Victim) int { return cmp.Compare(y.Priority, x.Priority) })
	}
}

// echoed returns named victims as they came.
func echoed(v *engine.NodeVictims) []engine.Victim {
	out := make([]engine.Victim, 0, len(v.Victims))
	for _, n := range v.Victims {
		w := engine.Victim{Namespace: n.Namespace, Name: n.Name, UID: n.UID, Unknown: true}
		if n.Priority != nil {
			w.Priority = *n.Priority
		}
		out = append(out, w)
	}
	return out
}

// Named returns the result of Options.Victims: the nodes that are left, by name, with their
// victims, highest priority first.
func Named(r *engine.Result) []engine.PreemptionCandidate {
	out := []engine.PreemptionCandidate{}
	s := Of(r)
	if s == nil {
		return out
	}
	for i := range s.named {
		if n := &s.named[i]; n.kept {
			out = append(out, engine.PreemptionCandidate{Node: n.node, Victims: n.victims, NumPDBViolations: int(n.violations)})
		}
	}
	return out
}

// NamedMessage sums up the result of Options.Victims in words.
func NamedMessage(r *engine.Result) string {
	s := Of(r)
	if s == nil {
		return ""
	}
	kept, added := 0, 0
	for i := range s.named {
		if s.named[i].kept {
			kept++
			added += s.named[i].added
		}
	}
	return fmt.Sprintf("%d of %d nodes would take the pod, with %d more victims than were named", kept, len(s.named), added)
}

func (s *Search) explainNamed(level engine.Explain) *engine.Preemption {
	out := &engine.Preemption{Eligible: true, Candidates: Named(s.r)}
	for i := range s.named {
		n := &s.named[i]
		if n.kept {
			continue
		}
		not := engine.NotCandidate{
			Plugin: n.why.Plugin, Code: n.why.Code.String(), Reason: strings.Join(n.why.Reasons, ", "), Tried: true, Nodes: 1,
		}
		if level != engine.ExplainNone {
			not.Names = []string{n.node}
		}
		out.NotCandidates = append(out.NotCandidates, not)
	}
	return out
}
