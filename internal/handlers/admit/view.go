package admit

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"berth/internal/access"
	"berth/internal/handlers/exchange"
	"berth/internal/revision"
)

// ViewOf returns a revision of a cluster, 0 for the newest.
func ViewOf(ctx context.Context, all Clusters, name string, rev int64) (*revision.View, error) {
	v, err := all.View(ctx, name, rev)
	switch {
	case err == nil:
		return v, nil
	case rev == 0:
		return nil, NoSnapshot(name, err)
	case exchange.Translate(err).Status == http.StatusNotFound:
		return nil, exchange.NotFound("there is no snapshot " + revision.FormatID(name, rev))
	}
	return nil, err
}

// NoSnapshot replaces the error of a cluster without a snapshot by one that names the next step.
func NoSnapshot(name string, err error) error {
	if err == nil || exchange.Translate(err).Status != http.StatusNotFound {
		return err
	}
	var gone *revision.GoneError
	if errors.As(err, &gone) {
		return exchange.NotFound(gone.Error())
	}
	return exchange.NotFound(fmt.Sprintf("cluster %q has no snapshot: upload one with POST /v1/snapshots?cluster=%s", name, name))
}

func (g guardedClusters) Copy(ctx context.Context, name, source string, rev int64) (*revision.View, error) {
	if err := mayDo(ctx, access.Administer, false, name); err != nil {
		return nil, err
	}
	if err := mayDo(ctx, access.View, false, source); err != nil {
		return nil, err
	}
	return g.all.Copy(ctx, name, source, rev)
}
