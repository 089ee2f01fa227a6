//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// errNoBatches is the error when this server knows no batch replays.
var errNoBatches = errors.New("no batch replays")

// batches has a server replay all that is stored, cluster by cluster, and returns how many
// decisions came out as recorded. Each of the others is requested by itself, to learn the reasons.
func (r *report) batches(ctx context.Context, one *replica, kept *books) (identical int64, err error) {
	for _, name := range clusterNames {
		var of []record
		for _, rec := range kept.records {
			if rec.Cluster == name {
				of = append(of, rec)
			}
		}
		if len(of) == 0 {
			continue
		}
		j, err := runBatch(ctx, one, name)
		if err != nil {
			return identical, err
		}
		identical += j.Identical
		if j.State != "done" || j.Identical != j.Total || j.Total < int64(len(of)) {
			r.violate("replays otherwise", "cluster %s at %s: the batch is %s (%s): %d of %d on record are identical, %d different, %d errors", name, one.name, j.State, j.Reason, j.Identical, max(j.Total, int64(len(of))), j.Different, j.Errors)
			r.replays(ctx, one, &books{records: of})
		}
	}
	return identical, nil
}

// batch is what is read of a job.
type batch struct {
	ID, State, Reason                         string
	Total, Done, Identical, Different, Errors int64
}

func runBatch(ctx context.Context, one *replica, name string) (*batch, error) {
	body := object{"cluster": name, "until": time.Now().Add(time.Minute).UTC().Format(time.RFC3339)}
	status, out, _, err := send(ctx, http.DefaultClient, one.address(), http.MethodPost, "/v1/replays", body)
	j := &batch{}
	switch {
	case err != nil:
		return nil, err
	case status == http.StatusNotFound:
		return nil, errNoBatches
	case status >= 300:
		return nil, fmt.Errorf("start a batch: status %d: %s", status, out)
	}
	for {
		if err := json.Unmarshal(out, j); err != nil || j.ID == "" {
			return nil, fmt.Errorf("no proper batch: %w %s", err, out)
		}
		switch j.State {
		case "queued", "running":
		default:
			return j, nil
		}
		pause(ctx, 50*time.Millisecond)
		if status, out, _, err = send(ctx, http.DefaultClient, one.address(), http.MethodGet, "/v1/replays/"+j.ID, nil); err != nil || status != http.StatusOK {
			return nil, fmt.Errorf("read batch %s: status %d, %w %s", j.ID, status, err, out)
		}
	}
}
