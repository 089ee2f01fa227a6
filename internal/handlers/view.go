package handlers

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"berth/internal/revision"
)

// viewOf returns a revision of a cluster, 0 for the newest.
func viewOf(ctx context.Context, all Clusters, name string, rev int64) (*revision.View, error) {
	v, err := all.View(ctx, name, rev)
	switch {
	case err == nil:
		return v, nil
	case rev == 0:
		return nil, noSnapshot(name, err)
	case translate(err).Status == http.StatusNotFound:
		return nil, notFound("there is no snapshot " + revision.FormatID(name, rev))
	}
	return nil, err
}

// noSnapshot replaces the error of a cluster without a snapshot by one that names the next step.
func noSnapshot(name string, err error) error {
	if err == nil || translate(err).Status != http.StatusNotFound {
		return err
	}
	var gone *revision.GoneError
	if errors.As(err, &gone) {
		return notFound(gone.Error())
	}
	return notFound(fmt.Sprintf("cluster %q has no snapshot: upload one with POST /v1/snapshots?cluster=%s", name, name))
}
