package handlers

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"berth/internal/revision"
)

// view returns a revision of a cluster, 0 for the newest.
func (a *API) view(ctx context.Context, name string, rev int64) (*revision.View, error) {
	v, err := a.clusters.View(ctx, name, rev)
	switch {
	case err == nil:
		return v, nil
	case rev == 0:
		return nil, a.noSnapshot(name, err)
	case translate(err).Status == http.StatusNotFound:
		return nil, notFound("there is no snapshot " + revision.FormatID(name, rev))
	}
	return nil, err
}

// noSnapshot replaces the error of a cluster without a snapshot by one that names the next step.
func (a *API) noSnapshot(name string, err error) error {
	if err == nil || translate(err).Status != http.StatusNotFound {
		return err
	}
	var gone *revision.GoneError
	if errors.As(err, &gone) {
		return notFound(gone.Error())
	}
	return notFound(fmt.Sprintf("cluster %q has no snapshot: upload one with POST /v1/snapshots?cluster=%s", name, name))
}

// catchUp reports whether the store has a newer revision of a cluster than this server knew, and
// reads it.
func (a *API) catchUp(ctx context.Context, name string) (bool, error) {
	v, err := a.clusters.View(ctx, name, 0)
	if err != nil {
		return false, a.noSnapshot(name, err)
	}
	newer, err := a.clusters.CatchUp(ctx, v)
	return newer != nil, err
}
