package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"berth/internal/store"
	"berth/internal/store/batch"
	"berth/internal/store/lists"

	"github.com/jackc/pgx/v5"
)

// appending is one attempt to write a batch on one connection.
type appending struct {
	*batch.Batch
	chain []string        // clusters whose chain another process may have to itself
	made  map[string]bool // clusters whose row this attempt inserted
	left  map[string]end  // what was remembered of each cluster, where nothing was read
	// from are the ends of the chains that the batch adds to, before it.
	from map[string]store.SealHead
}

// chains are the clusters that entries add revisions to, each once.
func chains(entries []*store.Entry) []string {
	names := map[string]bool{}
	for _, e := range entries {
		if e.Revision != nil {
			names[e.Revision.Cluster] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// lockAndRead begins the transaction, takes the clusters' locks and reads the batch's facts in one
// round trip. Each statement sees what was committed when it begins, so those after the lock see
// all that the lock's holders before wrote.
func (a *appending) lockAndRead(ctx context.Context, conn *pgx.Conn) error {
	reads := a.Reads()
	begin := true
	for range 5 {
		if err := a.read(ctx, conn, reads, begin); err != nil {
			return err
		}
		if len(a.Heads) == len(reads.Clusters) {
			return nil
		}
		// Clusters that are new, or were deleted while we waited for them.
		rows, err := conn.Query(ctx, sqlNewHeads, reads.Clusters)
		if err != nil {
			return fmt.Errorf("lock clusters: %w", err)
		}
		names, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return fmt.Errorf("lock clusters: %w", err)
		}
		for _, name := range names {
			a.made[name] = true
		}
		begin = false
	}
	return fmt.Errorf("lock clusters %v: deleted again and again: %w", reads.Clusters, store.ErrUnavailable)
}

func (a *appending) read(ctx context.Context, conn *pgx.Conn, reads batch.Reads, begin bool) error {
	p := &pgx.Batch{}
	fact := func(query string, take func(pgx.Rows) error, args ...any) {
		p.Queue(query, args...).Query(func(rows pgx.Rows) error {
			return each(rows, func() error { return take(rows) })
		})
	}
	if begin {
		p.Queue("begin")
	}
	if begin && len(a.chain) > 0 {
		fact(sqlBusyChains, func(rows pgx.Rows) error {
			var cluster string
			err := rows.Scan(&cluster)
			a.Busy[cluster] = true
			return err
		}, a.chain)
	}
	fact(sqlLock, func(rows pgx.Rows) error {
		h, cluster := &batch.Head{}, ""
		err := rows.Scan(&cluster, &h.Newest, &h.Token, &h.Seq, &h.Seal, &h.SealHash)
		a.Heads[cluster] = h
		return err
	}, reads.Clusters)
	if len(reads.Numbers) > 0 {
		fact(sqlTokens, func(rows pgx.Rows) error {
			var key batch.RevisionKey
			var token string
			err := rows.Scan(&key.Cluster, &key.Number, &token)
			a.Tokens[key] = token
			return err
		}, reads.NumberClusters, reads.Numbers)
	}
	if len(reads.Classes) > 0 {
		fact(sqlClassSeqs, func(rows pgx.Rows) error {
			var cluster string
			var last int64
			err := rows.Scan(&cluster, &last)
			if h := a.Heads[cluster]; h != nil { // else it is read again, with the new head
				h.Classes = last
			}
			return err
		}, reads.Classes)
	}
	if len(reads.Parents) > 0 {
		fact(sqlParents, func(rows pgx.Rows) error {
			var key batch.ParentKey
			err := rows.Scan(&key.Cluster, &key.Token)
			a.Parents[key] = true
			return err
		}, reads.ParentClusters, reads.Parents)
	}
	if len(reads.Gaps) > 0 {
		var clusters, ids []string
		for _, g := range reads.Gaps {
			clusters, ids = append(clusters, g.Cluster), append(ids, g.ID)
		}
		fact(sqlStoredGaps, func(rows pgx.Rows) error {
			var key batch.GapKey
			err := rows.Scan(&key.Cluster, &key.ID)
			a.StoredGaps[key] = true
			return err
		}, clusters, ids)
	}
	if len(reads.Calls) > 0 {
		var callers, keys []string
		for _, c := range reads.Calls {
			callers, keys = append(callers, c.Caller), append(keys, c.Key)
		}
		fact(sqlCallTokens, func(rows pgx.Rows) error {
			var key batch.CallKey
			var token string
			err := rows.Scan(&key.Caller, &key.Key, &token)
			a.Calls[key] = token
			return err
		}, callers, keys)
	}
	if len(a.Stamps) > 0 {
		var columns [5][]string
		for s := range a.Stamps {
			for i, v := range s.Columns() {
				columns[i] = append(columns[i], v)
			}
		}
		args := []any{columns[0], columns[1], columns[2], columns[3], columns[4]}
		p.Queue(sqlPutStamps, args...)
		fact(sqlStamps, func(rows pgx.Rows) error {
			var s lists.Stamp
			var id int64
			err := rows.Scan(&id, &s.Profile, &s.ProfileDigest, &s.Engine, &s.Semantics, &s.Plugins)
			a.Stamps[s] = id
			return err
		}, args...)
	}
	if len(reads.IDs) > 0 {
		fact(sqlIDs, func(rows pgx.Rows) error {
			var id, cluster string
			err := rows.Scan(&id, &cluster)
			a.Clusters[id] = cluster
			return err
		}, reads.IDs)
	}
	if err := conn.SendBatch(ctx, p).Close(); err != nil {
		return fmt.Errorf("lock and read: %w", err)
	}
	return nil
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
