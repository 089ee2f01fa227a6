package rest

import (
	"fmt"
	"net/http"
	"time"

	"berth/internal/handlers/exchange"
	"berth/internal/revision"
)

// asOf is a revision of a cluster, and the time that it is looked at.
type asOf struct {
	view *revision.View
	now  time.Time
	// named reports whether the request named the time.
	named bool
}

// asOf reads the parameters snapshot and now. Without snapshot it is the newest revision; without
// now it is the server's time, or for an older revision the time when that was made.
func (a *API) asOf(r *http.Request, name string) (out asOf, err error) {
	query := r.URL.Query()
	newest, err := a.view(r.Context(), name, 0)
	if err != nil {
		return out, err
	}
	out.view = newest
	if query.Has("snapshot") {
		of, rev, err := revision.ParseID(query.Get("snapshot"))
		if err != nil {
			return out, exchange.BadField(http.StatusBadRequest, "snapshot", exchange.Reason(err))
		}
		if of != name {
			return out, exchange.BadField(http.StatusBadRequest, "snapshot", fmt.Sprintf("want a revision of cluster %s, such as %s", name, newest.ID()))
		}
		if out.view, err = a.view(r.Context(), name, rev); err != nil {
			return out, err
		}
	}
	out.now = time.Now()
	if out.view.Revision < newest.Revision {
		out.now = out.view.CreatedAt
	}
	if query.Has("now") {
		out.named = true
		if out.now, err = time.Parse(time.RFC3339, query.Get("now")); err != nil {
			return out, exchange.BadField(http.StatusBadRequest, "now", "want a time such as 2026-01-31T12:00:00Z")
		}
	}
	out.now = out.now.UTC().Truncate(time.Microsecond)
	return out, nil
}
