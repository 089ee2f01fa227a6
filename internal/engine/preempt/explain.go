package preempt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"berth/internal/engine"
	"berth/internal/engine/state"
)

// How many nodes are listed unless everything is explained: candidates beside the chosen one, and
// names of nodes for one reason why they are no candidates. maxNamedPods bounds the pods that a
// search waits for. Of a pod's budgets no more than
// maxBudgets are listed at all: the Eviction API refuses a pod with two.
const (
	maxCandidates = 10
	maxNamedNodes = 10
	maxNamedPods  = 10
	maxBudgets    = 16
)

// evictions is a dry run on one node, with the reasons.
type evictions struct {
	victims   []engine.Victim
	pods      []*state.Pod      // the victims as the state knows them
	budgets   [][]engine.Budget // all of each victim
	reprieved []engine.Reprieved
	violating int
}

// detail tries a node once more, with every filter and with the reasons.
func (s *Search) detail(row int) *evictions {
	if e := s.details[row]; e != nil {
		return e
	}
	j := s.runs
	k := j.q.State.Ranking(row, j.now)
	from := k.Below(j.priority)
	because := make([][]string, len(k.Of)-from)
	j.begin(row, k.Pods[from:])
	j.reprieve(row, k, from, func(i int) {
		why := j.why(row)
		for _, reason := range why.Reasons {
			because[i] = append(because[i], why.Plugin+": "+reason)
		}
	})
	e := &evictions{}
	j.allowances.reset()
	for i := range because {
		p, of := k.Pods[from+i], &k.Of[from+i]
		all := j.allowances.entries(j.classes.Shape(of.Class), p.Name)
		budgets := all[:min(len(all), maxBudgets)]
		if j.gone.Has(i) {
			e.pods, e.budgets = append(e.pods, p), append(e.budgets, all)
			e.victims = append(e.victims, engine.Victim{
				Namespace: p.Namespace, Name: p.Name, UID: p.UID, Priority: of.Priority, GracePeriodSeconds: p.Grace,
				Terminating: p.Terminating, ViolatesPDB: j.violates(i), Budgets: budgets, BudgetsOmitted: len(all) - len(budgets), Because: because[i],
			})
			if j.violates(i) {
				e.violating++
			}
			continue
		}
		e.reprieved = append(e.reprieved, engine.Reprieved{
			Namespace: p.Namespace, Name: p.Name, UID: p.UID, Priority: of.Priority, ViolatesPDB: j.violates(i), Budgets: budgets, BudgetsOmitted: len(all) - len(budgets),
			Why: "the pod fits next to it" + j.keptBefore(k, from, i),
		})
	}
	s.details[row] = e
	return e
}

// keptBefore returns why a pod stays rather than the first victim that was tried after it, in
// parentheses; empty where there is none (pkg/scheduler/util MoreImportantPod).
func (j *dryRun) keptBefore(k *state.Ranking, from, i int) string {
	if j.violates(i) {
		return " (PDB-protected pods are kept first)"
	}
	for v := i + 1; v < len(k.Of)-from; v++ {
		stays, goes := &k.Of[from+i], &k.Of[from+v]
		switch {
		case !j.gone.Has(v) || j.violates(v):
		case stays.Priority > goes.Priority:
			return " (pods of higher priority are kept first)"
		case stays.Started == goes.Started:
			return " (of pods alike, the first by name is kept first)"
		default:
			return " (of one priority, those that started first are kept first)"
		}
	}
	return ""
}

// Explain writes the search for victims; nil where there was none.
func Explain(r *engine.Result, level engine.Explain) *engine.Preemption {
	s := Of(r)
	switch {
	case r.PostFilter == nil:
		return nil
	case r.PostFilter.Searched:
		return &engine.Preemption{Reason: r.PostFilter.FailedPlugin + " failed after it, which ends the phase: " + r.PostFilter.Error}
	case r.PostFilter.FailedPlugin != "":
		return &engine.Preemption{Reason: r.PostFilter.FailedPlugin + " failed before it: " + r.PostFilter.Error}
	case s == nil:
		return nil
	case s.r.Query.Options.Victims != nil:
		return s.explainNamed(level)
	}
	return s.explain(level)
}

func (s *Search) explain(level engine.Explain) *engine.Preemption {
	out := &engine.Preemption{Eligible: s.eligible, Reason: s.reason}
	if !s.eligible {
		for _, p := range s.waitsFor[:min(len(s.waitsFor), maxNamedPods)] {
			out.WaitsFor = append(out.WaitsFor, engine.PodRef{Namespace: p.Namespace, Name: p.Name, UID: p.UID})
		}
		return out
	}
	if s.best >= 0 {
		e := s.detail(s.Row())
		out.Node, out.Victims, out.NumPDBViolations = s.r.NominatedNode(), e.victims, e.violating
		out.Reprieved = e.reprieved
		for _, p := range ClearedNominations(s.r) {
			out.ClearedNominations = append(out.ClearedNominations, engine.PodRef{Namespace: p.Namespace, Name: p.Name, UID: p.UID})
		}
	}
	if level == engine.ExplainNone {
		out.CandidatesOmitted = len(s.candidates)
		return out
	}
	out.Rounds = s.rounds()
	s.explainCandidates(out, level)
	out.NotCandidates = s.notCandidates(level)
	return out
}

// rounds counts the candidates that lost to the chosen one by the round in which they did; nil
// where the chosen one is alone.
func (s *Search) rounds() (out []engine.PreemptionRound) {
	if s.best < 0 {
		return nil
	}
	var fell [len(Criteria)]int
	for i := range s.candidates {
		if i != s.best {
			round, _ := s.against(&s.candidates[s.best], &s.candidates[i])
			fell[round]++
		}
	}
	left := len(s.candidates)
	for i, n := range fell {
		if left -= n; n > 0 {
			out = append(out, engine.PreemptionRound{Round: i + 1, Criterion: Criteria[i], Fell: n, Left: left})
		}
	}
	return out
}

// explainCandidates lists the candidates as the tournament ranks them.
func (s *Search) explainCandidates(out *engine.Preemption, level engine.Explain) {
	all := s.candidates
	most := len(all)
	if level != engine.ExplainFull {
		most = min(most, maxCandidates+1)
	}
	list := make([]*candidate, 0, most+1)
	for i := range all {
		c := &all[i]
		order := func(o, c *candidate) int { _, n := s.against(o, c); return n }
		if len(list) == most && order(list[most-1], c) < 0 {
			continue
		}
		at, _ := slices.BinarySearchFunc(list, c, order)
		list = slices.Insert(list, at, c)[:min(len(list)+1, most)]
	}
	out.CandidatesOmitted = len(all) - len(list)
	for i, c := range list {
		e := s.detail(int(c.row))
		pc := engine.PreemptionCandidate{Node: s.r.Query.Nodes.Node(int(c.row)).Name, Victims: e.victims, NumPDBViolations: e.violating, Chosen: i == 0}
		if i > 0 {
			round, _ := s.against(list[0], c)
			pc.Lost = &engine.Tournament{Round: round + 1, Criterion: Criteria[round], Value: c.value(round), Best: list[0].value(round)}
		}
		out.Candidates = append(out.Candidates, pc)
	}
}

// notCandidates counts the other nodes by the reason why they are no candidates, those on which
// evictions were tried first.
func (s *Search) notCandidates(level engine.Explain) []engine.NotCandidate {
	var out []engine.NotCandidate
	type key struct {
		plugin, reasons string
		code            engine.Code
		tried           bool
	}
	index := map[key]int{}
	add := func(w engine.Rejection, tried bool, name string) {
		k := key{w.Plugin, fmt.Sprintf("%q", w.Reasons), w.Code, tried}
		at, known := index[k]
		if !known {
			at = len(out)
			index[k] = at
			out = append(out, engine.NotCandidate{Plugin: k.plugin, Code: k.code.String(), Reason: strings.Join(w.Reasons, ", "), Tried: tried})
		}
		out[at].Nodes++
		if level == engine.ExplainFull || len(out[at].Names) < maxNamedNodes {
			out[at].Names = append(out[at].Names, name)
		}
	}
	for _, row := range s.r.Query.Nodes.Order() {
		i := int(row)
		if !s.r.Query.Candidates.Has(i) {
			continue
		}
		name := s.r.Query.Nodes.Node(int(row)).Name
		if s.potential.Has(i) {
			if s.bare.Has(i) || s.unfit.Has(i) {
				add(s.whyNot(i), true, name)
			}
			continue
		}
		add(s.r.RejectionOf(i), false, name)
	}
	slices.SortStableFunc(out, func(a, b engine.NotCandidate) int {
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
