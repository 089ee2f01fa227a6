package cli

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"berth/internal/engine"
	"berth/internal/engine/explain/suggest"
	"berth/internal/engine/rules"
	"berth/internal/podlife"
)

// oneNode shows a decision as one node sees it.
func (e *explain) oneNode(ctx context.Context, a *app, from *source, pod target) error {
	e.node = nodeName(e.node)
	if err := from.fullNames(ctx, &e.node); err != nil {
		if p := (*problem)(nil); errors.As(err, &p) && p.next == "" {
			p.next = whichNodes(a, args(pod, e.file))
		}
		return err
	}
	got, err := from.decide(ctx, question{pod: pod, explain: engine.ExplainAll, node: e.node})
	if err != nil {
		return err
	}
	var node, chosen *engine.NodeVerdict
	for i := range got.Nodes {
		if got.Nodes[i].Name == e.node {
			node = &got.Nodes[i]
		}
		if got.Nodes[i].Name == got.Node {
			chosen = &got.Nodes[i]
		}
	}
	if node == nil {
		return e.noNode(a, got, args(pod, e.file))
	}
	if a.o.output == formJSON {
		raw, err := json.Marshal(node)
		if err != nil {
			return fmt.Errorf("write the answer: %w", err)
		}
		if err := a.json(raw); err != nil {
			return err
		}
	} else {
		state, err := from.stateOf(ctx, node.Name, a.Now())
		if err == nil {
			err = a.showNode(got, node, chosen, state)
		}
		if err != nil {
			return err
		}
	}
	if !node.Feasible {
		return errNo
	}
	return nil
}

// whichNodes returns how to list the nodes.
func whichNodes(a *app, pod []string) string {
	return "Which nodes there are: " + strings.Join(a.again(pod)("explain", "--all"), " ")
}

// noNode returns the reason why a node is not in the answer.
func (e *explain) noNode(a *app, got *answer, pod []string) error {
	p := &problem{next: whichNodes(a, pod)}
	switch {
	case got.Outcome == engine.Gated:
		p.what, p.next = "the pod is gated: no node is looked at before its gates are gone", ""
	case got.NodesOmitted > 0:
		p.what, p.next = fmt.Sprintf("node %s was not looked at: the pod is nominated to %s, which fits", e.node, got.Node), ""
	default:
		p.what = fmt.Sprintf("there is no node %s", e.node)
	}
	return p
}

func (a *app) showNode(got *answer, node, chosen *engine.NodeVerdict, state string) error {
	p := a.page()
	p.nodes = []string{node.Name, got.Node}
	if state != "" {
		state = "the node is " + state
	}
	about := node.Name + " for " + got.Pod.Namespace + "/" + got.Pod.Name
	if !node.Feasible {
		p.head("REJECTED", red, about, state, "")
		p.gap()
		p.text(rejection(node))
		p.gap()
		p.table(obstacles(node))
		p.gap()
		p.labelled("KUBE", strings.Join(node.Reasons, ", "))
		return p.end(a)
	}
	p.head("FITS", green, about, state, "")
	p.gap()
	p.text(nodeSentence(got, node, chosen))
	if len(node.Scores) > 0 {
		p.gap()
		p.scores(node, chosen)
	}
	return p.end(a)
}

// rejection returns which rules reject a node, and whether evicting pods could help.
func rejection(node *engine.NodeVerdict) string {
	s := fmt.Sprintf("%s rejects it first (%s; %s), and kube-scheduler asks no further.", node.Plugin, node.Code, evictionHelps(node))
	switch n := len(node.AlsoFailing); {
	case n > 0:
		s += fmt.Sprintf(" %s would still reject it once that is mended.", plural(n, "other rule"))
	case len(node.NotJudged) == 0:
		s += " No other rule rejects it."
	}
	return s
}

// evictionHelps describes whether pods that leave the node could make room: not if one of
// the rules rejects it for good.
func evictionHelps(node *engine.NodeVerdict) string {
	unresolvable := engine.UnschedulableAndUnresolvable.String()
	if node.Code == unresolvable {
		return "evicting pods would not help"
	}
	for i := range node.AlsoFailing {
		if f := &node.AlsoFailing[i]; f.Code == unresolvable {
			return "evicting pods would not help, because of " + f.Plugin
		}
	}
	return "evicting pods might help"
}

// obstacles lists what each rule has against a node, the first one first.
func obstacles(node *engine.NodeVerdict) *table {
	t := newTable("RULE", "~WHAT IS IN THE WAY")
	add := func(rule string, details []engine.Detail, reasons []string) {
		words := make([]string, 0, len(details))
		for i := range details {
			words = append(words, rules.DetailWords(&details[i], amounts))
		}
		if len(words) == 0 {
			words = reasons
		}
		for i, w := range words {
			if i > 0 {
				rule = ""
			}
			t.add(rule, w)
		}
	}
	add(node.Plugin, node.Details, node.Reasons)
	for i := range node.AlsoFailing {
		f := &node.AlsoFailing[i]
		add("also "+f.Plugin, f.Details, f.Reasons)
	}
	for _, n := range node.NotJudged {
		add("not judged "+n.Plugin, nil, []string{n.Reason})
	}
	return t
}

func nodeSentence(got *answer, node, chosen *engine.NodeVerdict) string {
	switch {
	case node.Name == got.Node:
		return "The pod goes here."
	case node.Score == nil || chosen == nil || chosen.Score == nil:
		return fmt.Sprintf("It fits, and the pod goes to %s; nothing was scored.", got.Node)
	case *node.Score == *chosen.Score:
		return fmt.Sprintf("It is as good as %s, where the pod goes: equals are ordered by a hash of pod and node.", chosen.Name)
	}
	return fmt.Sprintf("It fits, %s behind %s, where the pod goes.", plural(int(*chosen.Score-*node.Score), "point"), chosen.Name)
}

// scores writes a node's points, rule by rule, beside those of the chosen one.
func (p *page) scores(node, chosen *engine.NodeVerdict) {
	other := chosen != nil && chosen.Name != node.Name
	head := []string{"SCORED BY", ">RAW", ">0-100", ">WEIGHT", ">POINTS"}
	if other {
		head = append(head, ">"+chosen.Name)
	}
	t := newTable(head...)
	for _, s := range node.Scores {
		row := []string{s.Plugin, fmt.Sprint(s.Raw), fmt.Sprint(s.Normalized), fmt.Sprint(s.Weight), fmt.Sprint(s.Weighted)}
		if other {
			row = append(row, pointsOf(chosen, s.Plugin))
		}
		t.add(row...)
		for i := range s.Parts {
			part := &s.Parts[i]
			row := []string{"- " + partWords(part), points(part.Points), "", "", ""}
			if other {
				row = append(row, "")
			}
			t.add(row...)
		}
	}
	total := []string{"all", "", "", "", fmt.Sprint(*node.Score)}
	if other {
		total = append(total, fmt.Sprint(*chosen.Score))
	}
	t.add(total...)
	p.table(t)
}

// partWords returns what a constraint or a term counts on a node.
func partWords(p *engine.ScorePart) string {
	by := strings.TrimPrefix(prefixes.Replace(p.TopologyKey), "kubernetes.io/")
	pods := plural(int(p.Count), "pod")
	switch p.By {
	case engine.PartSpread:
		return fmt.Sprintf("ScheduleAnyway over %s: %s x %s + %d", by, pods, points(p.Weight), p.Base)
	case engine.PartNodeAffinity, engine.PartAddedAffinity:
		if p.Count == 0 {
			return fmt.Sprintf("prefers %s (%s): not here", p.Term, points(p.Weight))
		}
		return "prefers " + p.Term
	case engine.PartMore:
		return p.Term + " more terms"
	case engine.PartAffinity, engine.PartAntiAffinity:
		return fmt.Sprintf("prefers %s: %s x %s", p.Term, pods, points(p.Weight))
	case engine.PartOthersAffinity, engine.PartOthersAntiAffin:
	}
	return fmt.Sprintf("others prefer %s: %s x %s", p.Term, pods, points(p.Weight))
}

// points writes a part of a score, which need not be a whole number.
func points(n float64) string { return strconv.FormatFloat(math.Round(n*100)/100, 'f', -1, 64) }

func exitForAll(got *answer) error {
	if got.Outcome == engine.Scheduled {
		return nil
	}
	return errNo
}

func pointsOf(node *engine.NodeVerdict, plugin string) string {
	for _, s := range node.Scores {
		if s.Plugin == plugin {
			return fmt.Sprint(s.Weighted)
		}
	}
	return ""
}

// allNodes lists every node: a line each, or a JSON object a line.
func (e *explain) allNodes(ctx context.Context, a *app, from *source, pod target, gaps *gaps) error {
	got, err := from.decide(ctx, question{pod: pod, explain: engine.ExplainFull})
	if err != nil {
		return err
	}
	if a.o.output == formJSON {
		var out bytes.Buffer
		enc := json.NewEncoder(&out)
		for i := range got.Nodes {
			if err := enc.Encode(&got.Nodes[i]); err != nil {
				return fmt.Errorf("write the answer: %w", err)
			}
		}
		if _, err := a.Out.Write(out.Bytes()); err != nil {
			return err
		}
		return exitForAll(got)
	}
	p := a.page()
	p.marks = maps.Clone(gaps.marks)
	maps.DeleteFunc(p.marks, func(_, mark string) bool { return mark != podlife.NodeNotReady }) // of others the rule tells
	same := suggest.EqualScores(suggest.Scored(got.Nodes, got.Node))
	t := newTable("@NODE", ">POINTS", "RULE", "~DETAIL")
	for i := range got.Nodes {
		n := &got.Nodes[i]
		points, rule, detail := "-", n.Plugin, strings.Join(n.Reasons, ", ")
		if n.Feasible {
			rule, detail = "fits", ""
			if n.Score != nil {
				points, detail = fmt.Sprint(*n.Score), scoresInLine(n.Scores, same)
			}
			if n.Name == got.Node {
				rule = "chosen"
			}
		} else if len(n.Details) > 0 {
			detail = rules.DetailWords(&n.Details[0], amounts)
			if more := len(n.Details) - 1; more > 0 {
				detail += fmt.Sprintf(" (and %d more)", more)
			}
		}
		t.add(n.Name, points, rule, detail)
	}
	p.table(t)
	if err := p.end(a); err != nil {
		return err
	}
	return exitForAll(got)
}

// scoresInLine names the plugins that gave the most points, the most first. Those
// in same are left out.
func scoresInLine(scores []engine.PluginScore, same map[string]bool) string {
	list := slices.Clone(scores)
	slices.SortStableFunc(list, func(a, b engine.PluginScore) int { return cmp.Compare(b.Weighted, a.Weighted) })
	var parts []string
	for _, s := range list {
		if s.Weighted != 0 && !same[s.Plugin] {
			parts = append(parts, fmt.Sprintf("%s %d", s.Plugin, s.Weighted))
		}
	}
	return strings.Join(parts, ", ")
}

// namedShown is how many objects a line of a group names, where there is not all the room.
const namedShown = 3

// inTheWay names the objects that are in the way on a group's nearest node.
func (v *verdict) inTheWay(g *suggest.Group) string {
	most := namedShown
	if v.wide {
		most = engine.MaxBlockers
	}
	s := rules.NamedWords(&g.Nearest.Detail, most, amounts)
	there := func(b engine.Blocker) bool { return b.Node == g.Nearest.Node || b.Kind == "CSINode" }
	if s != "" && g.Nodes > 1 && slices.ContainsFunc(g.Nearest.Detail.Blockers, there) {
		s = "; on " + g.Nearest.Node + strings.TrimPrefix(s, ";")
	}
	return s
}
