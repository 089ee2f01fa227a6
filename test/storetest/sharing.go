package storetest

import (
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"berth/internal/store"
)

func init() {
	register("Sharing", cases{
		"Heads": func(t *testing.T, s store.Store) {
			heads, err := s.Heads(t.Context())
			wantErr(t, "Heads of nothing", err, nil)
			same(t, "heads", 0, len(heads))
			appendAll(t, s, revision("prod", 1), change("prod", 2), revision("prod", 3), change("prod", 4), revision("test", 1),
				&store.Entry{Decision: decision("no revisions", "d1", at(1))})
			heads, err = s.Heads(t.Context())
			wantErr(t, "Heads", err, nil)
			same(t, "heads", map[string]store.Head{
				"prod": {Number: 4, Token: token(4), Checkpoint: 3},
				"test": {Number: 1, Token: token(1), Checkpoint: 1},
			}, heads)
			wantErr(t, "DeleteCluster", s.DeleteCluster(t.Context(), "prod"), nil)
			again := revision("prod", 1)
			again.Revision.Token = "another life"
			appendAll(t, s, again)
			heads, err = s.Heads(t.Context())
			wantErr(t, "Heads", err, nil)
			same(t, "a cluster made again", store.Head{Number: 1, Token: "another life", Checkpoint: 1}, heads["prod"])
		},
		"OneHasTheLock": func(t *testing.T, s store.Store) {
			unlock, ok, err := s.TryLock(t.Context(), "work")
			wantErr(t, "TryLock", err, nil)
			same(t, "the first", true, ok)
			_, ok, err = s.TryLock(t.Context(), "work")
			wantErr(t, "TryLock", err, nil)
			same(t, "the second", false, ok)
			other, ok, err := s.TryLock(t.Context(), "other work")
			wantErr(t, "TryLock", err, nil)
			same(t, "another name", true, ok)
			other()
			unlock()
			unlock()
			unlock, ok, err = s.TryLock(t.Context(), "work")
			wantErr(t, "TryLock", err, nil)
			same(t, "after unlock", true, ok)
			unlock()
		},
		"OwnLockIsNoObstacle": func(t *testing.T, s store.Store) {
			end, err := s.LockChain(t.Context(), "prod")
			wantErr(t, "LockChain", err, nil)
			appendAll(t, s, revision("prod", 1), change("prod", 2))
			end()
			end()
			end, err = s.LockChain(t.Context(), "prod")
			wantErr(t, "a second LockChain", err, nil)
			end()
			appendAll(t, s, change("prod", 3))
		},
		"OneIDOneCluster": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("test", 1), &store.Entry{Decision: decision("prod", "d1", at(1))})
			bind := change("test", 2)
			bind.Decision = decision("test", "d1", at(1))
			twice := []*store.Entry{
				{Decision: decision("test", "d1", at(1))},
				{Decision: decision("prod", "d1", at(1))},
				bind,
				{Decision: decision("a", "d2", at(1))},
				{Decision: decision("b", "d2", at(1))},
			}
			refused(t, s, twice, store.ErrConflict, nil, store.ErrConflict, nil, store.ErrConflict)
			sameList(t, "records", []string{"d2", "d1"}, ids(t, s, store.DecisionFilter{}))
			same(t, "revisions", int64(1), newest(t, s, "test"))
		},
	})
}

// stored lists the numbers of the revisions that are there.
func stored(t *testing.T, s store.Store, cluster string) []int64 {
	t.Helper()
	rs, err := s.RevisionsAfter(t.Context(), cluster, 0, 0)
	wantErr(t, "RevisionsAfter", err, nil)
	return numbers(rs)
}

// loads reports whether a revision has all that its state is made of.
func loads(t *testing.T, s store.Store, cluster string, number int64) bool {
	t.Helper()
	c, err := s.CheckpointAt(t.Context(), cluster, number, nil)
	if err != nil {
		return false
	}
	rs, err := s.RevisionsAfter(t.Context(), cluster, c.Number, int(number-c.Number))
	wantErr(t, "RevisionsAfter", err, nil)
	if c.Number == number {
		return true
	}
	for i, r := range rs {
		if r.Number != c.Number+int64(i)+1 || r.Change == nil {
			return false
		}
	}
	return int64(len(rs)) == number-c.Number
}

func on(id, cluster string, revision, bound int64) *store.Entry {
	d := decision(cluster, id, at(1))
	d.Revision, d.BoundRevision = revision, bound
	return &store.Entry{Decision: d}
}

func init() {
	register("Pruning", cases{
		"OldAndUnneeded": func(t *testing.T, s store.Store) {
			// Runs: 1-3, 4-6, 7-9; 5 is decided on, 9 is the newest.
			appendAll(t, s, revision("prod", 1), change("prod", 2), change("prod", 3), revision("prod", 4), change("prod", 5),
				change("prod", 6), revision("prod", 7), change("prod", 8), change("prod", 9), on("d1", "prod", 5, 0), revision("test", 1))
			n, err := s.Prune(t.Context(), at(100))
			wantErr(t, "Prune", err, nil)
			same(t, "deleted", int64(4), n)
			sameList(t, "what stays", []int64{4, 5, 7, 8, 9}, stored(t, s, "prod"))
			sameList(t, "another cluster", []int64{1}, stored(t, s, "test"))
			_, err = s.CheckpointAt(t.Context(), "prod", 3, nil)
			wantErr(t, "checkpoint of what went", err, store.ErrNotFound)
			infos, err := s.Clusters(t.Context(), store.ClusterFilter{})
			wantErr(t, "Clusters", err, nil)
			same(t, "books", int64(5), infos[0].Revisions)
			n, err = s.Prune(t.Context(), at(100))
			wantErr(t, "a second Prune", err, nil)
			same(t, "deleted again", int64(0), n)
			appendAll(t, s, change("prod", 10))
		},
		"BoundRevisionStays": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1), revision("prod", 2), revision("prod", 3), revision("prod", 4), on("d1", "prod", 0, 2))
			_, err := s.Prune(t.Context(), at(100))
			wantErr(t, "Prune", err, nil)
			sameList(t, "what stays", []int64{2, 4}, stored(t, s, "prod"))
		},
		// A revision is young as long as it was the newest at that time.
		"AgeCountsFromTheNextOne": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1), revision("prod", 2), revision("prod", 3), revision("prod", 4))
			_, err := s.Prune(t.Context(), at(3))
			wantErr(t, "Prune", err, nil)
			sameList(t, "what stays", []int64{2, 3, 4}, stored(t, s, "prod"))
			_, err = s.Prune(t.Context(), at(3).Add(1))
			wantErr(t, "Prune", err, nil)
			sameList(t, "what stays a nanosecond later", []int64{3, 4}, stored(t, s, "prod"))
		},
		"LongRun": func(t *testing.T, s store.Store) {
			const long = 1100
			es := []*store.Entry{revision("prod", 1)}
			for n := int64(2); n <= long; n++ {
				es = append(es, change("prod", n))
			}
			es = append(es, revision("prod", long+1), on("d1", "prod", 10, 0))
			appendAll(t, s, es...)
			n, err := s.Prune(t.Context(), at(5000))
			wantErr(t, "Prune", err, nil)
			same(t, "deleted", int64(long-10), n)
			same(t, "what stays", 11, len(stored(t, s, "prod")))
		},
		// Whatever the chain looks like: what has to stay stays, and loads.
		"RandomChains": func(t *testing.T, s store.Store) {
			rnd := rand.New(rand.NewSource(7))
			for round := range 12 {
				cluster := fmt.Sprintf("c%d", round)
				newest := int64(3 + rnd.Intn(40))
				es := []*store.Entry{revision(cluster, 1)}
				must := map[int64]bool{newest: true}
				for n := int64(2); n <= newest; n++ {
					e := change(cluster, n)
					if rnd.Intn(6) == 0 {
						e = revision(cluster, n)
					}
					if rnd.Intn(5) == 0 { // replicas' clocks differ
						e.Revision.CreatedAt = at(rnd.Intn(60))
					}
					es = append(es, e)
				}
				for i := range rnd.Intn(6) {
					e := on(fmt.Sprint(cluster, "-", i), cluster, rnd.Int63n(newest)+1, rnd.Int63n(newest+1))
					must[e.Decision.Revision] = true
					if e.Decision.BoundRevision > 0 {
						must[e.Decision.BoundRevision] = true
					}
					es = append(es, e)
				}
				appendAll(t, s, es...)
				for range rnd.Intn(4) {
					n := rnd.Int63n(newest) + 1
					wantErr(t, "PutCheckpoint", s.PutCheckpoint(t.Context(), &store.Checkpoint{Cluster: cluster, Number: n}), nil)
				}
				for _, before := range []int{10, 25, 100} {
					_, err := s.Prune(t.Context(), at(before))
					wantErr(t, "Prune", err, nil)
					have := stored(t, s, cluster)
					for n := range must {
						if !slices.Contains(have, n) {
							t.Errorf("%s@%d of %d had to stay", cluster, n, newest)
						}
					}
					for _, n := range have {
						if !loads(t, s, cluster, n) {
							t.Errorf("%s@%d stayed and cannot be loaded; there are %v", cluster, n, have)
						}
					}
				}
				infos, err := s.Clusters(t.Context(), store.ClusterFilter{})
				wantErr(t, "Clusters", err, nil)
				for _, c := range infos {
					if c.Name == cluster {
						same(t, "books", int64(len(stored(t, s, cluster))), c.Revisions)
					}
				}
			}
		},
		"Usage": func(t *testing.T, s store.Store) {
			usage, err := s.Usage(t.Context())
			wantErr(t, "Usage of nothing", err, nil)
			same(t, "oldest of none", true, usage.Oldest.IsZero())
			appendAll(t, s, revision("prod", 1), on("d1", "prod", 1, 0), &store.Entry{Decision: decision("test", "d2", at(-9))})
			usage, err = s.Usage(t.Context())
			wantErr(t, "Usage", err, nil)
			same(t, "oldest", at(-9), usage.Oldest)
			if usage.Bytes["decisions"] <= 0 || usage.Bytes["revisions"] <= 0 {
				t.Errorf("bytes: %v", usage.Bytes)
			}
		},
	})
}
