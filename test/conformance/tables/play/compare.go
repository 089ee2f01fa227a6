package play

import (
	"fmt"
	"slices"
	"strings"

	"berth/test/conformance/tables/record"
	"berth/test/conformance/trial"
)

// checks compares an answer with the calls. seen is how many things could be
// compared; why says, where that is none, what stood in the way.
type checks struct {
	seen  int
	diffs []string
	why   string
}

func (c *checks) same(what string, upstream, berth any) {
	c.seen++
	if u, b := fmt.Sprint(upstream), fmt.Sprint(berth); u != b {
		c.diffs = append(c.diffs, fmt.Sprintf("%s: upstream %q, berth %q", what, u, b))
	}
}

func (q *question) compare(a *trial.Answer) checks {
	var c checks
	nodes := map[string]*trial.NodeAnswer{}
	for i := range a.Nodes {
		nodes[a.Nodes[i].Name] = &a.Nodes[i]
	}
	if !slices.ContainsFunc(q.calls, func(o *record.Call) bool {
		return o.Method != "PreFilter" && o.Method != "PreScore" || o.Code != "Success"
	}) {
		c.why = "the test looks at what the plugin has prepared, and asks for no verdict"
		return c
	}
	switch q.phase {
	case filtering:
		q.filters(&c, a, nodes)
	case scoring:
		q.scores(&c, nodes)
	case preempting:
		q.victims(&c, a)
	}
	return c
}

// filters compares code and reasons node by node. Calls that a framework would
// not have made, after a PreFilter that refused or skipped, count for nothing.
func (q *question) filters(c *checks, a *trial.Answer, nodes map[string]*trial.NodeAnswer) {
	var only []string // of PreFilter; nil for all
	skipped := false
	for _, call := range q.calls {
		switch {
		case call.Code == "Error" || call.Code == "Wait":
			c.why = "the plugin fails with an error, which ends the cycle without a verdict"
		case call.Method == "PreEnqueue":
			if call.Code == "Success" {
				c.same("outcome", false, a.Outcome == "Gated")
			} else {
				c.same("outcome", "Gated", a.Outcome)
			}
		case call.Method == "PreFilter":
			switch call.Code {
			case "Success":
				only = call.Names
			case "Skip":
				skipped = true
				for _, n := range a.Nodes {
					c.same("nodes["+n.Name+"] after PreFilter skipped", true, n.Feasible)
				}
			default:
				for _, n := range a.Nodes {
					c.refused(call, &n)
				}
				return
			}
		case call.Method == "Filter":
			name := nameOf(call.Node)
			n := nodes[name]
			if n == nil || skipped && call.Code != "Success" || only != nil && !slices.Contains(only, name) {
				continue
			}
			if call.Code == "Success" {
				c.same("nodes["+name+"].feasible", true, n.Feasible)
			} else {
				c.refused(call, n)
			}
		}
	}
}

func (c *checks) refused(call *record.Call, n *trial.NodeAnswer) {
	at := "nodes[" + n.Name + "]"
	c.same(at+".code", call.Code, n.Code)
	c.same(at+".reasons", sorted(call.Reasons), sorted(n.Reasons))
}

func sorted(in []string) []string { return slices.Sorted(slices.Values(in)) }

// scores compares raw scores and, where the test had them normalised, these.
func (q *question) scores(c *checks, nodes map[string]*trial.NodeAnswer) {
	plugin := q.calls[0].Plugin
	of := func(node string) *trial.ScoreAnswer {
		if n := nodes[nameOf(node)]; n != nil {
			for i := range n.Scores {
				if n.Scores[i].Plugin == plugin {
					return &n.Scores[i]
				}
			}
		}
		return nil
	}
	feasible := 0
	for _, n := range nodes {
		if n.Feasible {
			feasible++
		}
	}
	if feasible < 2 {
		c.why = "a single node is taken without being scored"
		return
	}
	for _, call := range q.calls {
		switch {
		case call.Code == "Error":
			c.why = "the plugin fails with an error, which ends the cycle without a verdict"
		case call.Method == "PreScore" && call.Code == "Skip":
			for _, n := range call.Nodes {
				c.same("nodes["+n+"] is scored after PreScore skipped", false, of(n) != nil)
			}
			return
		case call.Method == "Score":
			s := of(call.Node)
			if s == nil {
				c.same("nodes["+call.Node+"] is scored", true, false)
				continue
			}
			c.same("nodes["+call.Node+"].raw", call.Score, s.Raw)
		case call.Method == "NormalizeScore":
			for n, want := range call.Scores {
				if s := of(n); s != nil {
					c.same("nodes["+n+"].normalized", want, s.Normalized)
				}
			}
		}
	}
}

// victims compares what preemption would do.
func (q *question) victims(c *checks, a *trial.Answer) {
	if a.Outcome == "Scheduled" || a.Outcome == "Gated" {
		c.why = "the pod fits without preemption: the test's statuses are not the filters'"
		return
	}
	for _, call := range q.calls {
		switch call.Method {
		case "PodEligibleToPreemptOthers":
			if a.Preemption == nil {
				c.why = "preemption is not tried"
				continue
			}
			c.same("preemption.eligible", call.Eligible, a.Preemption.Eligible)
			c.same("preemption.reason", call.Text, a.Preemption.Reason)
		case "SelectVictimsOnNode":
			if a.Preemption == nil || !a.Preemption.Eligible {
				c.why = "preemption is not tried"
				continue
			}
			at := "preemption.candidates[" + call.Node + "]"
			i := slices.IndexFunc(a.Preemption.Candidates, func(o trial.CandidateAnswer) bool { return o.Node == nameOf(call.Node) })
			c.same(at, call.Code == "Success", i >= 0)
			if i < 0 || call.Code != "Success" {
				continue
			}
			var got []string
			for _, v := range a.Preemption.Candidates[i].Victims {
				got = append(got, v.Name)
			}
			want := names(call.Victims)
			if !q.started() {
				want, got = sorted(want), sorted(got)
			}
			c.same(at+".victims", want, got)
			c.same(at+".numPDBViolations", call.Violations, a.Preemption.Candidates[i].NumPDBViolations)
		case "PostFilter":
			if call.Code == "Error" {
				c.why = "the plugin fails with an error, which ends the cycle without a verdict"
				continue
			}
			if call.Nominated != "" {
				c.same("nominatedNode", nameOf(call.Nominated), a.NominatedNode)
			} else if call.Code == "Unschedulable" {
				c.same("message ends with PostFilter's", true, strings.HasSuffix(a.Message, strings.Join(call.Reasons, ", ")))
			}
		}
	}
}

// started reports whether every pod of the cluster has a start time: among those without
// upstream's order of victims is chance.
func (q *question) started() bool {
	for _, k := range q.world.keys {
		if raw := string(q.world.objects[k]); strings.HasPrefix(k, "Pod/") && !strings.Contains(raw, `"startTime":"`) {
			return false
		}
	}
	return true
}

// names drops the namespaces, which tests leave empty.
func names(list []string) []string {
	var out []string
	for _, n := range list {
		_, name, _ := strings.Cut(n, "/")
		out = append(out, name)
	}
	return out
}
