package rest

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"

	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/memory"
	"berth/internal/report"
	"berth/internal/revision"
	"berth/internal/semantics"
)

// diffSnapshots returns what changed between two revisions.
//
//	@Summary		What changed between two revisions, by object and field
//	@Description	Compares only fields that a scheduling decision reads. Objects that differ in other fields alone are counted (other). The revisions may be of different clusters.
//	@Tags			snapshots
//	@Produce		json
//	@Param			id		path		string	true	"cluster@revision or cluster@latest"
//	@Param			to		query		string	true	"the other revision, such as prod@2"
//	@Param			limit	query		int		false	"objects that are listed, 1000 if absent and at most; the others are counted"
//	@Success		200		{object}	report.Diff
//	@Failure		400,401,403,404,409,422,429,500,503	{object}	exchange.Problem
//	@Router			/v1/snapshots/{id}/diff [get]
func (a *API) diffSnapshots(w http.ResponseWriter, r *http.Request) error {
	name, rev, err := snapshotID(r)
	if err != nil {
		return err
	}
	query := r.URL.Query()
	other, until, err := revision.ParseID(query.Get("to"))
	if err != nil {
		return exchange.BadField(http.StatusBadRequest, "to", exchange.Reason(err))
	}
	limit := a.Limits.DiffPage
	if text := query.Get("limit"); text != "" {
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > a.Limits.DiffPage {
			return exchange.BadField(http.StatusBadRequest, "limit", fmt.Sprintf("want a number from 1 to %d", a.Limits.DiffPage))
		}
	}
	from, err := a.view(r.Context(), name, rev)
	if err != nil {
		return err
	}
	to, err := a.view(r.Context(), other, until)
	if err != nil {
		return err
	}
	seen := func(namespace string) bool {
		return admit.Sees(r.Context(), name, namespace) && admit.Sees(r.Context(), other, namespace)
	}
	out, err := report.DiffOf(r.Context(), from, to, limit, seen)
	if err != nil {
		return err
	}
	return exchange.WriteJSON(w, http.StatusOK, out)
}

// foundBytes is what a pod takes of an answer about classes: in the worst case each names one of
// its own, which is not there.
const foundBytes = 1 << 10

// surveyClasses returns who uses which priority class, and what is odd about them.
//
//	@Summary		The priority classes of a cluster, their use and findings about them
//	@Description	The classes of a revision, the stored ones and the built-in ones. Findings are several global defaults, missing classes that pods name, and pods with another priority than their class.
//	@Tags			priorityclasses
//	@Produce		json
//	@Param			cluster	path		string	true	"the cluster"
//	@Param			snapshot	query	string	false	"a revision of the cluster, such as prod@3; the newest if absent"
//	@Success		200		{object}	report.Classes
//	@Failure		400,401,403,404,409,422,429,500,503	{object}	exchange.Problem
//	@Router			/v1/clusters/{cluster}/classes [get]
func (a *API) surveyClasses(w http.ResponseWriter, r *http.Request) error {
	name, err := exchange.ClusterParam(r)
	if err != nil {
		return err
	}
	at, err := a.asOf(r, name)
	if err != nil {
		return err
	}
	if err := memory.Take(r.Context(), foundBytes*int64(at.view.Summary.Objects["Pod"])); err != nil {
		return err
	}
	stored, err := a.listClasses(r.Context(), name)
	if err != nil {
		return err
	}
	out, err := report.ClassesIn(r.Context(), at.view, stored.Items)
	if err != nil {
		return err
	}
	return exchange.WriteJSON(w, http.StatusOK, out)
}

// getUpgrade compares what two releases decide about a cluster.
//
//	@Summary		What another release of Kubernetes would change for a cluster
//	@Description	Pods that wait, and one that runs of each workload, are decided on under the release of the cluster's configuration and under another one, without records. Each difference is counted by its kind, with the behaviours that make it. Objects that a difference concerns are listed whatever is decided today, and so are those in versions or with fields that go, and settings that the other release refuses. For recorded decisions, POST /v1/replays takes the release.
//	@Tags			clusters
//	@Produce		json
//	@Param			cluster		path		string	true	"the cluster"
//	@Param			to			query		string	false	"the release, such as v1.37, or v1.37 StorageCapacityScoring=false; the newest that is known if absent"
//	@Param			limit		query		int		false	"pods that are decided on, 1000 if absent and at most; the others are counted"
//	@Param			snapshot	query		string	false	"a revision of the cluster, such as prod@3; the newest if absent"
//	@Param			now			query		string	false	"the time to decide at (RFC 3339); if absent the server's, for an older revision the time when that was made"
//	@Success		200			{object}	report.Upgrade
//	@Failure		400,401,403,404,409,422,429,500,503	{object}	exchange.Problem
//	@Router			/v1/clusters/{cluster}/upgrade [get]
func (a *API) getUpgrade(w http.ResponseWriter, r *http.Request) error {
	name, err := exchange.ClusterParam(r)
	if err != nil {
		return err
	}
	var ask report.UpgradeAsk
	if ask.To, err = releaseOf("to", r.URL.Query().Get("to")); err != nil {
		return err
	}
	ask.To = cmp.Or(ask.To, semantics.Newest())
	if ask.Limit, err = a.podLimit(r); err != nil {
		return err
	}
	at, err := a.asOf(r, name)
	if err != nil {
		return err
	}
	ask.Now, ask.Profiles, ask.Refused = at.now, a.configured.Of(name), a.configured.Refused(ask.To)
	out, err := report.UpgradeIn(r.Context(), at.view, ask, a.stories.Decide)
	if err != nil {
		return err
	}
	return exchange.WriteJSON(w, http.StatusOK, out)
}
