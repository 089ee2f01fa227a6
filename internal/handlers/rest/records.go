package rest

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"berth/internal/decision/record"
	"berth/internal/handlers/exchange"
	"berth/internal/revision"
	"berth/internal/store"
)

// DecisionList is a page of decisions, newest first, or with after the oldest first.
type DecisionList struct {
	Items []*record.Row `json:"items"`
	// Cursor continues the list; absent on its last page.
	Cursor string `json:"cursor,omitempty"`
	// Next is the after of the next page; there with after alone, and on an empty
	// page too, since more may come.
	Next *int64 `json:"next,omitempty"`
} // @name DecisionList

// ReplayRequest describes what is to be other than recorded; nothing of it is needed.
type ReplayRequest struct {
	// Snapshot is another state, such as prod@latest.
	Snapshot string `json:"snapshot,omitempty"`
	// Profile is another profile's name.
	Profile string `json:"profile,omitempty"`
	// Config is another KubeSchedulerConfiguration, as an object or as YAML in a string.
	Config json.RawMessage `json:"config,omitempty" swaggertype:"object"`
	// Semantics is another release of Kubernetes, as for decisions: the recorded profile decides as
	// that one has it, or Config or Profile does.
	Semantics string `json:"semantics,omitempty" example:"v1.37"`
	// Pod is another v1.Pod.
	Pod json.RawMessage `json:"pod,omitempty" swaggertype:"object"`
} // @name ReplayRequest

// listDecisions lists records.
//
//	@Summary	List decisions, newest first; with after, follow a cluster's log in the order of its records
//	@Tags		decisions
//	@Produce	json
//	@Param		cluster		query		string	false	"of this cluster"
//	@Param		namespace	query		string	false	"about pods of this namespace"
//	@Param		pod			query		string	false	"about pods of this name"
//	@Param		node		query		string	false	"that chose this node"
//	@Param		outcome		query		string	false	"Scheduled, Unschedulable, Gated or Preempting"
//	@Param		verb		query		string	false	"filter, prioritize, bind or decide"
//	@Param		askedBy		query		string	false	"asked by this kind and name, such as token:ci"
//	@Param		placement	query		string	false	"of this placement"
//	@Param		since		query		string	false	"at this time or later, RFC 3339"
//	@Param		until		query		string	false	"before this time, RFC 3339"
//	@Param		limit		query		int		false	"items in the page, 100 if absent"
//	@Param		cursor		query		string	false	"cursor of the page before"
//	@Param		after		query		int		false	"with cluster and limit alone: those with a greater seq, oldest first; 0 for the beginning"
//	@Success	200			{object}	DecisionList
//	@Failure	400,401,403,404,429,500,503	{object}	exchange.Problem
//	@Router		/v1/decisions [get]
func (a *API) listDecisions(w http.ResponseWriter, r *http.Request) error {
	if r.URL.Query().Has("after") {
		return a.followDecisions(w, r)
	}
	f, limit, err := a.decisionFilter(r)
	if err != nil {
		return err
	}
	f.Limit = limit + 1
	rows, err := a.decisions.List(r.Context(), f)
	if err != nil {
		return err
	}
	if err := a.checkCluster(r.Context(), f.Cluster, len(rows)); err != nil {
		return err
	}
	list := DecisionList{Items: rows}
	if len(rows) > limit {
		list.Items = rows[:limit]
		last := rows[limit-1]
		list.Cursor = a.sealCursor(r, strconv.FormatInt(last.CreatedAt.UnixMicro(), 10)+"/"+last.ID)
	}
	if list.Items == nil {
		list.Items = []*record.Row{}
	}
	return exchange.WriteJSON(w, http.StatusOK, list)
}

// allowed are the values of parameters that have few.
var allowed = map[string][]string{
	"outcome": {"Scheduled", "Unschedulable", "Gated", "Preempting", "Unknown"},
	"verb":    {"filter", "prioritize", "preempt", "bind", "bind-result", "decide"},
}

func (a *API) decisionFilter(r *http.Request) (f store.DecisionFilter, limit int, err error) {
	q := r.URL.Query()
	f = store.DecisionFilter{
		Cluster: q.Get("cluster"), Namespace: q.Get("namespace"), Pod: q.Get("pod"), Node: q.Get("node"),
		Outcome: q.Get("outcome"), Verb: q.Get("verb"), AskedBy: q.Get("askedBy"),
	}
	if f.Cluster != "" {
		if err := revision.CheckName(f.Cluster); err != nil {
			return f, 0, exchange.BadField(http.StatusBadRequest, "cluster", exchange.Reason(err))
		}
	}
	if err := checkAllowed(q.Get); err != nil {
		return f, 0, err
	}
	if err := readSpan(q, &f.Since, &f.Until); err != nil {
		return f, 0, err
	}
	if f.Placement = q.Get("placement"); f.Placement != "" {
		since, until, ok := record.PlacedAround(f.Placement)
		if !ok {
			return f, 0, exchange.BadField(http.StatusBadRequest, "placement", "want the id of a placement, which is a UUID")
		}
		if f.Since.Before(since) {
			f.Since = since
		}
		if f.Until.IsZero() || until.Before(f.Until) {
			f.Until = until
		}
	}
	if f.BeforeTime, f.BeforeID, err = a.decisionCursor(r); err != nil {
		return f, 0, err
	}
	limit, err = a.pageSize(r)
	return f, limit, err
}

// readSpan reads since and until; a time that is absent keeps its value.
func readSpan(q url.Values, since, until *time.Time) (err error) {
	for name, to := range map[string]*time.Time{"since": since, "until": until} {
		if v := q.Get(name); v != "" {
			if *to, err = time.Parse(time.RFC3339Nano, v); err != nil {
				return exchange.BadField(http.StatusBadRequest, name, "want a time as RFC 3339 has it, such as 2026-01-31T12:00:00Z")
			}
			if to.IsZero() { // which would stand for no bound
				*to = to.Add(1)
			}
		}
	}
	return checkSpan(*since, *until)
}

// checkAllowed refuses values of parameters that no decision has.
func checkAllowed(get func(name string) string) error {
	for name, values := range allowed {
		if v := get(name); v != "" && !contains(values, v) {
			return exchange.BadField(http.StatusBadRequest, name, "want one of "+strings.Join(values, ", "))
		}
	}
	return nil
}

// checkSpan refuses a time that ends before it begins; a zero time is no bound.
func checkSpan(since, until time.Time) error {
	if since.IsZero() || until.IsZero() || !until.Before(since) {
		return nil
	}
	return exchange.BadField(http.StatusBadRequest, "until", "it is before since")
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

// decisionCursor returns the record that the request goes on behind.
func (a *API) decisionCursor(r *http.Request) (time.Time, string, error) {
	text, err := a.openCursor(r)
	if err != nil || text == "" {
		return time.Time{}, "", err
	}
	micros, id, _ := strings.Cut(text, "/")
	n, err := strconv.ParseInt(micros, 10, 64)
	if err != nil {
		return time.Time{}, "", badCursor()
	}
	return time.UnixMicro(n).UTC(), id, nil
}

// decisionID reads the id in the path.
func decisionID(r *http.Request) (string, error) {
	id, err := exchange.PathParam(r, "id")
	if err != nil {
		return "", err
	}
	if len(id) != 36 || uuid.Validate(id) != nil {
		return "", exchange.BadField(http.StatusBadRequest, "id", "it is not a decision's id, which is a UUID")
	}
	return strings.ToLower(id), nil
}

// getDecision returns one record, its explanation worked out again.
//
//	@Summary		A decision
//	@Description	The explanation is computed again from the recorded inputs. digestAgrees reports whether it equals the recorded answer.
//	@Tags			decisions
//	@Produce		json
//	@Param			id	path		string	true	"the decision"
//	@Success		200	{object}	record.Recorded
//	@Failure		400,401,403,404,429,500,503	{object}	exchange.Problem
//	@Router			/v1/decisions/{id} [get]
func (a *API) getDecision(w http.ResponseWriter, r *http.Request) error {
	id, err := decisionID(r)
	if err != nil {
		return err
	}
	rec, err := a.decisions.Get(r.Context(), id)
	if err != nil {
		return err
	}
	return exchange.WriteJSON(w, http.StatusOK, rec)
}

// replay answers a recorded question once more.
//
//	@Summary		Replay a decision
//	@Description	Without overrides the recorded inputs are used, and the answer must be identical. Nothing is recorded.
//	@Tags			decisions
//	@Accept			json,application/yaml
//	@Produce		json
//	@Param			id		path		string			true	"the decision"
//	@Param			body	body		ReplayRequest	false	"the overrides of recorded inputs"
//	@Param			fieldValidation	query		string	false	"how to treat unknown fields of the objects; Strict if absent"	Enums(Strict,Warn,Ignore)
//	@Param			Idempotency-Key	header	string	false	"a key under which the call is done once in 24 hours"
//	@Success		200		{object}	record.Replay
//	@Failure		400,401,403,404,409,413,415,422,429,500,503	{object}	exchange.Problem
//	@Router			/v1/decisions/{id}/replay [post]
func (a *API) replay(w http.ResponseWriter, r *http.Request) error {
	id, err := decisionID(r)
	if err != nil {
		return err
	}
	body, p, err := a.postedBody(w, r)
	if err != nil {
		return err
	}
	o, err := a.decodeReplay(r.Context(), id, body, p)
	if err != nil {
		return err
	}
	out, err := a.decisions.Replay(r.Context(), id, o)
	if err != nil {
		return err
	}
	a.Metrics.Replayed(r.Context(), out.Identical)
	if out.Differences == nil {
		out.Differences = []record.Difference{}
	}
	p.warn(w)
	return exchange.WriteJSON(w, http.StatusOK, out)
}

func (a *API) decodeReplay(ctx context.Context, id string, body []byte, p *posted) (o record.Overrides, err error) {
	if strings.TrimSpace(string(body)) == "" {
		return o, nil
	}
	var req ReplayRequest
	if err := exchange.DecodeStrict(body, &req, exchange.DecisionBounds(&a.Limits)); err != nil {
		return o, err
	}
	o.Snapshot, o.Profile = req.Snapshot, req.Profile
	if o.Snapshot != "" {
		if _, _, err := revisionOf("snapshot", o.Snapshot); err != nil {
			return o, err
		}
	}
	if err := a.decodeProfile(ctx, id, &req, &o, p); err != nil {
		return o, err
	}
	if !exchange.IsNull(req.Pod) {
		if o.Pod, err = p.decodePod("pod", req.Pod); err != nil {
			return o, err
		}
	}
	return o, nil
}

// decodeProfile reads what stands in for a recorded profile.
func (a *API) decodeProfile(ctx context.Context, id string, req *ReplayRequest, o *record.Overrides, p *posted) (err error) {
	if o.Release, err = releaseOf("semantics", req.Semantics); err != nil {
		return err
	}
	under := o.Release
	switch {
	case exchange.IsNull(req.Config) && (under == nil || req.Profile == ""):
		return nil
	case exchange.IsNull(req.Config):
		o.Profiles, err = a.configured.Under(under)
		return err
	case under == nil:
		d, err := a.decisions.Record(ctx, id)
		if err != nil {
			return err
		}
		under = a.configured.Release(d.Cluster)
	}
	o.Profiles, err = a.parseConfig("config", req.Config, under, p)
	return err
}

// ProfileConfiguration is a configuration of a profile, which decisions name by its digest.
type ProfileConfiguration struct {
	// Digest is the SHA-256 of Configuration.
	Digest string `json:"digest" example:"sha256:0c8a2ff7de0a2a4ce5ea5f4ae2d7c7f92df8a6f4d1f8e5f93a7c7b2c76aa2d10"`
	// Profile is the profile's name.
	Profile string `json:"profile" example:"default-scheduler"`
	// Configuration has the plugins of each phase with their weights and arguments, defaults
	// included, as they decided.
	Configuration json.RawMessage `json:"configuration" swaggertype:"object"`
} // @name ProfileConfiguration

var profileDigest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// getProfile returns a configuration by its digest.
//
//	@Summary		The configuration that a decision names by profileDigest
//	@Description	It belongs to no cluster. A configuration is stored with the first decision under it; of those of this server, which GET /v1/access/changes names for its start, also before.
//	@Tags			decisions
//	@Produce		json
//	@Param			digest	path		string	true	"profileDigest of a decision"
//	@Success		200		{object}	ProfileConfiguration
//	@Failure		400,401,403,404,429,500,503	{object}	exchange.Problem
//	@Router			/v1/profiles/{digest} [get]
func (a *API) getProfile(w http.ResponseWriter, r *http.Request) error {
	digest, err := exchange.PathParam(r, "digest")
	if err != nil {
		return err
	}
	if !profileDigest.MatchString(digest) {
		return exchange.BadField(http.StatusBadRequest, "digest", "want profileDigest of a decision: sha256: and 64 digits of 0-9 and a-f")
	}
	p, err := a.decisions.Configuration(r.Context(), digest)
	if errors.Is(err, store.ErrNotFound) {
		return exchange.NotFound("no decision on record was made under a configuration of this digest")
	}
	if err != nil {
		return err
	}
	return exchange.WriteJSON(w, http.StatusOK, ProfileConfiguration{Digest: p.Digest, Profile: p.Name, Configuration: p.Payload})
}
