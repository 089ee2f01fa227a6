package web

import (
	"flag"
	"html/template"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"berth/internal/engine"
	"berth/internal/scenario"
)

var update = flag.Bool("update", false, "write the golden pictures again")

// Each picture is a golden file: go test ./internal/handlers/web -run Pictures -update writes them.
func TestPictures(t *testing.T) {
	limit := 3
	many := make([]mapCell, 300)
	for i := range many {
		many[i] = mapCell{"10 %", []string{"f1", "f9", "f1 cordoned"}[i%3], "n"}
	}
	sim := &scenario.Simulation{Profiles: []scenario.ProfileRun{
		{Name: "today", Series: []scenario.Sample{{Attempts: 0, Pending: 8}, {Attempts: 4, Pending: 4}, {Attempts: 8}}},
		{Name: "<other>", Series: []scenario.Sample{{Attempts: 0, Pending: 8}, {Attempts: 8, Pending: 2}}},
	}}
	for name, got := range map[string]template.HTML{
		"bar":         bar(1, 4, "bad"),
		"bar-none":    bar(0, 4, "bad"),
		"bar-least":   bar(1, 1_000_000, "bad"),
		"bar-of-none": bar(3, 0, "bad"),
		"stack":       stack([]engine.PluginScore{{Plugin: "A<b>", Weighted: 30}, {Plugin: "None"}, {Plugin: "C", Weighted: 70}}, 100),
		"ledger":      ledgerBar(2, 4, &limit, true, true),
		"ledger-over": ledgerBar(3, 4, &limit, false, true),
		"ledger-out":  ledgerBar(1, 4, nil, false, false),
		"strip":       strip([]stripCell{{"bad", "Unschedulable \"<x>\"", 352}, {"good", "Scheduled", 1}}),
		"cells":       cellsOf([]mapCell{{"fits", "good", "n1: fits"}, {"<b>", "s0 cordoned", "n2: <b>"}}),
		"cells-many":  cellsOf(many),
		"curve":       drawCurve("Pods that wait", sim, func(p *scenario.Sample) float64 { return float64(p.Pending) }).Picture,
		"curve-none":  drawCurve("Pods that wait", &scenario.Simulation{}, nil).Picture,
	} {
		file := filepath.Join("testdata", name+".svg")
		if *update {
			check(t, os.WriteFile(file, []byte(got), 0o644))
		}
		want, err := os.ReadFile(file)
		check(t, err)
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if found := inline.FindString(string(got)); found != "" || strings.Contains(string(got), "<b>") || strings.Contains(string(got), "<other>") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// The rounds are the engine's own, which count the candidates that an answer omits, too.
func TestSieveCountsCandidates(t *testing.T) {
	p := &engine.Preemption{
		Candidates: []engine.PreemptionCandidate{{Chosen: true}}, CandidatesOmitted: 21,
		Rounds: []engine.PreemptionRound{{Round: 2, Criterion: "lowest priority", Fell: 13, Left: 9}, {Round: 6, Criterion: "hash", Fell: 8, Left: 1}},
	}
	var got []sieveRow
	for _, r := range sieveOf(p) {
		r.Bar = ""
		got = append(got, r)
	}
	want := []sieveRow{{Criterion: "evictions help", Left: 22}, {Criterion: "lowest priority", Fell: 13, Left: 9}, {Criterion: "hash", Fell: 8, Left: 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if rows := sieveOf(&engine.Preemption{CandidatesOmitted: 1}); rows != nil {
		t.Errorf("without a choice: %+v", rows)
	}
}

// Many domains are counted by what is the same about them, and none is lost.
func TestLedgerFoldsDomains(t *testing.T) {
	least := 1
	c := &engine.SpreadConstraint{TopologyKey: "host", WhenUnsatisfiable: "DoNotSchedule", MaxSkew: 1, GlobalMinimum: &least}
	for i := range 40 {
		c.Domains = append(c.Domains, engine.SpreadDomain{Value: string(rune('a' + i%26)), Nodes: 1, Matching: 1 + i%2, SkewIfPlaced: 1 + i%2, Eligible: i != 39, Why: map[bool]string{true: "no node counts"}[i == 39]})
	}
	l := ledgerOf(c)
	domains, allowed := 0, 0
	for _, r := range l.Rows {
		domains += r.Merged
		if r.Allowed {
			allowed += r.Merged
		}
	}
	if len(l.Rows) != 3 || domains != 40 || allowed != 20 || *l.Limit != 2 {
		t.Errorf("%d rows for %d domains, %d allowed, limit %d", len(l.Rows), domains, allowed, *l.Limit)
	}
	c.Domains = c.Domains[:2]
	if l = ledgerOf(c); len(l.Rows) != 2 || !l.Rows[0].Allowed || l.Rows[1].Allowed {
		t.Errorf("%+v", l.Rows)
	}
}

func TestWonBy(t *testing.T) {
	node := func(name string, scores ...int64) engine.NodeVerdict {
		n := engine.NodeVerdict{Name: name, Feasible: true, Score: new(int64)}
		for i, s := range scores {
			n.Scores = append(n.Scores, engine.PluginScore{Plugin: string(rune('A' + i)), Weighted: s})
			*n.Score += s
		}
		return n
	}
	for want, nodes := range map[string][]engine.NodeVerdict{
		"It is the only node with a score.":                            {node("n1", 5)},
		"n2 is as good: equals are ordered by a hash of pod and node.": {node("n1", 5, 0), node("n2", 0, 5)},
		"It won by 3 points over n2; without A n2 wins.":               {node("n1", 9, 0), node("n2", 4, 2)},
		"It won by 1 point over n2.":                                   {node("n1", 5, 1), node("n2", 5, 0)},
		"":                                                             {node("n0", 9), node("n1", 5)},
	} {
		if got := wonBy(nodes, "n1"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
