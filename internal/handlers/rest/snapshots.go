package rest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/handlers/keyed"
	"berth/internal/kube/object"
	"berth/internal/report"
	"berth/internal/revision"
	"berth/internal/store"
)

// Snapshot is a revision of a cluster's state as clients see it.
type Snapshot struct {
	// ID is cluster@revision.
	ID        string    `json:"id" example:"prod@1042"`
	Cluster   string    `json:"cluster" example:"prod"`
	Revision  int64     `json:"revision" example:"1042"`
	CreatedAt time.Time `json:"createdAt"`
	// Digest is over the content alone: equal states have equal digests.
	Digest string `json:"digest" example:"sha256:…"`
	// Cause is what made the revision: upload, change, bind, fork or epoch, or the end of holds:
	// commit, release or expired.
	Cause string `json:"cause" example:"upload"`
	// AskedBy is the kind and name of who asked for it.
	AskedBy string `json:"askedBy,omitempty" example:"token:ci"`
	// Followed reports whether the cluster is followed through its apiserver: a kind without
	// objects is one that the cluster has none of.
	Followed bool `json:"followed,omitempty"`
	revision.Summary
	// Unapplied are the kinds that it has objects of, and that admissions and changes alone apply:
	// an API server does, before a scheduler sees a pod.
	Unapplied []string `json:"unapplied,omitempty" example:"LimitRange"`
	// UnknownFields counts the fields of an upload that Kubernetes v1.36 does not have, by kind and
	// path: they were left out.
	UnknownFields map[string]int `json:"unknownFields,omitempty"`
	// Warnings name the parts of a change that were ignored (fieldValidation=Warn), and the pods
	// that it put on nodes which are not there or have no room for them.
	Warnings []string `json:"warnings,omitempty"`
	// Deleted names what a change deleted, in the order of the request.
	Deleted []object.Key `json:"deleted,omitempty"`
	// Ending names the pods whose graceful end a change began: they stay until they are deleted
	// again.
	Ending []object.Key `json:"ending,omitempty"`
	// NotFound names what a change was to delete and the state did not hold.
	NotFound []object.Key `json:"notFound,omitempty"`
} // @name Snapshot

// SnapshotList is a page of revisions, newest first.
type SnapshotList struct {
	Items []Snapshot `json:"items"`
	// Cursor continues the list; absent on its last page.
	Cursor string `json:"cursor,omitempty"`
} // @name SnapshotList

func snapshotOf(v *revision.View) Snapshot {
	return Snapshot{
		ID: v.ID(), Cluster: v.Cluster, Revision: v.Revision, CreatedAt: v.CreatedAt.UTC(), Digest: v.Digest, Cause: v.Cause, Summary: v.Summary,
		Unapplied: unapplied(v.Summary.Objects),
	}
}

func snapshotRow(r *store.Revision) (Snapshot, error) {
	sum, err := revision.ParseSummary(r.Summary)
	if err != nil {
		return Snapshot{}, err
	}
	return Snapshot{
		ID: revision.FormatID(r.Cluster, r.Number), Cluster: r.Cluster, Revision: r.Number, CreatedAt: r.CreatedAt.UTC(), Digest: r.Digest, Cause: r.Cause, AskedBy: r.Asked.By, Summary: sum,
		Unapplied: unapplied(sum.Objects),
	}, nil
}

func unapplied(objects map[string]int) (kinds []string) {
	for _, u := range report.UnappliedIn(objects) {
		kinds = append(kinds, u.Kind)
	}
	return kinds
}

// snapshotID reads the id in the path.
func snapshotID(r *http.Request) (name string, rev int64, err error) {
	raw, err := exchange.PathParam(r, "id")
	if err != nil {
		return "", 0, err
	}
	return revisionOf("id", raw)
}

// queryCluster returns the cluster in the query.
func queryCluster(r *http.Request) (string, error) {
	name := cmp.Or(exchange.ClusterInQuery(r), exchange.DefaultCluster)
	if err := revision.CheckName(name); err != nil {
		return "", exchange.BadField(http.StatusBadRequest, "cluster", exchange.Reason(err))
	}
	return name, nil
}

// listSnapshots lists revisions.
//
//	@Summary	List a cluster's revisions, newest first
//	@Tags		snapshots
//	@Produce	json
//	@Param		cluster	query		string	false	"the cluster; default if absent"
//	@Param		limit	query		int		false	"items in the page, 100 if absent"
//	@Param		cursor	query		string	false	"cursor of the page before"
//	@Success	200		{object}	SnapshotList
//	@Failure	400,401,403,404,429,500,503	{object}	exchange.Problem
//	@Router		/v1/snapshots [get]
func (a *API) listSnapshots(w http.ResponseWriter, r *http.Request) error {
	name, err := queryCluster(r)
	if err != nil {
		return err
	}
	limit, err := a.pageSize(r)
	if err != nil {
		return err
	}
	before := int64(0)
	last, err := a.openCursor(r)
	if err != nil {
		return err
	}
	if last != "" {
		if before, err = strconv.ParseInt(last, 10, 64); err != nil {
			return badCursor()
		}
	}
	rows, err := a.clusters.List(r.Context(), name, before, limit+1)
	if err != nil {
		return err
	}
	list := SnapshotList{Items: make([]Snapshot, 0, min(len(rows), limit))}
	for i, row := range rows {
		if i == limit {
			list.Cursor = a.sealCursor(r, strconv.FormatInt(rows[i-1].Number, 10))
			break
		}
		s, err := snapshotRow(row)
		if err != nil {
			return err
		}
		list.Items = append(list.Items, s)
	}
	if len(list.Items) == 0 && before == 0 {
		return exchange.NotFound(fmt.Sprintf("cluster %q has no snapshot", name))
	}
	return exchange.WriteJSON(w, http.StatusOK, list)
}

// getSnapshot returns one revision.
//
//	@Summary	A revision
//	@Tags		snapshots
//	@Produce	json
//	@Param		id	path		string	true	"cluster@revision or cluster@latest"
//	@Success	200	{object}	Snapshot
//	@Failure	400,401,403,404,409,422,429,500,503	{object}	exchange.Problem
//	@Router		/v1/snapshots/{id} [get]
func (a *API) getSnapshot(w http.ResponseWriter, r *http.Request) error {
	name, revision, err := snapshotID(r)
	if err != nil {
		return err
	}
	row, err := a.revision(r, name, revision)
	if err != nil {
		return err
	}
	s, err := snapshotRow(row)
	if err != nil {
		return err
	}
	s.Followed = a.followed(s.Cluster)
	return exchange.WriteJSON(w, http.StatusOK, s)
}

// revision reads a revision's row, which needs none of its state; 0 is the newest.
func (a *API) revision(r *http.Request, name string, rev int64) (*store.Revision, error) {
	before := int64(0)
	if rev > 0 {
		before = rev + 1
	}
	rows, err := a.clusters.List(r.Context(), name, before, 1)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 || rev > 0 && rows[0].Number != rev {
		return nil, exchange.NotFound(fmt.Sprintf("there is no snapshot %s", revision.FormatID(name, rev)))
	}
	return rows[0], nil
}

// deleteSnapshot removes one revision.
//
//	@Summary		Delete a revision
//	@Description	Returns 409 while decisions refer to the revision, and for the newest revision: delete the cluster instead.
//	@Tags			snapshots
//	@Param		id	path	string	true	"cluster@revision"
//	@Success	204
//	@Failure	400,401,403,404,409,422,429,500,503	{object}	exchange.Problem
//	@Router		/v1/snapshots/{id} [delete]
func (a *API) deleteSnapshot(w http.ResponseWriter, r *http.Request) error {
	name, rev, err := snapshotID(r)
	if err != nil {
		return err
	}
	row, err := a.revision(r, name, rev)
	if err != nil {
		return err
	}
	err = a.clusters.Delete(r.Context(), name, row.Number)
	switch {
	case errors.Is(err, store.ErrConflict):
		return &exchange.Error{Status: http.StatusConflict, Kind: "conflict", Detail: fmt.Sprintf(
			"%s is the newest revision, from which the next one is made, so it stays; DELETE /v1/clusters/%s removes the cluster with everything in it", revision.FormatID(name, row.Number), name)}
	case err != nil:
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// ForkRequest names what a new cluster is a copy of.
type ForkRequest struct {
	// From is the revision that it begins with, of another cluster.
	From string `json:"from" example:"prod@1042"`
} // @name ForkRequest

// forkCluster begins a cluster as a copy of a revision.
//
//	@Summary		Begin a cluster as a copy of a revision of another one
//	@Description	The copy begins at its revision 1 with what the revision holds, and is a cluster that berth keeps: changes, binds and its deletion leave the source alone. It costs the same however many objects there are. The source may be pruned or deleted meanwhile. Decisions, holds and stored priority classes of the source are not copied: pods of holds are bound in the copy. Returns 409 if the cluster exists.
//	@Tags			clusters
//	@Accept			json,application/yaml
//	@Produce		json
//	@Param			cluster			path	string		true	"the cluster to make"
//	@Param			body			body	ForkRequest	true	"what it is a copy of"
//	@Param			Idempotency-Key	header	string		false	"a key under which the call is done once in 24 hours"
//	@Success		201	{object}	Snapshot
//	@Failure		400,401,403,404,409,413,415,422,429,500,503	{object}	exchange.Problem
//	@Router			/v1/clusters/{cluster}/fork [post]
func (a *API) forkCluster(w http.ResponseWriter, r *http.Request) error {
	name, err := exchange.ClusterParam(r)
	if err != nil {
		return err
	}
	if a.followed(name) {
		return exchange.BadField(http.StatusConflict, "cluster", fmt.Sprintf("cluster %s is followed through its apiserver: give the copy another name", name))
	}
	body, err := a.JSONBody(w, r, a.Limits.DecisionMaxBytes, "decision-max-bytes")
	if err != nil {
		return err
	}
	var req ForkRequest
	if err := exchange.DecodeStrict(body, &req, exchange.DecisionBounds(&a.Limits)); err != nil {
		return err
	}
	if req.From == "" {
		return exchange.BadField(http.StatusBadRequest, "from", "want the revision to copy, such as prod@1042 or prod@latest")
	}
	source, rev, err := revisionOf("from", req.From)
	if err != nil {
		return err
	}
	if err := a.roomForCluster(r.Context(), name); err != nil {
		return err
	}
	answer := keyed.Answering(r.Context(), func(v *revision.View) error {
		w.Header().Set("Location", "/v1/snapshots/"+v.ID())
		return exchange.WriteJSON(w, http.StatusCreated, snapshotOf(v))
	})
	v, err := a.clusters.Copy(r.Context(), name, source, rev)
	var exists *revision.ExistsError
	switch {
	case errors.As(err, &exists):
		return exchange.BadField(http.StatusConflict, "cluster", fmt.Sprintf("%s: give the copy another name, or delete the cluster first (DELETE /v1/clusters/%s)", exists, name))
	case err != nil && rev == 0:
		return admit.NoSnapshot(source, err)
	case err != nil && exchange.Translate(err).Status == http.StatusNotFound && admit.SeesCluster(r.Context(), source):
		return exchange.NotFound("there is no snapshot " + revision.FormatID(source, rev))
	case err != nil:
		return err
	}
	a.Metrics.Received(v)
	return answer(v)
}

// catchUp reports whether the store has a newer revision of a cluster than this server knew, and
// reads it.
func (a *API) catchUp(ctx context.Context, name string) (bool, error) {
	v, err := a.clusters.View(ctx, name, 0)
	if err != nil {
		return false, admit.NoSnapshot(name, err)
	}
	newer, err := a.clusters.CatchUp(ctx, v)
	return newer != nil, err
}

// view returns a revision of a cluster, 0 for the newest.
func (a *API) view(ctx context.Context, name string, rev int64) (*revision.View, error) {
	return admit.ViewOf(ctx, a.clusters, name, rev)
}
