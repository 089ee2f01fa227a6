package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"berth/internal/access"
	"berth/internal/decision"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/report"
	"berth/internal/revision"
	"berth/internal/store"
)

// defaultAttempts is how many attempts a story tells unless more or fewer are asked for.
const defaultAttempts = 10

// getStory tells one pod's story.
//
//	@Summary		One pod's story: why it is pending, and what would have to change
//	@Description	Combines a revision of the cluster (the newest if absent) with the decision log. The answer has the pod's readiness, place in the queue, nomination, preemptions, binding and lifecycle; its earlier decisions, equal ones merged; a decision now, which is not recorded, with the nodes grouped by verdict; and changes that would let the pod fit. A pod that only the log has is answered with its past.
//	@Tags			pods
//	@Produce		json
//	@Param			cluster		path		string	true	"the cluster"
//	@Param			namespace	path		string	true	"the pod's namespace"
//	@Param			name		path		string	true	"the pod's name"
//	@Param			attempts	query		int		false	"number of attempts in the answer, 10 if absent, 100 at most"
//	@Param			suggest		query		bool	false	"false: no changes are tried"
//	@Param			snapshot	query		string	false	"a revision of the cluster, such as prod@3, with the decisions up to then; the newest if absent"
//	@Param			now			query		string	false	"the time to tell it at (RFC 3339), with the decisions up to then, of the time that their questions named; if absent the server's, for an older revision the time when that was made"
//	@Success		200			{object}	report.Story
//	@Failure		400,401,403,404,429,500,503	{object}	exchange.Problem
//	@Router			/v1/clusters/{cluster}/pods/{namespace}/{name} [get]
func (a *API) getStory(w http.ResponseWriter, r *http.Request) error {
	var at [3]string
	for i, name := range []string{"cluster", "namespace", "name"} {
		var err error
		if at[i], err = exchange.PathParam(r, name); err != nil {
			return err
		}
	}
	if err := revision.CheckName(at[0]); err != nil {
		return exchange.BadField(http.StatusBadRequest, "cluster", exchange.Reason(err))
	}
	ask := report.Ask{Attempts: defaultAttempts, Suggest: true}
	query := r.URL.Query()
	if query.Has("attempts") {
		n, err := strconv.Atoi(query.Get("attempts"))
		if err != nil || n < 0 || n > report.MaxAttempts {
			return exchange.BadField(http.StatusBadRequest, "attempts", fmt.Sprintf("want a number from 0 to %d", report.MaxAttempts))
		}
		ask.Attempts = n
	}
	var err error
	if ask.Suggest, err = flag(r, "suggest", true); err != nil {
		return err
	}
	if query.Has("snapshot") || query.Has("now") {
		as, err := a.asOf(r, at[0])
		if err != nil {
			return err
		}
		ask.Revision, ask.At, ask.Named = as.view.Revision, as.now, as.named
	}
	if err := admit.MayPod(r.Context(), access.View, at[0], at[1]); err != nil {
		return err
	}
	stories := a.storyReader(r.Context(), at[0], time.Now)
	out, err := stories.Tell(r.Context(), at[0], at[1], at[2], ask)
	if errors.Is(err, store.ErrNotFound) && ask.Revision == 0 {
		// Another server may have written the pod since this one last read the store.
		if newer, lookErr := a.catchUp(r.Context(), at[0]); newer || lookErr != nil {
			if err = lookErr; err == nil {
				out, err = stories.Tell(r.Context(), at[0], at[1], at[2], ask)
			}
		}
	}
	if err != nil {
		return err
	}
	return exchange.WriteJSON(w, http.StatusOK, out)
}

// storyReader tells stories of one cluster to a request's caller: pods of namespaces that it may
// not see are counted, and not named.
func (a *API) storyReader(ctx context.Context, name string, clock func() time.Time) *report.Reader {
	r := &report.Reader{Clusters: a.clusters, Log: a.stories, Runs: a.schedules, Class: a.priorityClasses.Class, Clock: clock, Release: a.configured.Release}
	if !admit.Sees(ctx, name, "") {
		r.Sees = func(namespace string) bool { return admit.Sees(ctx, name, namespace) }
		r.Mask = func(ans *decision.Answer) { admit.Mask(ctx, ans) }
	}
	return r
}
