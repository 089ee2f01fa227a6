package explain

import (
	"fmt"
	"sort"
	"strings"

	"berth/internal/engine"
	"berth/internal/engine/preempt"
)

// Message is kube-scheduler's own summary of a pod that fits nowhere, with what PostFilter adds
// where it was tried in vain (pkg/scheduler/framework/types.go FitError.Error).
func Message(r *engine.Result) string {
	switch {
	case r.Outcome == engine.Gated && r.HeldBack != "":
		return r.HeldBack
	case r.Outcome == engine.Gated:
		return "Scheduling is blocked due to non-empty scheduling gates"
	case r.Outcome == engine.Scheduled:
		return ""
	case r.Query.Options.Victims != nil:
		return preempt.NamedMessage(r)
	}
	if text := r.PostFilter.Text(); text != "" {
		return fitMessage(r) + " " + text
	}
	return fitMessage(r)
}

// fitMessage is the summary up to the filters.
func fitMessage(r *engine.Result) string {
	if r.NoNodes {
		return "no nodes available to schedule pods"
	}
	head := fmt.Sprintf("0/%d nodes are available:", r.Considered())
	if r.PreFilter != nil {
		return fmt.Sprintf("%s %s.", head, r.PreFilter.Reason)
	}
	counts := map[string]int{}
	for i := range r.Rejected {
		for _, reason := range r.Rejected[i].Reasons {
			counts[reason.Text] += reason.Nodes.Count()
		}
	}
	parts := make([]string, 0, len(counts))
	for text, n := range counts {
		parts = append(parts, fmt.Sprintf("%d %s", n, text))
	}
	if len(parts) == 0 {
		return head
	}
	sort.Strings(parts)
	return fmt.Sprintf("%s %s.", head, strings.Join(parts, ", "))
}
