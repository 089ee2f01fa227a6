package engine

import (
	"cmp"
	"fmt"
	"slices"

	"berth/internal/engine/state"
)

// NodeVictims is a node and the pods that kube-scheduler would evict there.
type NodeVictims struct {
	Node    string        `json:"node"`
	Victims []NamedVictim `json:"victims"`
	// NumPDBViolations is kube-scheduler's own count.
	NumPDBViolations int64 `json:"numPDBViolations,omitempty"`
}

// NamedVictim is a pod as kube-scheduler names it. The fields beside the UID are for pods that the
// state does not have on the node; they are nil or empty where only the UID was sent.
type NamedVictim struct {
	UID       string            `json:"uid"`
	Namespace string            `json:"namespace,omitempty"`
	Name      string            `json:"name,omitempty"`
	Priority  *int32            `json:"priority,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
}

// judged is the result for a node of Options.Victims.
type judged struct {
	node       string
	kept       bool
	known      bool // the state has the node
	why        refusal
	victims    []Victim
	violations int64
	added      int // victims beyond those named
}

// judgeVictims answers Options.Victims. Of what the state does not know, the answer changes
// nothing: a node that it does not have stays as it came, and so does a pod that it does not have
// on the node, since kube-scheduler's cache may be ahead. Such a pod counts for nothing here.
func (r *Result) judgeVictims() error {
	q := r.q
	d := &dryRun{best: -1, eligible: true, potential: q.Bits(), bare: q.Bits(), unfit: q.Bits(), details: map[int]*evictions{}}
	r.dry = d
	skip := make([]bool, len(q.Profile.Rules))
	names, _, err := r.preFilter(skip)
	if err != nil {
		return err
	}
	for _, v := range q.Options.Victims {
		if row := q.Nodes.Row(v.Node); row >= 0 {
			d.potential.Set(row)
		}
	}
	q.Candidates = d.potential
	if r.PreFilter == nil {
		d.judge = newRowJudge(r, skip, d.potential)
	}
	for i := range q.Options.Victims {
		v := &q.Options.Victims[i]
		a := judged{node: v.Node, kept: true, victims: []Victim{}}
		row := q.Nodes.Row(v.Node)
		switch {
		case row < 0:
			a.victims, a.violations = echoed(v), v.NumPDBViolations
		case r.PreFilter != nil:
			a.kept, a.known, a.why = false, true, refusal{r.PreFilter.Plugin, r.PreFilter.Code, []string{r.PreFilter.Reason}}
		default:
			a.known = true
			if _, ok := names[v.Node]; names != nil && !ok {
				a.kept, a.why = false, refusal{"", UnschedulableAndUnresolvable, []string{"the pod names its nodes, and this is none of them"}}
				break
			}
			d.judge.ask(row, v, &a)
		}
		d.asked = append(d.asked, a)
		if a.kept {
			r.Outcome = Preempting
		}
	}
	slices.SortFunc(d.asked, func(a, b judged) int { return cmp.Compare(a.node, b.node) })
	return nil
}

// ask judges one node: first without the named victims, then without all pods of lower priority, of
// which those are put back that can stay.
func (j *rowJudge) ask(row int, v *NodeVictims, a *judged) {
	k := j.q.State.Ranking(row, j.now)
	index := make(map[string]int, len(k.Pods))
	for i, p := range k.Pods {
		index[p.UID] = i
	}
	named := make([]bool, len(k.Pods))
	var known []*state.Pod
	var foreign []NamedVictim
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
			plugin, code, reasons := j.why(row)
			a.kept, a.why = false, refusal{plugin, code, reasons}
			return
		}
		a.added = j.spareUnnamed(row, k, from, named)
	}
	j.account(k, from, named, foreign, v, a)
}

// spareUnnamed puts back pods that were not named while the pod still fits, and names those that
// cannot stay.
func (j *rowJudge) spareUnnamed(row int, k *state.Ranking, from int, named []bool) (added int) {
	j.classify(k, from)
	for _, forbidden := range []bool{true, false} {
		for i := from; i < len(k.Pods); i++ {
			if named[i] || j.violates[i-from] != forbidden {
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
func (j *rowJudge) account(k *state.Ranking, from int, named []bool, foreign []NamedVictim, v *NodeVictims, a *judged) {
	j.classify(k, from)
	violating := func(i int) bool { return i >= from && j.violates[i-from] }
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
		w := Victim{Namespace: p.Namespace, Name: p.Name, UID: p.UID, Priority: k.Of[i].Priority, GracePeriodSeconds: p.Grace, Terminating: p.Terminating, ViolatesPDB: violating(i)}
		if w.ViolatesPDB {
			a.violations++
		}
		a.victims = append(a.victims, w)
	}
	blind := false
	for _, n := range foreign {
		w := Victim{Namespace: n.Namespace, Name: n.Name, UID: n.UID, Priority: priorities[n.UID], Unknown: true}
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
		slices.SortStableFunc(a.victims, func(x, y Victim) int { return cmp.Compare(y.Priority, x.Priority) })
	}
}

// echoed returns named victims as they came.
func echoed(v *NodeVictims) []Victim {
	out := make([]Victim, 0, len(v.Victims))
	for _, n := range v.Victims {
		w := Victim{Namespace: n.Namespace, Name: n.Name, UID: n.UID, Unknown: true}
		if n.Priority != nil {
			w.Priority = *n.Priority
		}
		out = append(out, w)
	}
	return out
}

// AskedVictims returns the result of Options.Victims: the nodes that are left, by name, with their
// victims, highest priority first.
func (r *Result) AskedVictims() []PreemptionCandidate {
	out := []PreemptionCandidate{}
	if r.dry == nil {
		return out
	}
	for i := range r.dry.asked {
		if a := &r.dry.asked[i]; a.kept {
			out = append(out, PreemptionCandidate{Node: a.node, Victims: a.victims, NumPDBViolations: int(a.violations)})
		}
	}
	return out
}

// askedMessage sums up the result of Options.Victims in words.
func (r *Result) askedMessage() string {
	if r.dry == nil {
		return ""
	}
	kept, added := 0, 0
	for i := range r.dry.asked {
		if r.dry.asked[i].kept {
			kept++
			added += r.dry.asked[i].added
		}
	}
	return fmt.Sprintf("%d of %d nodes would take the pod, with %d more victims than were named", kept, len(r.dry.asked), added)
}

func (r *Result) explainAsked(level Explain) *Preemption {
	out := &Preemption{Eligible: true, Candidates: r.AskedVictims()}
	for i := range r.dry.asked {
		if a := &r.dry.asked[i]; !a.kept {
			reason := ""
			for k, text := range a.why.Reasons {
				if k > 0 {
					reason += ", "
				}
				reason += text
			}
			n := NotCandidate{Plugin: a.why.Plugin, Code: a.why.Code.String(), Reason: reason, Tried: true, Nodes: 1}
			if level != ExplainNone {
				n.Names = []string{a.node}
			}
			out.NotCandidates = append(out.NotCandidates, n)
		}
	}
	return out
}

func (r *Result) digestAsked(str func(string), num func(int64)) {
	for i := range r.dry.asked {
		a := &r.dry.asked[i]
		str(a.node)
		if !a.kept {
			str("dropped " + a.why.Plugin)
			continue
		}
		num(a.violations)
		for k := range a.victims {
			str(a.victims[k].UID)
			num(int64(a.victims[k].Priority))
		}
	}
}
