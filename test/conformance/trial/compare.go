package trial

import (
	"fmt"
	"slices"

	"berth/test/conformance/oracle"
)

// Difference is one place where berth and upstream disagree. Class is its path
// without the node's name, so that like differences can be counted together.
type Difference struct {
	Class string `json:"class"`
	Path  string `json:"path"`
	Want  string `json:"want"` // upstream
	Got   string `json:"got"`  // berth
}

func (d Difference) String() string {
	return fmt.Sprintf("%s: upstream %s, berth %s", d.Path, d.Want, d.Got)
}

type comparison struct{ diffs []Difference }

func (c *comparison) same(class, path string, want, got any) {
	if w, g := fmt.Sprintf("%q", fmt.Sprint(want)), fmt.Sprintf("%q", fmt.Sprint(got)); w != g {
		c.diffs = append(c.diffs, Difference{Class: class, Path: path, Want: w, Got: g})
	}
}

// preempting is berth's outcome where upstream finds victims.
const preempting = "Preempting"

// Compare lists the differences between upstream's verdict and berth's answer
// to a request with "explain":"full"; preempt reports whether preemption was not
// turned off in it.
func Compare(v *oracle.Verdict, a *Answer, preempt bool) []Difference {
	c := &comparison{}
	outcome, message := v.Outcome, v.Message
	if preempt && v.Outcome == oracle.Unschedulable {
		if v.PostFilter != "" {
			message += " " + v.PostFilter
		}
		if v.Preemption != nil && len(v.Preemption.Candidates) > 0 {
			outcome = preempting
			if told := v.Preemption.Told[a.NominatedNode]; told != "" {
				message += " " + told
			}
		}
	}
	c.same("outcome", "outcome", outcome, a.Outcome)
	if outcome != a.Outcome {
		return c.diffs
	}
	switch v.Outcome {
	case oracle.Gated:
		c.same("gates", "gates", v.Gates, a.Gates)
		if len(v.Gates) == 0 {
			c.same("message", "message", v.Message, a.Message)
		}
		return c.diffs
	case oracle.Unschedulable:
		c.same("message", "message", message, a.Message)
		if preempt && v.Preemption != nil {
			c.preemption(v.Preemption, a)
		}
	case oracle.Scheduled:
		if !slices.Contains(v.Best, a.Node) {
			c.same("node", "node", v.Best, a.Node)
		}
		c.same("best", "best", v.Best, sorted(a.Best))
		if want, ok := v.Devices[a.Node]; ok {
			got := []string{}
			for _, d := range a.Devices {
				if d.Claim != "<extended-resources>" {
					got = append(got, fmt.Sprintf("%s %s %s/%s/%s", d.Claim, d.Request, d.Driver, d.Pool, d.Device))
				}
			}
			c.same("devices", "devices", want, got)
		}
	}
	if v.Nominated {
		return c.diffs // upstream looked at no other node
	}
	c.same("counts.nodes", "counts.nodes", v.Nodes, a.Counts.Nodes)
	c.same("counts.feasible", "counts.feasible", len(v.Feasible), a.Counts.Feasible)
	if v.Nodes > 0 {
		c.nodes(v, a)
	}
	return c.diffs
}

func (c *comparison) nodes(v *oracle.Verdict, a *Answer) {
	got := map[string]*NodeAnswer{}
	var names []string
	for i := range a.Nodes {
		got[a.Nodes[i].Name] = &a.Nodes[i]
		names = append(names, a.Nodes[i].Name)
	}
	if !slices.IsSorted(names) || len(got) != len(names) {
		c.same("nodes.order", "nodes", sorted(names), names)
	}
	want := slices.Clone(v.Feasible)
	for _, f := range v.Failures {
		want = append(want, f.Nodes...)
	}
	c.same("nodes.names", "nodes", sorted(want), sorted(names))
	for _, name := range v.Feasible {
		if n := got[name]; n != nil {
			c.feasible(v, n)
		}
	}
	for _, f := range v.Failures {
		for _, name := range f.Nodes {
			if n := got[name]; n != nil {
				c.failed(f, n)
			}
		}
	}
}

func (c *comparison) failed(f oracle.Failure, n *NodeAnswer) {
	at := "nodes[" + n.Name + "]"
	if n.Feasible {
		c.same("feasible."+f.Plugin, at+".feasible", fmt.Sprintf("refused by %s: %q", f.Plugin, f.Reasons), "feasible")
		return
	}
	if f.Plugin != "" {
		c.same("plugin."+f.Plugin, at+".plugin", f.Plugin, n.Plugin)
	}
	c.same("code."+f.Plugin, at+".code", f.Code, n.Code)
	c.same("reasons."+f.Plugin, at+".reasons", f.Reasons, sorted(n.Reasons))
}

func (c *comparison) feasible(v *oracle.Verdict, n *NodeAnswer) {
	at := "nodes[" + n.Name + "]"
	if !n.Feasible {
		c.same("feasible."+n.Plugin, at+".feasible", "feasible", fmt.Sprintf("refused by %s: %q", n.Plugin, n.Reasons))
		return
	}
	if v.Scores == nil {
		c.same("scores", at+".scores", 0, len(n.Scores))
		return
	}
	row := v.Scores.Nodes[n.Name]
	c.same("score", at+".score", row.Total, n.Score)
	got := map[string]ScoreAnswer{}
	var plugins []string
	for _, s := range n.Scores {
		got[s.Plugin] = s
		plugins = append(plugins, s.Plugin)
	}
	c.same("scores.plugins", at+".scores", sorted(v.Scores.Plugins), sorted(plugins))
	for i, p := range v.Scores.Plugins {
		s, ok := got[p]
		if !ok {
			continue
		}
		under := at + ".scores[" + p + "]"
		c.same("raw."+p, under+".raw", row.Raw[i], s.Raw)
		c.same("normalized."+p, under+".normalized", row.Normalized[i], s.Normalized)
		c.same("weight."+p, under+".weight", v.Scores.Weights[i], s.Weight)
		c.same("weighted."+p, under+".weighted", row.Normalized[i]*v.Scores.Weights[i], s.Weighted)
	}
}

func sorted(in []string) []string { return slices.Sorted(slices.Values(in)) }

// preemption compares every candidate with its victims in order, and holds the
// choice to those that upstream may make.
func (c *comparison) preemption(v *oracle.Preemption, a *Answer) {
	if a.Preemption == nil {
		c.same("preemption", "preemption", "tried", "not tried")
		return
	}
	c.same("preemption.eligible", "preemption.eligible", v.Eligible, a.Preemption.Eligible)
	c.same("preemption.reason", "preemption.reason", v.Reason, a.Preemption.Reason)
	got := map[string]CandidateAnswer{}
	var names, want []string
	for _, n := range a.Preemption.Candidates {
		got[n.Node] = n
		names = append(names, n.Node)
	}
	for _, n := range v.Candidates {
		want = append(want, n.Node)
	}
	c.same("preemption.candidates", "preemption.candidates", want, sorted(names))
	for _, n := range v.Candidates {
		g, ok := got[n.Node]
		if !ok {
			continue
		}
		at := "preemption.candidates[" + n.Node + "]"
		var victims []string
		for _, p := range g.Victims {
			victims = append(victims, p.Namespace+"/"+p.Name)
		}
		c.same("preemption.victims", at+".victims", n.Victims, victims)
		c.same("preemption.numPDBViolations", at+".numPDBViolations", n.NumPDBViolations, g.NumPDBViolations)
	}
	if len(v.Choices) > 0 && !slices.Contains(v.Choices, a.NominatedNode) {
		c.same("preemption.nominatedNode", "nominatedNode", v.Choices, a.NominatedNode)
	}
}
