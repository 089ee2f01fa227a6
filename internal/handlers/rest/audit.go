package rest

import (
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strconv"

	"berth/internal/audit"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/revision"
	"berth/internal/store"
)

// Seals of one call: each has up to a batch of decisions.
const (
	auditSeals     = 256
	auditSealsMost = 2048
)

// listAuditHeads returns the ends of the hash chains.
//
//	@Summary		The ends of the log's hash chains
//	@Description	To be kept elsewhere: a later check against them finds that a whole chain was written anew.
//	@Tags			audit
//	@Produce		json
//	@Param			cluster	query		string	false	"of this cluster"
//	@Success		200		{object}	audit.Anchor
//	@Failure		400,401,403,429,500,503	{object}	exchange.Problem
//	@Router			/v1/audit/heads [get]
func (a *API) listAuditHeads(w http.ResponseWriter, r *http.Request) error {
	name := r.URL.Query().Get("cluster")
	if name != "" {
		if err := revision.CheckName(name); err != nil {
			return exchange.BadField(http.StatusBadRequest, "cluster", exchange.Reason(err))
		}
	}
	heads, err := a.seals.SealHeads(r.Context(), name)
	if err != nil {
		return err
	}
	heads = slices.DeleteFunc(heads, func(h store.SealHead) bool { return !admit.SeesCluster(r.Context(), h.Cluster) })
	return exchange.WriteLong(w, r, audit.AnchorOf(heads))
}

var hexHash = regexp.MustCompile(`^[0-9a-f]{64}$`)

// verifyAudit checks a part of a cluster's hash chain.
//
//	@Summary		Check a cluster's hash chain
//	@Description	Compares what is stored with the seals that were written with it. What was changed, removed or put in behind berth's back is in findings, also a chain that has rows and no seal of its beginning, and what of the schema is not as migrations make it. more is set where seals are left: go on with after=toSeal.
//	@Tags			audit
//	@Produce		json
//	@Param			cluster	path		string	true	"the cluster"
//	@Param			after	query		int		false	"go on behind this seal"
//	@Param			limit	query		int		false	"seals to check, 256 if absent, 2048 at most"
//	@Param			seal	query		int		false	"with hash: a seal that the chain has to hold"
//	@Param			hash	query		string	false	"its hash, as /v1/audit/heads had it"
//	@Success		200		{object}	audit.Report
//	@Failure		400,401,403,404,429,500,503	{object}	exchange.Problem
//	@Router			/v1/clusters/{cluster}/audit [get]
func (a *API) verifyAudit(w http.ResponseWriter, r *http.Request) error {
	name, err := exchange.ClusterParam(r)
	if err != nil {
		return err
	}
	o := audit.Options{Limit: auditSeals}
	query := r.URL.Query()
	for field, into := range map[string]*int64{"after": &o.After, "seal": nil} {
		if text := query.Get(field); text != "" {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil || n < 0 {
				return exchange.BadField(http.StatusBadRequest, field, "want the number of a seal")
			}
			if into != nil {
				*into = n
			} else {
				o.Anchor = &audit.Head{Cluster: name, Seal: n, Hash: query.Get("hash")}
			}
		}
	}
	if query.Has("hash") && (o.Anchor == nil || !hexHash.MatchString(o.Anchor.Hash)) || o.Anchor != nil && o.Anchor.Hash == "" {
		return exchange.BadField(http.StatusBadRequest, "hash", "want seal and hash together, the hash as 64 hexadecimal digits")
	}
	if text := query.Get("limit"); text != "" {
		if o.Limit, err = strconv.Atoi(text); err != nil || o.Limit < 1 || o.Limit > auditSealsMost {
			return exchange.BadField(http.StatusBadRequest, "limit", "want 1 to "+strconv.Itoa(auditSealsMost))
		}
	}
	heads, err := a.seals.SealHeads(r.Context(), name)
	if err != nil {
		return err
	}
	if len(heads) == 0 {
		return exchange.NotFound("nothing is stored of cluster " + strconv.Quote(name))
	}
	report, err := audit.Verify(r.Context(), a.seals, name, o)
	if errors.Is(err, audit.ErrNoSeal) {
		return exchange.BadField(http.StatusBadRequest, "after", err.Error())
	}
	if err != nil {
		return err
	}
	if err := report.AddSchema(r.Context(), a.seals); err != nil {
		return err
	}
	return exchange.WriteLong(w, r, report)
}
