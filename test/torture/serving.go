//go:build linux

package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

// hot is how many of a cluster's newest decisions each serving process replays one by
// one: they are on states that it still has in memory, beside what it keeps of answers.
const hot = 100

// serving replays what is on record on the processes that answered, before they end. A
// fresh server does so afterwards (judge), and both have to find every answer identical.
func (r *report) serving(ctx context.Context, p *place, told *ledger) {
	began := time.Now()
	kept, err := p.drained(ctx, told)
	if err != nil {
		r.violate("harness", "read the books while the servers serve: %v", err)
		return
	}
	var identical, asked int64
	newest := &books{records: kept.newest(hot)}
	for _, one := range p.replicas {
		n, err := r.batches(ctx, one, kept)
		if err != nil && !errors.Is(err, errNoBatches) {
			r.violate("judge", "%s, which served: %v", one.name, err)
		}
		if err == nil {
			asked += int64(len(kept.records))
		}
		asked += int64(len(newest.records))
		identical += n + r.replays(ctx, one, newest)
	}
	r.say("replayed beside other calls", "%d", told.replays)
	r.say("replayed identical by those that served", "%d of %d in %s", identical, asked, time.Since(began).Round(time.Millisecond))
}

// drained reads the books once every answer is in Postgres, which the spools take a
// moment for. What is still missing then is found when the servers have ended.
func (p *place) drained(ctx context.Context, told *ledger) (kept *books, err error) {
	for end := time.Now().Add(10 * time.Second); ; pause(ctx, 500*time.Millisecond) {
		if kept, err = readBooks(ctx, p.pg.url()); err != nil {
			return nil, err
		}
		if len(kept.records) >= len(told.answers) || time.Now().After(end) || ctx.Err() != nil {
			return kept, ctx.Err()
		}
	}
}

// newest returns the records on each cluster's latest revisions, at most n of each.
func (b *books) newest(n int) (list []record) {
	records := slices.Clone(b.records)
	slices.SortFunc(records, func(a, b record) int { return cmp.Or(cmp.Compare(b.Revision, a.Revision), cmp.Compare(a.ID, b.ID)) })
	of := map[string]int{}
	for _, r := range records {
		if of[r.Cluster]++; of[r.Cluster] <= n {
			list = append(list, r)
		}
	}
	return list
}

// outwait gives holds the time to end by themselves, without a call about their clusters.
func (r *report) outwait(ctx context.Context, p *place) {
	conn, err := pgx.Connect(ctx, p.pg.url())
	if err != nil {
		r.violate("harness", "look at the holds: %v", err)
		return
	}
	defer func() { _ = conn.Close(ctx) }()
	for end := time.Now().Add(8 * time.Second); time.Now().Before(end) && ctx.Err() == nil; pause(ctx, 200*time.Millisecond) {
		list, err := readHolds(ctx, conn)
		if err == nil && !slices.ContainsFunc(list, func(h held) bool { return h.State == stateHeld }) {
			return
		}
	}
}
