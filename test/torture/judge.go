//go:build linux

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// judge starts a server that has seen nothing of all this and lets it work out
// every revision's content and every decision once more.
func (r *report) judge(ctx context.Context, p *place, kept *books, told *ledger, o options) {
	one, err := p.newReplica(ctx, "judge")
	if err == nil {
		defer func() {
			if err := one.close(); err != nil {
				r.violate("harness", "end the judge: %v", err)
			}
		}()
		err = one.awaitReady(ctx)
	}
	if err != nil {
		r.violate("judge", "a fresh server does not start on what is stored: %v", err)
		return
	}
	r.events(ctx, one, told.followers, kept)
	if o.Scenario == "books" {
		return
	}
	r.rollups(ctx, p.pg.url(), o.Recovery)
	r.judgeJobs(ctx, one)
	began := time.Now()
	r.digests(ctx, one, kept)
	looked := time.Since(began)
	r.say("revisions recomputed", "in %s", looked.Round(time.Millisecond))
	began = time.Now()
	how := "by batches"
	identical, err := r.batches(ctx, one, kept)
	if errors.Is(err, errNoBatches) {
		how, identical, err = "one by one", r.replays(ctx, one, kept), nil
	}
	if err != nil {
		r.violate("judge", "%v", err)
	}
	took := time.Since(began)
	r.say("replayed identical", "%d of %d %s in %s (%.0f/s)", identical, len(kept.records), how, took.Round(time.Millisecond), float64(len(kept.records))/took.Seconds())
}

// digests loads every revision: the server refuses one whose content has not the
// digest that it bears.
func (r *report) digests(ctx context.Context, one *replica, kept *books) {
	for name, list := range kept.revisions {
		for _, rev := range list {
			id := idOf(name, rev.Number)
			status, body, _, err := send(ctx, http.DefaultClient, one.address(), http.MethodGet, "/v1/snapshots/"+id, nil)
			var out struct{ Digest string }
			if err != nil || status != http.StatusOK || json.Unmarshal(body, &out) != nil || out.Digest != rev.Digest {
				r.violate("unreadable revision", "%s: status %d, %v %s", id, status, err, body)
			}
			if ctx.Err() != nil {
				return
			}
		}
	}
}

// replays requests every decision again, revision by revision.
func (r *report) replays(ctx context.Context, one *replica, kept *books) (identical int64) {
	list := slices.Clone(kept.records)
	slices.SortFunc(list, func(a, b record) int {
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Revision, b.Revision), cmp.Compare(a.ID, b.ID))
	})
	var next, same atomic.Int64
	var mu sync.Mutex
	var workers sync.WaitGroup
	caller := &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	defer caller.CloseIdleConnections()
	for range 2 {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(list)) && ctx.Err() == nil; i = next.Add(1) - 1 {
				status, body, _, err := send(ctx, caller, one.address(), http.MethodPost, "/v1/decisions/"+list[i].ID+"/replay", object{})
				var out struct{ Identical bool }
				if err == nil && status == http.StatusOK && json.Unmarshal(body, &out) == nil && out.Identical {
					same.Add(1)
					continue
				}
				mu.Lock()
				r.violate("replays otherwise", "decision %s on %s: status %d, %v %s", list[i].ID, idOf(list[i].Cluster, list[i].Revision), status, err, body)
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	return same.Load()
}
