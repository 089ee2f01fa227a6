package engine

import (
	"fmt"
	"sort"
	"strings"
)

// Upstream's messages for nodes on which preemption does not help.
const (
	ReasonNoVictims  = "No preemption victims found for incoming pod"
	ReasonNotHelpful = "Preemption is not helpful for scheduling"
)

// postFilterText is what the PostFilter plugins add to the message: nothing where victims were
// found. A plugin that fails ends the phase, and its error is the whole message
// (pkg/scheduler/framework/runtime RunPostFilterPlugins).
func (r *Result) postFilterText() string {
	d := r.dry
	if d == nil || d.best >= 0 {
		return ""
	}
	if d.textDone {
		return d.text
	}
	d.textDone = true
	var parts []string
	for _, name := range r.q.Profile.PostFilter {
		switch {
		case name == "DynamicResources" && d.failed != "":
			d.text = d.failed
			return d.text
		case name == "DefaultPreemption":
			parts = append(parts, "preemption: "+r.notHelpful())
		default:
			parts = append(parts, r.postFilterOf(name)...)
		}
	}
	d.text = strings.Join(parts, ", ")
	return d.text
}

// postFilterOf is what one plugin adds.
func (r *Result) postFilterOf(name string) []string {
	i := r.q.Profile.ruleNamed(name)
	if i < 0 {
		return nil
	}
	f := r.q.Profile.Rules[i]
	if f.PostFilter == nil {
		return nil
	}
	var own *Rejected
	for k := range r.Rejected {
		if r.Rejected[k].Plugin == name && (k > 0 || !r.narrowed) {
			own = &r.Rejected[k]
		}
	}
	return []string{f.PostFilter(r.q, r.states[i], own)}
}

// notHelpful counts the reasons why evictions help nowhere.
func (r *Result) notHelpful() string {
	d := r.dry
	if d.reason != "" {
		return d.reason
	}
	counts := map[string]int{}
	tried := 0
	for row := range d.potential.All() {
		tried++
		for _, reason := range r.whyNot(row).Reasons {
			counts[reason]++
		}
	}
	if n := r.Considered() - tried; n > 0 {
		counts[ReasonNotHelpful] += n
	}
	list := make([]string, 0, len(counts))
	for reason, n := range counts {
		list = append(list, fmt.Sprintf("%d %s", n, reason))
	}
	sort.Strings(list)
	return fmt.Sprintf("0/%d nodes are available: %s.", r.Considered(), strings.Join(list, ", "))
}

// refusal is the reason why a node is no candidate.
type refusal struct {
	Plugin  string
	Code    Code
	Reasons []string
}

// refusalOf is the reason why the decision itself rejected a node.
func (r *Result) refusalOf(row int) refusal {
	if r.PreFilter != nil {
		return refusal{r.PreFilter.Plugin, r.PreFilter.Code, []string{r.PreFilter.Reason}}
	}
	for i := range r.Rejected {
		if rej := &r.Rejected[i]; rej.Nodes.Has(row) {
			return refusal{rej.Plugin, rej.codeOf(row), rej.textsOf(row)}
		}
	}
	return refusal{}
}

// whyNot returns the reason why evictions do not help on a node on which they were tried.
func (r *Result) whyNot(row int) refusal {
	d := r.dry
	if d.bare.Has(row) {
		return refusal{"", UnschedulableAndUnresolvable, []string{ReasonNoVictims}}
	}
	j := d.judge
	k := j.q.State.Ranking(row, j.now)
	j.begin(row, k.Pods[k.Below(j.priority):])
	plugin, code, reasons := j.why(row)
	return refusal{plugin, code, reasons}
}
