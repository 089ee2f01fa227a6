package web

import (
	"encoding/json"
	"fmt"
	"html/template"
	"strings"

	"berth/internal/decision"
	"berth/internal/engine"
	"berth/internal/engine/explain/suggest"
	"berth/internal/report"
	"berth/internal/words"
)

// verdictView is a decision, as the pages of pods and of decisions show it.
type verdictView struct {
	*decision.Answer
	// Waiting is Groups with bars; of a recorded decision, which has no groups, Causes are its
	// failures.
	Waiting  []groupRow
	Causes   []failureRow
	Remedies []remedy
	Ledgers  []ledger
	Scores   *scoreTable
	Sieve    []sieveRow
	// NoVictims is why no pods are evicted, of a preemption without a node.
	NoVictims string
}

type groupRow struct {
	suggest.Group
	Bar template.HTML
}

type failureRow struct {
	engine.FailureCount
	Bar template.HTML
}

// remedy is a change that would help: the command that makes it where an apiserver takes one, and
// its patches.
type remedy struct {
	suggest.Suggestion
	Commands []string
	Patches  []string
}

func verdictOf(a *decision.Answer) *verdictView {
	out := &verdictView{Answer: a, Scores: scoresOf(a), Remedies: remediesOf(a.Suggestions)}
	for i := range a.Groups {
		g := &a.Groups[i]
		out.Waiting = append(out.Waiting, groupRow{*g, bar(g.Nodes, a.Counts.Nodes, "bad")})
	}
	if len(a.Groups) == 0 {
		for _, f := range a.Failures {
			out.Causes = append(out.Causes, failureRow{f, bar(f.Nodes, a.Counts.Nodes, "bad")})
		}
	}
	for i := range a.Spread {
		out.Ledgers = append(out.Ledgers, ledgerOf(&a.Spread[i]))
	}
	if a.Preemption != nil {
		out.Sieve, out.NoVictims = sieveOf(a.Preemption), report.NoVictims(a.Preemption)
	}
	return out
}

func remediesOf(list []suggest.Suggestion) []remedy {
	out := make([]remedy, 0, len(list))
	for i := range list {
		r := remedy{Suggestion: list[i]}
		if list[i].Command != "" {
			r.Commands = append(r.Commands, list[i].Command)
		}
		edits := list[i].Edits
		if len(edits) == 0 {
			edits = []suggest.Edit{list[i].Edit}
		}
		for j := range edits {
			js, err := json.Marshal(edits[j].Patch)
			if err != nil || len(edits[j].Patch) == 0 || edits[j].Patch[0].Op == "remove" && edits[j].Patch[0].Path == "" {
				continue // there is no patch that deletes
			}
			r.Patches = append(r.Patches, fmt.Sprintf("%s %s: %s", edits[j].Kind, edits[j].Name, js))
			if list[i].Command != "" {
				continue
			}
			if text := kubectl(list[i].Kind, &edits[j], string(js)); text != "" {
				r.Commands = append(r.Commands, text)
			}
		}
		out = append(out, r)
	}
	return out
}

// kubectl writes an edit as a command. It is empty where an apiserver refuses the change of an
// object that exists: most of a pod's spec is changed in its workload's template, and what a node
// has is the kubelet's to write.
func kubectl(kind string, e *suggest.Edit, patch string) string {
	switch kind {
	case "gate", "toleration", "budget":
	default:
		return ""
	}
	line := []string{"kubectl", "patch", strings.ToLower(e.Kind), words.Quote(e.Name)}
	if e.Namespace != "" {
		line = append(line, "-n", words.Quote(e.Namespace))
	}
	return strings.Join(append(line, "--type=json", "-p", words.Quote(patch)), " ")
}

// scoreTable is the scores of the best nodes, beside those of the chosen one.
type scoreTable struct {
	Plugins []scoreColumn
	// Same are the plugins that give all of these nodes the same points.
	Same []string
	Rows []scoreRow
	// Sentence describes by how much the chosen node won, and what decided it.
	Sentence string
	// Bins are all of the nodes by their points, where there are more than Rows; Others is how many
	// the answer does not list.
	Bins   []scoreBin
	Others int
}

// scoreColumn is a plugin, with the colour of its part of a bar.
type scoreColumn struct{ Name, Class string }

type scoreRow struct {
	engine.NodeVerdict
	Chosen bool
	Bar    template.HTML
	// Cells are the weighted scores in the order of the table's plugins.
	Cells []int64
}

// shownScores is how many nodes the table of scores has.
const shownScores = 10

func scoresOf(a *decision.Answer) *scoreTable {
	nodes := suggest.Scored(a.Nodes, a.Node)
	if len(nodes) == 0 {
		return nil
	}
	t := &scoreTable{Sentence: wonBy(nodes, a.Node)}
	most := max(*nodes[0].Score, 1)
	t.Bins, t.Others = binsOf(nodes, a.Node), a.Counts.Feasible-len(nodes)
	nodes = nodes[:min(len(nodes), shownScores)]
	same := suggest.EqualScores(nodes)
	for i, s := range nodes[0].Scores {
		if same[s.Plugin] && len(nodes) > 1 {
			t.Same = append(t.Same, s.Plugin)
			continue
		}
		t.Plugins = append(t.Plugins, scoreColumn{s.Plugin, fmt.Sprintf("s%d", i%8)})
	}
	for i := range nodes {
		n := &nodes[i]
		row := scoreRow{NodeVerdict: *n, Chosen: n.Name == a.Node, Bar: stack(n.Scores, most)}
		for _, p := range t.Plugins {
			row.Cells = append(row.Cells, weighted(n, p.Name))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func weighted(n *engine.NodeVerdict, plugin string) int64 {
	for _, s := range n.Scores {
		if s.Plugin == plugin {
			return s.Weighted
		}
	}
	return 0
}
