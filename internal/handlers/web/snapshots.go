package web

import (
	"net/url"

	"berth/internal/handlers/rest"
)

// snapshotsView is a page of a cluster's revisions.
type snapshotsView struct {
	rest.SnapshotList
	// Before is each revision's predecessor in the list, to compare it with; empty for the last.
	Before []string
}

func snapshotsData(v *visit) string {
	v.query.Set("cluster", v.cluster)
	return "/v1/snapshots" + v.params("cluster", "limit", "cursor")
}

func loadSnapshots(v *visit) (string, any, error) {
	view := &snapshotsView{}
	if v.cluster == "" {
		return "Snapshots", view, nil
	}
	if err := v.get(snapshotsData(v), &view.SnapshotList); err != nil {
		return "", nil, err
	}
	for i := range view.Items {
		before := ""
		if i+1 < len(view.Items) {
			before = view.Items[i+1].ID
		}
		view.Before = append(view.Before, before)
	}
	return "Snapshots of " + v.cluster, view, nil
}

func snapshotData(v *visit) string { return "/v1/snapshots/" + url.PathEscape(v.param("id")) }

func loadSnapshot(v *visit) (string, any, error) {
	view := &rest.Snapshot{}
	if err := v.get(snapshotData(v), view); err != nil {
		return "", nil, err
	}
	v.cluster = view.Cluster
	return view.ID, view, nil
}
