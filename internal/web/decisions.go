package web

import (
	"net/url"

	"berth/internal/handlers"
)

// decisionsView is a page of the log.
type decisionsView struct {
	handlers.DecisionList
	Outcomes, Verbs []string
	// Next is the address of the page behind this one.
	Next string
}

var decisionParams = []string{"cluster", "namespace", "pod", "node", "outcome", "verb", "since", "until", "limit", "cursor"}

func decisionsData(v *visit) string {
	v.query.Set("cluster", v.cluster)
	return "/v1/decisions" + v.params(decisionParams...)
}

func loadDecisions(v *visit) (string, any, error) {
	view := &decisionsView{
		Outcomes: []string{"Scheduled", "Unschedulable", "Gated", "Preempting", "Unknown"},
		Verbs:    []string{"filter", "prioritize", "preempt", "bind", "bind-result", "decide"},
	}
	if v.cluster == "" {
		return "Decisions", view, nil
	}
	if err := v.get(decisionsData(v), &view.DecisionList); err != nil {
		return "", nil, err
	}
	if view.Cursor != "" {
		query := url.Values{}
		for _, name := range decisionParams {
			if value := v.query.Get(name); value != "" {
				query.Set(name, value)
			}
		}
		query.Set("cursor", view.Cursor)
		view.Next = "/decisions?" + query.Encode()
	}
	return "Decisions", view, nil
}
