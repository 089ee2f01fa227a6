package rest

import (
	"net/http"
	"slices"
	"strconv"

	"berth/internal/handlers/exchange"
	"berth/internal/revision"
)

// followDecisions lists what was recorded after a place in a cluster's log. It
// takes no filters: next is the last place looked at, and a filter would keep
// it where it is as long as nothing passes.
func (a *API) followDecisions(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	names := make([]string, 0, len(q))
	for name := range q {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if name != "after" && name != "cluster" && name != "limit" {
			return exchange.BadField(http.StatusBadRequest, name, "not together with after")
		}
	}
	after, err := strconv.ParseInt(q.Get("after"), 10, 64)
	if err != nil || after < 0 {
		return exchange.BadField(http.StatusBadRequest, "after", "want the seq of the last decision seen, or 0")
	}
	if q.Get("cluster") == "" {
		return exchange.BadField(http.StatusBadRequest, "cluster", "after goes on in the log of one cluster: name it")
	}
	if err := revision.CheckName(q.Get("cluster")); err != nil {
		return exchange.BadField(http.StatusBadRequest, "cluster", exchange.Reason(err))
	}
	limit, err := a.pageSize(r)
	if err != nil {
		return err
	}
	rows, err := a.decisions.Follow(r.Context(), q.Get("cluster"), after, limit)
	if err != nil {
		return err
	}
	if err := a.checkCluster(r.Context(), q.Get("cluster"), len(rows)); err != nil {
		return err
	}
	if len(rows) > 0 {
		after = rows[len(rows)-1].Seq
	}
	return exchange.WriteJSON(w, http.StatusOK, DecisionList{Items: rows, Next: &after})
}
