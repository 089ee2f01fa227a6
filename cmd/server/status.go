package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"berth/internal/handlers"
	"berth/internal/kube/follow"
	"berth/internal/ops/admin"
	"berth/internal/store/sqlite"
)

// statusOf returns what the admin listener tells of the server. It reads no record, and waits for
// the store for a second at most.
func statusOf(ctx context.Context, began time.Time, s *settings, d *dependencies, api *handlers.API, list []*follow.Follower) *admin.Status {
	v, now := buildVersion(), time.Now()
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	st := &admin.Status{
		Version: v.Version, Commit: v.Commit, Go: v.Go, Platform: v.Platform, Kubernetes: s.Semantics.value().Stamp(),
		Started: began.UTC(), Uptime: now.Sub(began).Round(time.Second).String(), Goroutines: runtime.NumGoroutine(),
		Memory: admin.Memory{
			Heap: mem.HeapAlloc, System: mem.Sys, Limit: debug.SetMemoryLimit(-1), Claimed: d.budget.Used(), Budget: d.budget.Limit(),
		},
		Calls:   api.Calls(),
		Records: admin.Queue{Length: d.group.Depth(), Capacity: queueCapacity},
		Store:   admin.Store{Backend: s.backend().name()},
	}
	ping, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := d.store.Ping(ping); err != nil {
		st.Store.Problem = err.Error()
	}
	if s.DatabaseURL == "" {
		st.Store.Files = fileSizes(s.DataDir)
	}
	if d.spool != nil {
		p := d.spool.Status()
		st.Spool = &admin.Spool{Away: p.Away, Records: p.Records, Bytes: p.Bytes, Limit: p.Limit, Drained: p.Drained, Quarantined: p.Quarantined, Problem: p.Cause}
		if !p.Oldest.IsZero() {
			st.Spool.Oldest = &p.Oldest
		}
	}
	st.Clusters = clusterStatus(now, d, list)
	return st
}

// clusterStatus returns what is known in memory of clusters, by name.
func clusterStatus(now time.Time, d *dependencies, list []*follow.Follower) []admin.Cluster {
	out := []admin.Cluster{}
	of := func(name string) *admin.Cluster {
		at, found := slices.BinarySearchFunc(out, name, func(c admin.Cluster, name string) int { return strings.Compare(c.Name, name) })
		if !found {
			out = slices.Insert(out, at, admin.Cluster{Name: name})
		}
		return &out[at]
	}
	for _, v := range d.clusters.Held() {
		c := of(v.Cluster)
		c.Revision, c.Objects, c.Bytes = v.Revision, v.Summary.Objects, v.Bytes()
		c.Age = now.Sub(v.CreatedAt).Round(time.Second).String()
	}
	for name, err := range d.clusters.Following().Damaged {
		of(name).Damaged = err.Error()
	}
	for _, f := range list {
		s := f.Status()
		of(f.Cluster()).Follow = &admin.Follow{Leading: s.Leading, Synced: s.Synced, Stale: s.Stale.Round(time.Millisecond).String(), Unreadable: s.Unreadable, Problem: s.Problem}
	}
	return out
}

// fileSizes returns the sizes of the embedded store's files.
func fileSizes(dir string) map[string]int64 {
	sizes := map[string]int64{}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if info, err := os.Stat(filepath.Join(dir, sqlite.FileName+suffix)); err == nil {
			sizes[info.Name()] = info.Size()
		}
	}
	return sizes
}
