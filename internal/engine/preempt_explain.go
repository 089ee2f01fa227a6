package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"berth/internal/podlife"

	"berth/internal/engine/state"
)

// maxNamedNodes is how many nodes are named that are no candidates, unless everything is explained.
const maxNamedNodes = 10

// evictions is a dry run on one node, with the reasons.
type evictions struct {
	victims   []Victim
	pods      []*state.Pod // the victims as the state knows them
	reprieved []Reprieved
	violating int
}

// detail tries a node once more, with every filter and with the reasons.
func (r *Result) detail(row int) *evictions {
	d := r.dry
	if e := d.details[row]; e != nil {
		return e
	}
	j := d.judge
	k := j.q.State.Ranking(row, j.now)
	from := k.Below(j.priority)
	because := make([][]string, len(k.Of)-from)
	j.begin(row, k.Pods[from:])
	j.reprieve(row, k, from, func(i int) {
		plugin, _, reasons := j.why(row)
		for _, reason := range reasons {
			because[i] = append(because[i], plugin+": "+reason)
		}
	})
	e := &evictions{}
	j.allowances.reset()
	for i := range j.gone {
		p, of := k.Pods[from+i], &k.Of[from+i]
		budgets := j.allowances.entries(of.Shape, p.Name)
		if j.gone[i] {
			e.pods = append(e.pods, p)
			e.victims = append(e.victims, Victim{
				Namespace: p.Namespace, Name: p.Name, UID: p.UID, Priority: of.Priority, GracePeriodSeconds: p.Grace,
				Terminating: p.Terminating, ViolatesPDB: j.violates[i], Budgets: budgets, Because: because[i],
			})
			if j.violates[i] {
				e.violating++
			}
			continue
		}
		why := "the pod fits next to it"
		if j.violates[i] {
			why += " (PDB-protected pods are kept first)"
		}
		e.reprieved = append(e.reprieved, Reprieved{
			Namespace: p.Namespace, Name: p.Name, UID: p.UID, Priority: of.Priority, ViolatesPDB: j.violates[i], Budgets: budgets, Why: why,
		})
	}
	d.details[row] = e
	return e
}

// explainPreemption writes the search for victims; nil where there was none.
func (r *Result) explainPreemption(level Explain) *Preemption {
	d := r.dry
	switch {
	case d == nil:
		return nil
	case r.q.Options.Victims != nil:
		return r.explainAsked(level)
	case d.failed != "":
		return &Preemption{Reason: "DynamicResources failed before it: " + d.failed}
	case !r.q.Profile.Preemption:
		return nil
	}
	out := &Preemption{Eligible: d.eligible, Reason: d.reason}
	if !d.eligible {
		return out
	}
	if d.best >= 0 {
		row := int(d.candidates[d.best].row)
		e := r.detail(row)
		periods := make([]int64, len(e.victims))
		for i := range e.victims {
			periods[i] = e.victims[i].GracePeriodSeconds
		}
		longest := podlife.LongestWait(periods...)
		out.Node, out.Victims, out.NumPDBViolations, out.StartsWithinSeconds = r.NominatedNode(), e.victims, e.violating, &longest
		out.Reprieved = e.reprieved
		for _, p := range r.ClearedNominations() {
			out.ClearedNominations = append(out.ClearedNominations, PodRef{p.Namespace, p.Name, p.UID})
		}
	}
	if level == ExplainNone {
		out.CandidatesOmitted = len(d.candidates)
		return out
	}
	r.explainCandidates(out, level)
	out.NotCandidates = r.notCandidates(level)
	return out
}

// explainCandidates lists the candidates as the tournament ranks them.
func (r *Result) explainCandidates(out *Preemption, level Explain) {
	all := r.dry.candidates
	most := len(all)
	if level != ExplainFull {
		most = min(most, bestListed+1)
	}
	list := make([]*candidate, 0, most+1)
	for i := range all {
		c := &all[i]
		order := func(o, c *candidate) int { _, n := r.against(o, c); return n }
		if len(list) == most && order(list[most-1], c) < 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(list, c, order)
		list = slices.Insert(list, at, c)[:min(len(list)+1, most)]
	}
	out.CandidatesOmitted = len(all) - len(list)
	for i, c := range list {
		e := r.detail(int(c.row))
		pc := PreemptionCandidate{Node: r.q.Nodes.Node(int(c.row)).Name, Victims: e.victims, NumPDBViolations: e.violating, Chosen: i == 0}
		if i > 0 {
			round, _ := r.against(list[0], c)
			pc.Lost = &Tournament{Round: round + 1, Criterion: Criteria[round], Value: c.value(round), Best: list[0].value(round)}
		}
		out.Candidates = append(out.Candidates, pc)
	}
}

// notCandidates counts the other nodes by the reason why they are no candidates, those on which
// evictions were tried first.
func (r *Result) notCandidates(level Explain) []NotCandidate {
	var out []NotCandidate
	type key struct {
		plugin, reasons string
		code            Code
		tried           bool
	}
	index := map[key]int{}
	add := func(w refusal, tried bool, name string) {
		k := key{w.Plugin, fmt.Sprintf("%q", w.Reasons), w.Code, tried}
		at, known := index[k]
		if !known {
			at = len(out)
			index[k] = at
			out = append(out, NotCandidate{Plugin: k.plugin, Code: k.code.String(), Reason: strings.Join(w.Reasons, ", "), Tried: tried})
		}
		out[at].Nodes++
		if level == ExplainFull || len(out[at].Names) < maxNamedNodes {
			out[at].Names = append(out[at].Names, name)
		}
	}
	d := r.dry
	for _, row := range r.q.Nodes.Order() {
		i := int(row)
		if !r.q.Candidates.Has(i) {
			continue
		}
		name := r.q.Nodes.Node(int(row)).Name
		if d.potential.Has(i) {
			if d.bare.Has(i) || d.unfit.Has(i) {
				add(r.whyNot(i), true, name)
			}
			continue
		}
		add(r.refusalOf(i), false, name)
	}
	slices.SortStableFunc(out, func(a, b NotCandidate) int {
		if a.Tried != b.Tried {
			if a.Tried {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(b.Nodes, a.Nodes), cmp.Compare(a.Plugin, b.Plugin), cmp.Compare(a.Reason, b.Reason))
	})
	return out
}

// Evictions lists the victims on the chosen node, by importance.
func (r *Result) Evictions() []Victim {
	if r.dry == nil || r.dry.best < 0 {
		return nil
	}
	return r.detail(int(r.dry.candidates[r.dry.best].row)).victims
}
