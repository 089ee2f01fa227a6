package postgres

import (
	"context"
	"time"

	"berth/internal/store"
)

// sqlLead takes or renews a lease, and returns the row as it then is: a claim that
// came to nothing changes nothing. All times are the database's.
const (
	sqlLead = `WITH taken AS (
  INSERT INTO leads AS l (cluster, owner, synced, stale_ms, renewed, until) VALUES ($1, $2, $3, $4, clock_timestamp(), clock_timestamp() + $5 * interval '1 millisecond')
  ON CONFLICT (cluster) DO UPDATE SET owner = excluded.owner, stale_ms = excluded.stale_ms, renewed = excluded.renewed, until = excluded.until,
    synced = excluded.synced AND l.owner = excluded.owner
  WHERE l.owner = excluded.owner OR l.until <= clock_timestamp()
  RETURNING owner, synced, stale_ms, renewed
)
SELECT owner, synced, stale_ms, 0::bigint FROM taken
UNION ALL
SELECT owner, synced, stale_ms, greatest(0, (extract(epoch FROM clock_timestamp() - renewed) * 1000)::bigint) FROM leads WHERE cluster = $1 AND NOT EXISTS (SELECT FROM taken)`
	sqlResign = `DELETE FROM leads WHERE cluster = $1 AND owner = $2`
)

// Lead implements store.Leads.
func (s *Store) Lead(ctx context.Context, claim store.Lead, lease time.Duration) (now store.Lead, err error) {
	if err := claim.Validate(); err != nil {
		return store.Lead{}, err
	}
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return store.Lead{}, err
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, s.opts.WriteTimeout)
	defer cancel()
	now.Cluster = claim.Cluster
	var stale, age int64
	err = s.pool.QueryRow(ctx, sqlLead, claim.Cluster, claim.Owner, claim.Synced, claim.Stale.Milliseconds(), lease.Milliseconds()).Scan(&now.Owner, &now.Synced, &stale, &age)
	if err != nil {
		return store.Lead{}, s.toStoreErr(ctx, err)
	}
	now.Stale, now.Age = time.Duration(stale)*time.Millisecond, time.Duration(age)*time.Millisecond
	return now, nil
}

// Resign implements store.Leads.
func (s *Store) Resign(ctx context.Context, cluster, owner string) error {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, s.opts.WriteTimeout)
	defer cancel()
	_, err = s.pool.Exec(ctx, sqlResign, cluster, owner)
	return s.toStoreErr(ctx, err)
}
