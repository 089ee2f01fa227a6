package suggest

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine"
	"berth/internal/engine/explain"
	"berth/internal/engine/rules"
)

const (
	// maxPairs is how many pairs of causes are tried, maxPairRows on how many nodes they are looked
	// for.
	maxPairs    = 6
	maxPairRows = 1024
	// maxPairOffers is how many second changes are kept for one first change.
	maxPairOffers = 2
)

// remedy is a cause that a change may remove.
type remedy struct {
	kind, about string
}

// pairOf is two causes that alone keep the pod off some nodes.
type pairOf [2]remedy

// pairRow is such a node, with the detail of each.
type pairRow struct {
	row     int
	details [2]*engine.Detail
}

// remedyFor names the kind of change that may remove a cause; ok is false for a cause that no
// change of the pod or of an amount removes.
func remedyFor(d *engine.Detail) (r remedy, ok bool) {
	switch d.Kind {
	case "taint":
		return remedy{"toleration", rules.TaintWords(d)}, !ails(d.Key)
	case "resource":
		return remedy{"resource", d.Name}, d.Requested != nil && d.Available != nil
	case "topologySpread":
		return remedy{"topologySpread", d.TopologyKey}, d.Skew != nil
	case "nodeAffinity":
		switch d.Name {
		case "nodeSelector":
			return remedy{"nodeSelector", d.Key}, true
		case "addedAffinity":
			return remedy{}, false
		}
		return remedy{"nodeAffinity", ""}, true
	case "narrowed":
		return remedy{"nodeAffinity", ""}, true
	case "port":
		return remedy{"hostPort", fmt.Sprintf("%d/%s", d.Port, d.Protocol)}, true
	case "podAffinity", "podAntiAffinity":
		return remedy{d.Kind, ""}, true
	case "unschedulable":
		return remedy{"uncordon", ""}, true
	}
	return remedy{}, false
}

// pairs tries two changes at once, for the nodes that two causes keep the pod off.
func (s *searcher) pairs(alone *explain.Alone) {
	rows := s.pairRows(alone)
	keys := slices.SortedFunc(maps.Keys(rows), func(a, b pairOf) int {
		return cmp.Or(len(rows[b])-len(rows[a]), cmp.Compare(a[0].kind, b[0].kind), cmp.Compare(a[0].about, b[0].about), cmp.Compare(a[1].kind, b[1].kind), cmp.Compare(a[1].about, b[1].about))
	})
	for _, k := range keys[:min(len(keys), maxPairs)] {
		if k[0].kind == "resource" {
			s.twoResources(rows[k])
			continue
		}
		if change, ops := s.relax(k[0], rows[k]); len(ops) > 0 {
			s.then(k, change, ops)
		}
	}
}

// pairRows finds the nodes against which there are exactly two causes.
func (s *searcher) pairRows(alone *explain.Alone) map[pairOf][]pairRow {
	out := map[pairOf][]pairRow{}
	looked := 0
	for _, r := range s.base.Nodes().Order() {
		row := int(r)
		if !s.base.Query.Candidates.Has(row) || s.base.Feasible.Has(row) {
			continue
		}
		// The reasons without their details are cheap, and exclude most nodes.
		if failing, broken := alone.Failing(row, false); len(failing) > 1 || len(broken) > 0 {
			continue
		}
		if looked++; looked > maxPairRows {
			break
		}
		v := explain.Verdict(s.base, row)
		rules := []engine.RuleFailure{{Details: v.Details}}
		failing, _ := alone.Failing(row, true)
		if k, p, ok := pairAgainst(append(rules, failing...)); ok {
			p.row = row
			out[k] = append(out[k], p)
		}
	}
	return out
}

// pairAgainst returns the two causes of a node that has two, in the order in which their changes
// are tried: a resource comes last, when the amount it is short by is known.
func pairAgainst(rules []engine.RuleFailure) (k pairOf, p pairRow, ok bool) {
	n := 0
	for _, f := range rules {
		if len(f.Details) == 0 {
			return k, p, false
		}
		for i := range f.Details {
			r, ok := remedyFor(&f.Details[i])
			switch {
			case !ok:
				return k, p, false
			case slices.Contains(k[:n], r):
				continue
			case n == len(k):
				return k, p, false
			}
			k[n], p.details[n] = r, &f.Details[i]
			n++
		}
	}
	last := func(r remedy) bool { return r.kind == "resource" || r.kind == "uncordon" }
	if last(k[0]) && !last(k[1]) {
		k[0], k[1] = k[1], k[0]
		p.details[0], p.details[1] = p.details[1], p.details[0]
	}
	return k, p, n == len(k)
}

// relax returns the change of the pod that removes the first cause on these nodes.
func (s *searcher) relax(r remedy, rows []pairRow) (change string, ops []Op) {
	spec, d := &s.q.Pod.Spec, rows[0].details[0]
	switch r.kind {
	case "toleration":
		t, change := tolerationOf(d)
		return change, []Op{s.addToleration(t)}
	case "topologySpread":
		least := *d.Skew
		for i := range rows {
			least = min(least, *rows[i].details[0].Skew)
		}
		for i := range spec.TopologySpreadConstraints {
			if c := &spec.TopologySpreadConstraints[i]; c.TopologyKey == r.about && c.WhenUnsatisfiable == corev1.DoNotSchedule && int64(c.MaxSkew) < least {
				return skewChange(i, c, least)
			}
		}
	case "nodeSelector":
		return fmt.Sprintf("drop %s=%s from nodeSelector", r.about, spec.NodeSelector[r.about]), []Op{{Op: "remove", Path: pointer("spec", "nodeSelector", r.about)}}
	case "nodeAffinity":
		if a := spec.Affinity; a != nil && a.NodeAffinity != nil && a.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution != nil {
			return "drop the required node affinity", []Op{{Op: "remove", Path: requiredAffinity}}
		}
	case "hostPort":
		if !spec.HostNetwork {
			return "give up host port " + r.about, s.onPort(d.Port, d.Protocol, 0)
		}
	case "podAffinity", "podAntiAffinity":
		if terms := requiredTerms(spec.Affinity, r.kind); len(terms) == 1 {
			return termChange(r.kind, 0, terms[0].TopologyKey)
		}
	}
	return "", nil
}

// requiredTerms returns the required terms of inter-pod affinity of a kind.
func requiredTerms(a *corev1.Affinity, kind string) []corev1.PodAffinityTerm {
	switch {
	case a == nil:
	case kind == "podAffinity" && a.PodAffinity != nil:
		return a.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	case kind == "podAntiAffinity" && a.PodAntiAffinity != nil:
		return a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution
	}
	return nil
}

// then looks for single changes that help once the first is made.
func (s *searcher) then(k pairOf, change string, ops []Op) {
	pod := s.patched(ops)
	if pod == nil {
		return
	}
	r := s.decide(s.q.State, pod, placing)
	if r == nil {
		return
	}
	defer r.Release()
	next := &searcher{q: s.q, base: r, check: s.check, seen: collect(r, s.check), tries: s.tries, limit: s.limit}
	next.q.Pod = pod
	var err error
	if next.pod, err = encode(pod); err != nil {
		return
	}
	next.single(k[1].kind)
	s.tries = next.tries
	slices.SortStableFunc(next.found, cheapest)
	kept := 0
	for _, o := range next.found {
		if kept == maxPairOffers {
			return
		}
		kept++
		first := Edit{"Pod", s.q.Pod.Namespace, s.q.Pod.Name, ops}
		g := Suggestion{
			Kind: "pair", Parts: []string{k[0].kind, o.Kind}, Change: change + ", and " + o.Change,
			Target: o.Target, Node: o.Node, Action: o.Action, Edit: first,
		}
		cost := costPair
		if o.Edit.Kind == "Pod" {
			g.Edit.Patch = append(slices.Clone(ops), o.Edit.Patch...)
		} else {
			g.Edits, cost = []Edit{first, o.Edit}, costPairCapacity
		}
		s.keep(o.fits, engine.Scheduled, cost, g)
	}
}

// single tries single changes of one kind.
func (s *searcher) single(kind string) {
	switch kind {
	case "toleration":
		s.tolerations()
	case "resource":
		s.resources()
	case "topologySpread":
		s.spreading()
	case "nodeSelector":
		s.selectors()
	case "nodeAffinity":
		s.affinity()
	case "hostPort":
		s.ports()
	case "podAffinity", "podAntiAffinity":
		s.podAffinity()
	case "uncordon":
		s.cordons()
	}
}

// twoResources lowers two requests, or raises both capacities of a node: the one that is short of
// the smallest share of the requests, the first by name among equals.
func (s *searcher) twoResources(rows []pairRow) {
	share := func(p *pairRow) float64 {
		worst := 0.0
		for _, d := range p.details {
			worst = max(worst, float64(*d.Requested-*d.Available)/float64(*d.Requested))
		}
		return worst
	}
	best := &rows[0]
	for i := range rows {
		if share(&rows[i]) < share(best) {
			best = &rows[i]
		}
	}
	s.lowerBoth(best)
	name := s.base.Nodes().Node(best.row).Name
	n, _ := s.node(name)
	if n == nil || n.Status.Allocatable == nil {
		return
	}
	var ops []Op
	var more []string
	for _, d := range best.details {
		op, words := capacityOp(n, d.Name, *d.Requested-*d.Available)
		ops, more = append(ops, op), append(more, words)
	}
	s.offerAs("capacity", func() {
		s.offerNode("pair", costPairCapacity, name, strings.Join(more, " and ")+" on node "+name, ops...)
	})
}

// lowerBoth lowers the largest request for each resource by the node's shortfall.
func (s *searcher) lowerBoth(p *pairRow) {
	if s.q.Pod.Spec.Resources != nil {
		return
	}
	var ops []Op
	var less []string
	for _, d := range p.details {
		key := corev1.ResourceName(d.Name)
		at, ok := largest(s.q.Pod, key)
		if !ok {
			return
		}
		old := amountOf(key, at.list[at.at].Resources.Requests[key])
		n := wholePages(key, old-(*d.Requested-*d.Available))
		if n < 1 {
			return
		}
		ops = append(ops, s.lower(key, at, n)...)
		less = append(less, fmt.Sprintf("the %s request of container %s %s", key, at.list[at.at].Name, fromTo(key, old, n)))
	}
	s.offerAs("resource", func() {
		s.offerPod("pair", costPair, ChangePod, "lower "+strings.Join(less, " and "), ops...)
	})
}

// offerAs names the parts of the pairs that are found: two changes of one kind.
func (s *searcher) offerAs(kind string, offer func()) {
	from := len(s.found)
	offer()
	for i := range s.found[from:] {
		s.found[from+i].Parts = []string{kind, kind}
	}
}
