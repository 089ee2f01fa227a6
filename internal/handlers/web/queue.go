package web

import "berth/internal/report"

// queueView is the scheduling queue, a page of each list.
type queueView struct {
	report.Queue
	Summary string
}

func queueData(v *visit) string {
	return v.ofCluster([]string{"queue"}, "limit", "cursor", "snapshot", "now")
}

func loadQueue(v *visit) (string, any, error) {
	if v.cluster == "" {
		return "Queue", nil, nil
	}
	view := &queueView{}
	if err := v.get(queueData(v), &view.Queue); err != nil {
		return "", nil, err
	}
	return "Queue of " + view.Snapshot, view, nil
}
