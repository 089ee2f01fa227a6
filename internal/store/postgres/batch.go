package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"berth/internal/store"
	"berth/internal/store/lists"

	"github.com/jackc/pgx/v5"
)

// batch is one Append: what was read under the clusters' locks, and what is to
// be written. As long as it holds them nobody else adds to these clusters, so
// every entry is judged in memory.
type batch struct {
	entries []*store.Entry
	await   []string // clusters whose chain others may have to themselves just now

	heads    map[string]*head       // by cluster, all of them locked
	tokens   map[revisionKey]string // of revisions that are stored or will be
	parents  map[parentKey]bool     // parents that have a child
	ids      map[string]string      // of decisions that are stored or will be, to their cluster
	profiles map[string]bool        // digests that need no writing

	revisions   []*store.Revision
	checkpoints []*store.Checkpoint
	added       []*store.Profile
	decisions   []*stamped
	gaps        []*store.Gap

	packed map[*store.Decision]*stamped // every decision that is in order
	stamps map[lists.Stamp]int64        // numbers that are not remembered yet
}

// head is the end of a cluster's chain, and what the batch adds to its books.
type head struct {
	made                 bool // by this batch
	newest               int64
	token                string
	seq                  int64 // the last one given
	revisions, decisions int64
}

type revisionKey struct {
	cluster string
	number  int64
}

type parentKey struct{ cluster, token string }

func newBatch(entries []*store.Entry) *batch { return &batch{entries: entries} }

// forget makes the batch ready for a new attempt.
func (b *batch) forget(stored *sync.Map, ids *lists.StampIDs) func() {
	return func() {
		*b = batch{
			entries: b.entries, await: b.await, heads: map[string]*head{}, tokens: map[revisionKey]string{},
			parents: map[parentKey]bool{}, ids: map[string]string{}, profiles: map[string]bool{},
			packed: map[*store.Decision]*stamped{}, stamps: map[lists.Stamp]int64{},
		}
		for _, e := range b.entries {
			e.Err = e.Validate()
			if e.Err != nil {
				continue
			}
			if e.Decision != nil {
				b.stamp(e.Decision, ids)
			}
			if e.Profile == nil {
				continue
			}
			if _, ok := stored.Load(e.Profile.Digest); ok {
				b.profiles[e.Profile.Digest] = true
			}
		}
	}
}

// stamp packs a decision and looks its stamp's number up; 0 stands for one that
// is to be asked for.
func (b *batch) stamp(d *store.Decision, ids *lists.StampIDs) {
	p := newStamped(d)
	b.packed[d] = p
	var ok bool
	if p.id, ok = ids.Get(p.stamp); !ok {
		b.stamps[p.stamp] = 0
	}
}

// remember notes the profiles and stamps that need not be written again.
func (b *batch) remember(stored *sync.Map, ids *lists.StampIDs) {
	ids.Put(b.stamps)
	for _, p := range b.added {
		stored.Store(p.Digest, true)
	}
}

// chains are the clusters that the batch adds revisions to, each once.
func (b *batch) chains() []string {
	names := map[string]bool{}
	for _, e := range b.entries {
		if e.Revision != nil {
			names[e.Revision.Cluster] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// question is what a batch has to know, as columns for unnest.
type question struct {
	clusters                       []string
	numberClusters, parentClusters []string
	numbers                        []int64
	parents, ids                   []string
}

func (b *batch) question() *question {
	q := &question{}
	clusters, numbers := map[string]bool{}, map[revisionKey]bool{}
	number := func(cluster string, n int64) {
		if key := (revisionKey{cluster, n}); !numbers[key] {
			numbers[key] = true
			q.numberClusters, q.numbers = append(q.numberClusters, cluster), append(q.numbers, n)
		}
	}
	for _, e := range b.entries {
		if e.Err != nil {
			continue
		}
		if r := e.Revision; r != nil {
			clusters[r.Cluster] = true
			number(r.Cluster, r.Number)
			q.parentClusters, q.parents = append(q.parentClusters, r.Cluster), append(q.parents, r.ParentToken)
		}
		if d := e.Decision; d != nil {
			clusters[d.Cluster] = true
			q.ids = append(q.ids, d.ID)
			if d.Revision != 0 {
				number(d.Cluster, d.Revision)
			}
		}
	}
	q.clusters = slices.Sorted(maps.Keys(clusters))
	return q
}

// lockAndRead takes the clusters' locks and reads what the batch has to know,
// after the first statement, in one round trip. Each statement sees what was
// committed when it begins, so those after the lock see all that the lock's
// holders before wrote.
func (b *batch) lockAndRead(ctx context.Context, conn *pgx.Conn, first string) error {
	q := b.question()
	made := map[string]bool{}
	for range 5 {
		if err := b.read(ctx, conn, q, first); err != nil {
			return err
		}
		if len(b.heads) == len(q.clusters) {
			for cluster := range made {
				b.heads[cluster].made = true
			}
			return nil
		}
		// Clusters that are new, or were deleted while we waited for them.
		rows, err := conn.Query(ctx, sqlNewHeads, q.clusters)
		if err != nil {
			return fmt.Errorf("lock clusters: %w", err)
		}
		names, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return fmt.Errorf("lock clusters: %w", err)
		}
		for _, name := range names {
			made[name] = true
		}
		first = ""
	}
	return fmt.Errorf("lock clusters %v: deleted again and again: %w", q.clusters, store.ErrUnavailable)
}

func (b *batch) read(ctx context.Context, conn *pgx.Conn, q *question, first string) error {
	p := &pgx.Batch{}
	if first != "" {
		p.Queue(first)
		if len(b.await) > 0 {
			p.Queue(sqlAwaitTurns, b.await)
		}
	}
	p.Queue(sqlLock, q.clusters).Query(func(rows pgx.Rows) error {
		return each(rows, func() error {
			h, cluster := &head{}, ""
			err := rows.Scan(&cluster, &h.newest, &h.token, &h.seq)
			b.heads[cluster] = h
			return err
		})
	})
	if len(q.numbers) > 0 {
		p.Queue(sqlTokens, q.numberClusters, q.numbers).Query(func(rows pgx.Rows) error {
			return each(rows, func() error {
				var key revisionKey
				var token string
				err := rows.Scan(&key.cluster, &key.number, &token)
				b.tokens[key] = token
				return err
			})
		})
	}
	if len(q.parents) > 0 {
		p.Queue(sqlParents, q.parentClusters, q.parents).Query(func(rows pgx.Rows) error {
			return each(rows, func() error {
				var key parentKey
				err := rows.Scan(&key.cluster, &key.token)
				b.parents[key] = true
				return err
			})
		})
	}
	b.readStamps(p)
	if len(q.ids) > 0 {
		p.Queue(sqlIDs, q.ids).Query(func(rows pgx.Rows) error {
			return each(rows, func() error {
				var id, cluster string
				err := rows.Scan(&id, &cluster)
				b.ids[id] = cluster
				return err
			})
		})
	}
	if err := conn.SendBatch(ctx, p).Close(); err != nil {
		return fmt.Errorf("lock and read: %w", err)
	}
	return nil
}

// readStamps asks for the numbers of stamps, and has those written that are new.
func (b *batch) readStamps(p *pgx.Batch) {
	if len(b.stamps) == 0 {
		return
	}
	var columns [5][]string
	for s := range b.stamps {
		for i, v := range []string{s.Profile, s.ProfileDigest, s.Engine, s.Semantics, s.Plugins} {
			columns[i] = append(columns[i], v)
		}
	}
	args := []any{columns[0], columns[1], columns[2], columns[3], columns[4]}
	p.Queue(sqlPutStamps, args...)
	p.Queue(sqlStamps, args...).Query(func(rows pgx.Rows) error {
		return each(rows, func() error {
			var s lists.Stamp
			var id int64
			err := rows.Scan(&id, &s.Profile, &s.ProfileDigest, &s.Engine, &s.Semantics, &s.Plugins)
			b.stamps[s] = id
			return err
		})
	})
}

func each(rows pgx.Rows, fn func() error) error {
	for rows.Next() {
		if err := fn(); err != nil {
			rows.Close()
			return err
		}
	}
	return rows.Err()
}
