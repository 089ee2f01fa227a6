package web

import (
	"net/url"
	"time"

	"berth/internal/handlers/rest"
	"berth/internal/queries"
)

// decisionsView is a page of the log.
type decisionsView struct {
	rest.DecisionList
	Outcomes, Verbs []string
	// Next is the address of the page behind this one.
	Next string
	// SQL is the page of the same rows as a ready query, CSV the file of these rows.
	SQL, CSV string
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
	if err := v.times(); err != nil {
		return "Decisions", view, err
	}
	if err := v.get(decisionsData(v), &view.DecisionList); err != nil {
		return "Decisions", view, err
	}
	query := url.Values{}
	for _, name := range decisionParams {
		if value := v.query.Get(name); value != "" {
			query.Set(name, value)
		}
	}
	if view.Cursor != "" {
		query.Set("cursor", view.Cursor)
		view.Next = "/decisions?" + query.Encode()
	}
	query.Del("cursor")
	query.Del("limit")
	if !query.Has(queries.Since) { // else the query looks back for a day, and this page further
		query.Set(queries.Since, time.Unix(0, 0).UTC().Format(time.RFC3339))
	}
	view.SQL = "/sql?query=decisions&" + query.Encode()
	view.CSV = "/v1/queries/decisions?format=csv&limit=10000&" + query.Encode()
	return "Decisions", view, nil
}
