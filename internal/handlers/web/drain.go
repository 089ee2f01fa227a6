package web

import (
	"fmt"
	"strings"

	"berth/internal/scenario"
	"berth/internal/words"
)

// drainSentence is the answer to a drain: first what stops it, where something does.
func drainSentence(d *scenario.Drain) string {
	t := d.Totals
	moved := fmt.Sprintf("%s evicted, %s placed again, %s without a node", words.Plural(t.Evicted, "pod"), words.Count(t.Placed), words.Count(t.Pending))
	if d.Find != nil && len(d.Nodes) < d.Find.Asked {
		return fmt.Sprintf("Only %s of the %s asked for can be emptied: %s.", words.Count(len(d.Nodes)), words.Count(d.Find.Asked), moved)
	}
	var refused, blocked []scenario.PodReason
	stopped := 0
	for _, n := range d.Nodes {
		refused, blocked = append(refused, n.Refused...), append(blocked, n.Blocked...)
		if n.Outcome != scenario.NodeDrained {
			stopped++
		}
	}
	switch {
	case len(refused) > 0:
		return fmt.Sprintf("Refused: %s. %s.", inTheWay(refused), ofNodes(stopped, len(d.Nodes), "would not be drained"))
	case len(blocked) > 0:
		return fmt.Sprintf("Blocked: %s. %s; %s.", inTheWay(blocked), ofNodes(stopped, len(d.Nodes), "never empty"), moved)
	}
	return fmt.Sprintf("%s drained within %s: %s.", words.Plural(t.NodesDrained, "node"), words.Span(d.Seconds), moved)
}

func ofNodes(n, all int, what string) string {
	return fmt.Sprintf("%s of %s %s", words.Count(n), words.Plural(all, "node"), what)
}

// inTheWay counts pods by the reason why they may not be evicted, and names the first of one.
func inTheWay(list []scenario.PodReason) string {
	var reasons []string
	pods, first := map[string]int{}, map[string]string{}
	for _, p := range list {
		if pods[p.Reason] == 0 {
			reasons, first[p.Reason] = append(reasons, p.Reason), p.Namespace+"/"+p.Name
		}
		pods[p.Reason]++
	}
	for i, reason := range reasons {
		reasons[i] = first[reason] + ": " + reason
		if n := pods[reason] - 1; n > 0 {
			reasons[i] = fmt.Sprintf("%s and %s: %s", first[reason], words.Plural(n, "other pod"), reason)
		}
	}
	return strings.Join(reasons, "; ")
}
