package rest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	schedulingv1 "k8s.io/api/scheduling/v1"

	"berth/internal/access"
	"berth/internal/blame"
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
//	@Failure		400,401,403,404,409,422,429,500,503	{object}	exchange.Problem
//	@Router			/v1/clusters/{cluster}/pods/{namespace}/{name} [get]
func (a *API) getStory(w http.ResponseWriter, r *http.Request) error {
	at, err := podParams(r)
	if err != nil {
		return err
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
	if ask.Suggest, err = flag(r, "suggest", true); err != nil {
		return err
	}
	if query.Has("snapshot") || query.Has("now") {
		as, err := a.recordedAsOf(r, at[0])
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

// podParams reads the cluster, namespace and name of a pod's path.
func podParams(r *http.Request) (at [3]string, err error) {
	for i, name := range []string{"cluster", "namespace", "name"} {
		if at[i], err = exchange.PathParam(r, name); err != nil {
			return at, err
		}
	}
	if err := revision.CheckName(at[0]); err != nil {
		return at, exchange.BadField(http.StatusBadRequest, "cluster", exchange.Reason(err))
	}
	return at, nil
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

// getBlame tells when the verdict about a pod turned.
//
//	@Summary		When the verdict about a pod turned, and which change turned it
//	@Description	Decides about the pod at every revision of the cluster, exactly, since verdicts come and go, and lists the revisions at which the outcome became another one, the newest first: with the change, who asked for it, and a sentence. The pod is as the newest revision has it that has it at all; it is left out of the states, so that a bound pod's question is where it would go. Preemptions whose victims a changed disruption budget changes are turns, too. Of a revision that changed many objects those are named without whose change the outcome would not have turned: each that alone suffices, else a smallest set of them.
//	@Tags			pods
//	@Produce		json
//	@Param			cluster		path		string	true	"the cluster"
//	@Param			namespace	path		string	true	"the pod's namespace"
//	@Param			name		path		string	true	"the pod's name"
//	@Param			since		query		string	false	"the state to begin with: a time (RFC 3339), or a revision such as prod@3; the oldest that is kept if absent"
//	@Param			until		query		string	false	"the state to end with, as since; the newest if absent"
//	@Param			node		query		string	false	"the outcome on this node: fits, absent, or the plugin that rejects the pod there"
//	@Param			count		query		int		false	"how many copies of the pod fit, up to this number, 1000 at most; not with node"
//	@Success		200			{object}	blame.Blame
//	@Failure		400,401,403,404,429,500,503	{object}	exchange.Problem
//	@Router			/v1/clusters/{cluster}/pods/{namespace}/{name}/blame [get]
func (a *API) getBlame(w http.ResponseWriter, r *http.Request) error {
	at, err := podParams(r)
	if err != nil {
		return err
	}
	ask, err := blameAsk(r, at)
	if err != nil {
		return err
	}
	ctx := r.Context()
	if err := admit.MayPod(ctx, access.View, at[0], at[1]); err != nil {
		return err
	}
	if _, err := a.catchUp(ctx, at[0]); err != nil {
		return err
	}
	ask.Profiles, ask.Followed = a.configured.Of(at[0]), a.followed(at[0])
	ask.Class = func(name string) *schedulingv1.PriorityClass { return a.priorityClasses.Class(at[0], name) }
	if !admit.Sees(ctx, at[0], "") {
		ask.Sees = func(namespace string) bool { return admit.Sees(ctx, at[0], namespace) }
	}
	out, err := blame.Of(ctx, a.clusters, ask)
	var late *blame.LateError
	if errors.As(err, &late) {
		return &exchange.Error{Status: http.StatusServiceUnavailable, Kind: "deadline", Limit: "scenario-deadline", Cause: err, Detail: late.Error()}
	}
	if err != nil {
		return err
	}
	return exchange.WriteJSON(w, http.StatusOK, out)
}

// blameAsk reads the parameters of a walk.
func blameAsk(r *http.Request, at [3]string) (ask blame.Ask, err error) {
	query := r.URL.Query()
	ask = blame.Ask{Cluster: at[0], Namespace: at[1], Name: at[2], Node: query.Get("node")}
	for name, into := range map[string]*blame.Bound{"since": &ask.Since, "until": &ask.Until} {
		if !query.Has(name) {
			continue
		}
		if *into, err = boundOf(name, query.Get(name), at[0]); err != nil {
			return ask, err
		}
	}
	s, u := ask.Since, ask.Until
	if s.Revision > 0 && u.Revision > 0 && u.Revision < s.Revision || !s.Time.IsZero() && !u.Time.IsZero() && u.Time.Before(s.Time) {
		return ask, exchange.BadField(http.StatusBadRequest, "until", "it is before since")
	}
	if !query.Has("count") {
		return ask, nil
	}
	ask.Count, err = strconv.Atoi(query.Get("count"))
	switch {
	case err != nil || ask.Count < 1 || ask.Count > blame.MaxCount:
		return ask, exchange.BadField(http.StatusBadRequest, "count", fmt.Sprintf("want a number from 1 to %d", blame.MaxCount))
	case ask.Node != "":
		return ask, exchange.BadField(http.StatusBadRequest, "count", "give one of node and count")
	}
	return ask, nil
}

// boundOf reads an end of a history: a time, or a revision.
func boundOf(name, text, cluster string) (b blame.Bound, err error) {
	if b.Time, err = time.Parse(time.RFC3339Nano, text); err == nil && !b.Time.IsZero() {
		return b, nil
	}
	of, rev, err := revision.ParseID(text)
	if err != nil || of != cluster {
		return b, exchange.BadField(http.StatusBadRequest, name, fmt.Sprintf("want a time such as 2026-01-31T12:00:00Z, or a revision of cluster %s such as %s", cluster, revision.FormatID(cluster, 3)))
	}
	return blame.Bound{Revision: rev}, nil // 0 is the newest, for which until needs no bound
}
