package rest

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"berth/internal/handlers/exchange"
	"berth/internal/report"
)

// listPending says of every waiting pod why it waits.
//
//	@Summary		The pods that wait for a node, with reasons and changes that would help
//	@Description	In the order of scheduling, gated pods last. Each pod is decided as if it were the next, without a record. Pods that differ only in fields that no decision reads are decided once (like). Changes are tried for the first 50 different pods that fit nowhere.
//	@Tags			clusters
//	@Produce		json
//	@Param			cluster		path		string	true	"the cluster"
//	@Param			namespace	query		string	false	"only pods of this namespace"
//	@Param			limit		query		int		false	"pods that are listed, 1000 if absent and at most; the others are counted"
//	@Param			suggest		query		bool	false	"false: no changes are tried"
//	@Param			snapshot	query		string	false	"a revision of the cluster, such as prod@3; the newest if absent"
//	@Param			now			query		string	false	"the time to tell it at (RFC 3339); if absent the server's, for an older revision the time when that was made"
//	@Success		200			{object}	report.Pending
//	@Failure		400,401,403,404,409,422,429,500,503	{object}	exchange.Problem
//	@Router			/v1/clusters/{cluster}/pending [get]
func (a *API) listPending(w http.ResponseWriter, r *http.Request) error {
	name, err := exchange.ClusterParam(r)
	if err != nil {
		return err
	}
	query := r.URL.Query()
	ask := report.PendingAsk{Namespace: query.Get("namespace")}
	if ask.Limit, err = a.podLimit(r); err != nil {
		return err
	}
	if ask.Suggest, err = flag(r, "suggest", true); err != nil {
		return err
	}
	at, err := a.asOf(r, name)
	if err != nil {
		return err
	}
	stories := a.storyReader(r.Context(), name, func() time.Time { return at.now })
	out, err := report.PendingIn(r.Context(), at.view, stories, ask)
	if err != nil {
		return err
	}
	return exchange.WriteJSON(w, http.StatusOK, out)
}

// podLimit reads how many pods an answer is about.
func (a *API) podLimit(r *http.Request) (int, error) {
	text := r.URL.Query().Get("limit")
	if text == "" {
		return a.Limits.PendingPage, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > a.Limits.PendingPage {
		return 0, exchange.BadField(http.StatusBadRequest, "limit", fmt.Sprintf("want a number from 1 to %d", a.Limits.PendingPage))
	}
	return n, nil
}

// flag reads a parameter that is true or false.
func flag(r *http.Request, name string, fallback bool) (bool, error) {
	switch r.URL.Query().Get(name) {
	case "":
		if !r.URL.Query().Has(name) {
			return fallback, nil
		}
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, exchange.BadField(http.StatusBadRequest, name, "want true or false")
}
