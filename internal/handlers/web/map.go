package web

import (
	"cmp"
	"fmt"
	"html"
	"html/template"
	"maps"
	"slices"
	"strings"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/handlers/rest"
	"berth/internal/scenario"
	"berth/internal/words"
)

// mapView is the nodes by zone and group, filled by the use of a resource or by the verdict on a
// pod.
type mapView struct {
	Snapshot, GroupLabel, Summary string
	// Resource is what cells are filled by; empty where they are filled by verdict.
	Resource  string
	Resources []string
	// Verdicts explain the fills of a pod's map.
	Verdicts []mapVerdict
	Zones    []mapZone
	// Nodes are those of the group that the URL names.
	Nodes []mapNode
}

// mapVerdict is one fill of a map by verdict.
type mapVerdict struct {
	Class, Rule string
	Nodes       int
}

type mapZone struct {
	Name   string
	Nodes  int
	Groups []mapGroup
}

// mapGroup is the nodes of a zone with one value of the group's label.
type mapGroup struct {
	Name  string
	Nodes int
	// Out counts the nodes that take no pods or are in trouble, by why.
	Out string
	// Percent is the use of the resource over the group; Words counts the verdicts.
	Percent int
	Words   string
	Picture template.HTML
	// Merged is how many groups with the same fills the row stands for.
	Merged      int
	cells       []mapCell
	part, whole int64
	out         map[string]int
}

type mapCell struct{ verdict, class, title string }

// mapNode is a node of the table behind a group.
type mapNode struct {
	scenario.NodeUse
	Verdict string
	// Use is requested of allocatable, a text for each of the first resources.
	Use []string
}

// mergedGroups is how many groups of a zone are drawn one by one; of more, those with the same
// fills are drawn once.
const mergedGroups = 40

func mapData(v *visit) string { return v.ofCluster([]string{"nodes"}, "group", "snapshot") }

func loadMap(v *visit) (string, any, error) {
	if v.cluster == "" {
		return "Map", nil, nil
	}
	nodes := &scenario.NodesUse{}
	if err := v.get(mapData(v), nodes); err != nil {
		return "Map", &mapView{}, err
	}
	if group := v.query.Get("group"); group != "" && len(nodes.Nodes) > 0 && !slices.ContainsFunc(nodes.Nodes, func(n scenario.NodeUse) bool { return n.Group != "" }) {
		return "Map", &mapView{Resources: nodes.Resources}, wrong("group", fmt.Sprintf("no node has the label %q", nodes.GroupLabel))
	}
	view := &mapView{Snapshot: nodes.Snapshot, GroupLabel: nodes.GroupLabel, Resources: nodes.Resources}
	fill, err := v.fillOf(view, nodes)
	if err != nil {
		return "Map", &mapView{Resources: nodes.Resources}, err
	}
	view.Zones = zonesOf(nodes, fill)
	if zone, group, named := strings.Cut(v.query.Get("in"), "/"); named {
		for i := range nodes.Nodes {
			n := &nodes.Nodes[i]
			if n.Zone == zone && n.Group == group {
				view.Nodes = append(view.Nodes, mapNode{*n, fill(i).verdict, usesOf(nodes, n)})
			}
		}
	}
	return "Map of " + view.Snapshot, view, nil
}

// fill is how a node's cell is drawn.
type fill struct {
	class, verdict string
	part, whole    int64
}

// fillOf returns the fill of each node: by the verdict on the pod that the URL names, else by the
// use of a resource.
func (v *visit) fillOf(view *mapView, nodes *scenario.NodesUse) (func(i int) fill, error) {
	if pod := v.query.Get("pod"); pod != "" {
		return v.fillByVerdict(view, nodes, pod)
	}
	view.Resource = cmp.Or(v.query.Get("resource"), "cpu")
	column := slices.Index(nodes.Resources, view.Resource)
	if column < 0 {
		return nil, wrong("resource", fmt.Sprintf("no node has %q; there are %s", view.Resource, strings.Join(nodes.Resources, ", ")))
	}
	view.Summary = fmt.Sprintf("%s by requested %s", words.Plural(len(nodes.Nodes), "node"), view.Resource)
	return func(i int) fill {
		n := &nodes.Nodes[i]
		p := percent(n.Requested[column], n.Allocatable[column])
		return fill{fmt.Sprintf("f%d", min(p/10, 9)), fmt.Sprintf("%d %%", p), n.Requested[column], n.Allocatable[column]}
	}, nil
}

func (v *visit) fillByVerdict(view *mapView, nodes *scenario.NodesUse, pod string) (func(i int) fill, error) {
	namespace, name, both := strings.Cut(pod, "/")
	if !both {
		return nil, wrong("pod", fmt.Sprintf("%q is no pod: want namespace/name", pod))
	}
	answer := &decision.Answer{}
	err := v.post("/v1/decisions", rest.DecisionRequest{
		Snapshot: nodes.Snapshot, PodRef: &rest.PodName{Namespace: namespace, Name: name}, Explain: string(engine.ExplainFull), DryRun: true,
	}, answer)
	if err != nil {
		return nil, err
	}
	rules, of := map[string]int{}, verdictsOf(answer)
	for _, rule := range of {
		rules[rule]++
	}
	for rule, n := range rules {
		view.Verdicts = append(view.Verdicts, mapVerdict{Rule: rule, Nodes: n})
	}
	slices.SortFunc(view.Verdicts, func(a, b mapVerdict) int { return cmp.Or(b.Nodes-a.Nodes, cmp.Compare(a.Rule, b.Rule)) })
	classes, rejections := maps.Clone(verdictClasses), 0
	for i := range view.Verdicts {
		d := &view.Verdicts[i]
		if classes[d.Rule] == "" {
			classes[d.Rule] = fmt.Sprintf("r%d", rejections%8)
			rejections++
		}
		d.Class = classes[d.Rule]
	}
	view.Summary = fitsSentence(pod, answer)
	return func(i int) fill {
		rule := cmp.Or(of[nodes.Nodes[i].Name], notAsked)
		return fill{class: classes[rule], verdict: rule}
	}, nil
}

// The verdicts that are not the name of the rule that rejects a node.
const (
	chosen       = "chosen"
	chosenEvicts = "chosen, by eviction"
	fits         = "fits"
	fitsEvicting = "fits by eviction"
	notAsked     = "not looked at"
)

// verdictClasses are their fills. Those of rules are r0 to r7, none of which is green.
var verdictClasses = map[string]string{chosen: "chosen", chosenEvicts: "chosen evicts", fits: "good", fitsEvicting: "evicts", notAsked: "out"}

// verdictsOf names the verdict of each node on a pod, by node.
func verdictsOf(answer *decision.Answer) map[string]string {
	of := make(map[string]string, len(answer.Nodes))
	for i := range answer.Nodes {
		n := &answer.Nodes[i]
		of[n.Name] = n.Plugin
		if n.Feasible {
			of[n.Name] = fits
		}
	}
	if p := answer.Preemption; p != nil {
		for i := range p.Candidates {
			of[p.Candidates[i].Node] = fitsEvicting
		}
	}
	if answer.NominatedNode != "" {
		of[answer.NominatedNode] = chosenEvicts
	}
	if answer.Node != "" {
		of[answer.Node] = chosen
	}
	return of
}

// fitsSentence describes on how many nodes a pod fits, as it is and by eviction.
func fitsSentence(pod string, answer *decision.Answer) string {
	all := words.Plural(answer.Counts.Nodes, "node")
	if p := answer.Preemption; p != nil && answer.NominatedNode != "" {
		return fmt.Sprintf("%s fits on no node as it is, and on %s of %s by eviction; %s is chosen", pod, words.Count(len(p.Candidates)+p.CandidatesOmitted), all, answer.NominatedNode)
	}
	return fmt.Sprintf("%s fits on %s of %s", pod, words.Count(answer.Counts.Feasible), all)
}

// zonesOf groups the nodes by zone and group, both by name.
func zonesOf(nodes *scenario.NodesUse, fillOf func(int) fill) []mapZone {
	type key struct{ zone, group string }
	groups := map[key]*mapGroup{}
	for i := range nodes.Nodes {
		n := &nodes.Nodes[i]
		k := key{n.Zone, n.Group}
		g := groups[k]
		if g == nil {
			g = &mapGroup{Name: n.Group, Merged: 1, out: map[string]int{}}
			groups[k] = g
		}
		f := fillOf(i)
		class := f.class
		g.Nodes++
		title := n.Name + ": " + f.verdict
		for _, state := range statesOf(n) {
			g.out[state.Word]++
			class += " " + state.Class
			title += ", " + state.Word
		}
		g.part, g.whole = g.part+f.part, g.whole+f.whole
		g.cells = append(g.cells, mapCell{f.verdict, class, title})
	}
	zones := map[string]*mapZone{}
	for k, g := range groups {
		z := zones[k.zone]
		if z == nil {
			z = &mapZone{Name: k.zone}
			zones[k.zone] = z
		}
		z.Nodes += g.Nodes
		z.Groups = append(z.Groups, *g)
	}
	out := make([]mapZone, 0, len(zones))
	for _, z := range zones {
		slices.SortFunc(z.Groups, func(a, b mapGroup) int { return cmp.Compare(a.Name, b.Name) })
		if len(z.Groups) > mergedGroups {
			z.Groups = mergeGroups(z.Groups)
		}
		for i := range z.Groups {
			g := &z.Groups[i]
			g.Picture, g.Words, g.Out = cellsOf(g.cells), countVerdicts(g.cells), countWords(g.out)
			g.Percent = percent(g.part, g.whole)
		}
		out = append(out, *z)
	}
	slices.SortFunc(out, func(a, b mapZone) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// countVerdicts writes how many nodes have each verdict, the commonest first.
func countVerdicts(cells []mapCell) string {
	counts := map[string]int{}
	for _, c := range cells {
		counts[c.verdict]++
	}
	return countWords(counts)
}

// countWords lists words with their numbers, the commonest first.
func countWords(counts map[string]int) string {
	list := slices.Collect(maps.Keys(counts))
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(counts[b]-counts[a], cmp.Compare(a, b)) })
	for i, word := range list {
		list[i] = word + " " + words.Count(counts[word])
	}
	return strings.Join(list, ", ")
}

// mergeGroups draws groups with the same fills once.
func mergeGroups(groups []mapGroup) []mapGroup {
	at := map[string]int{}
	var out []mapGroup
	for i := range groups {
		var k strings.Builder
		for _, c := range groups[i].cells {
			k.WriteString(c.class + ";")
		}
		n, known := at[k.String()]
		if !known {
			at[k.String()] = len(out)
			out = append(out, groups[i])
			continue
		}
		out[n].Merged++
		out[n].Nodes += groups[i].Nodes
		out[n].part, out[n].whole = out[n].part+groups[i].part, out[n].whole+groups[i].whole
		for word, nodes := range groups[i].out {
			out[n].out[word] += nodes
		}
	}
	return out
}

const (
	cellSize    = 11
	cellsInLine = 48
	// namedCells is how many cells of a group have titles; those of more are in the group's table.
	namedCells = 200
)

// cellsOf draws nodes as squares, line by line. Many are drawn as one path for each fill, which
// is a third of the bytes.
func cellsOf(cells []mapCell) template.HTML {
	var b strings.Builder
	paths := map[string]*strings.Builder{}
	for i, c := range cells {
		x, y := i%cellsInLine*cellSize, i/cellsInLine*cellSize
		if len(cells) <= namedCells {
			fmt.Fprintf(&b, `<rect class="%s" x="%d" y="%d" width="9" height="9"><title>%s</title></rect>`, c.class, x, y, html.EscapeString(c.title))
			continue
		}
		if paths[c.class] == nil {
			paths[c.class] = &strings.Builder{}
		}
		fmt.Fprintf(paths[c.class], "M%d %dh9v9h-9z", x, y)
	}
	for _, class := range slices.Sorted(maps.Keys(paths)) {
		fmt.Fprintf(&b, `<path class="%s" d="%s"/>`, class, paths[class])
	}
	lines := (len(cells) + cellsInLine - 1) / cellsInLine
	return svg(min(len(cells), cellsInLine)*cellSize, lines*cellSize, "cells", b.String())
}

// usesOf writes what is requested of each of the first resources.
func usesOf(nodes *scenario.NodesUse, n *scenario.NodeUse) []string {
	out := make([]string, 0, 3)
	for i, name := range nodes.Resources[:min(3, len(nodes.Resources))] {
		text := amounts(name, []int64{n.Requested[i], n.Allocatable[i]})
		out = append(out, text[0]+" of "+text[1])
	}
	return out
}
