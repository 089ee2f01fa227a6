package rest

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	schedulingv1 "k8s.io/api/scheduling/v1"

	"berth/internal/decision/record"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/report"
)

// queuePage is how many entries of each list come at once, unless fewer are asked for.
const queuePage = 5000

// getQueue shows who waits.
//
//	@Summary		The pods that wait for a node, in the order of scheduling
//	@Description	The queue of the schedulers in the server's configuration, with the attempts in the decision log. Without limit a page has 5000 items of each list. The cursor continues the lists on the same revision, at the same time.
//	@Tags			clusters
//	@Produce		json
//	@Param			cluster	path		string	true	"the cluster"
//	@Param			limit	query		int		false	"entries of each list, 5000 if absent"
//	@Param			cursor	query		string	false	"cursor of the page before; without snapshot and now"
//	@Param			snapshot	query	string	false	"a revision of the cluster, such as prod@3; the newest if absent"
//	@Param			now		query		string	false	"the time to show it at (RFC 3339), with the attempts of questions that named a time up to then; if absent the server's, for an older revision the time when that was made, without those attempts"
//	@Success		200		{object}	report.Queue
//	@Failure		400,401,403,404,409,422,429,500,503	{object}	exchange.Problem
//	@Router			/v1/clusters/{cluster}/queue [get]
func (a *API) getQueue(w http.ResponseWriter, r *http.Request) error {
	name, err := clusterParam(r)
	if err != nil {
		return err
	}
	limit := queuePage
	if text := r.URL.Query().Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > queuePage {
			return exchange.BadField(http.StatusBadRequest, "limit", fmt.Sprintf("want a number from 1 to %d", queuePage))
		}
	}
	at, from, err := a.queuePlace(r, name)
	if err != nil {
		return err
	}
	v := at.view
	q, err := a.decisions.Queue(r.Context(), v, a.schedules, a.storedClasses(name), record.When{At: at.now, Named: at.named})
	if err != nil {
		return err
	}
	out := report.QueueOf(v, q, from, limit, at.now, func(namespace string) bool { return !admit.Sees(r.Context(), name, namespace) })
	if next := from + limit; next < max(len(q.Active), len(q.Gated), len(q.Nominated)) {
		out.Cursor = a.sealCursor(r, fmt.Sprintf("%d/%d/%d/%t", v.Revision, next, at.now.UnixMicro(), at.named))
	}
	return exchange.WriteJSON(w, http.StatusOK, out)
}

// storedClasses returns the stored priority classes of a cluster; nil where none are stored.
func (a *API) storedClasses(cluster string) func(name string) *schedulingv1.PriorityClass {
	if a.priorityClasses == nil {
		return nil
	}
	return func(class string) *schedulingv1.PriorityClass { return a.priorityClasses.Class(cluster, class) }
}

// queuePlace returns what a page goes on from: the revision and time of the first one, and the
// place in the lists.
func (a *API) queuePlace(r *http.Request, name string) (at asOf, from int, err error) {
	cursor, err := a.openCursor(r)
	if err != nil {
		return at, 0, err
	}
	if cursor == "" {
		at, err = a.recordedAsOf(r, name)
		return at, 0, err
	}
	for _, other := range []string{"snapshot", "now"} {
		if r.URL.Query().Has(other) {
			return at, 0, exchange.BadField(http.StatusBadRequest, other, "not together with cursor, which has it from the first page")
		}
	}
	var revision, micros int64
	if _, err := fmt.Sscanf(cursor, "%d/%d/%d/%t", &revision, &from, &micros, &at.named); err != nil {
		return at, 0, badCursor()
	}
	at.now = time.UnixMicro(micros).UTC()
	at.view, err = a.view(r.Context(), name, revision)
	return at, from, err
}
