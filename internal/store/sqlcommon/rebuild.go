package sqlcommon

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"berth/internal/store"
)

const (
	sqlLockRollup = `INSERT INTO rollups AS r (cluster) SELECT cluster FROM clusters WHERE cluster = $1 AND last_seq > 0
ON CONFLICT (cluster) DO UPDATE SET built = r.built + 1`
	sqlRestartRollup = `UPDATE rollups SET skip_to = seq, skip_before = $2, seq = 0, revision = 0 WHERE cluster = $1`
	// Nothing of a deleted cluster is counted any more: what follows has later places.
	sqlEmptyRollup = `INSERT INTO rollups AS r (cluster, seq) SELECT cluster, last_seq FROM clusters WHERE cluster = $1
ON CONFLICT (cluster) DO UPDATE SET seq = excluded.seq, revision = 0, built = r.built + 1, skip_to = 0`
	sqlOldest = `SELECT created_at FROM decisions WHERE cluster = $1 ORDER BY created_at LIMIT 1`
	// A seal of a removal names the decisions that went.
	sqlRemoved = `SELECT count(*) FROM seals WHERE cluster = $1 AND kind <> 'rows' AND kind = 'removal' AND items LIKE '%"decisions"%'`
)

// rollupTables are the tables of sums, each with its time.
var rollupTables = [][2]string{
	{"hourly_decisions", "hour"}, {"hourly_failures", "hour"}, {"hourly_placements", "hour"}, {"hourly_durations", "hour"}, {"waits", "since"},
}

// RebuildRollups implements store.Rollups.
func (s Rollups) RebuildRollups(ctx context.Context, cluster string) error {
	err := s.db.Write(ctx, func(x Tx) error {
		n, err := x.Exec(s.d.Text(sqlLockRollup), cluster)
		if err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("cluster %s has no decisions: %w", cluster, store.ErrNotFound)
		}
		var c rollupCursor
		if err := x.Row(s.d.Text(sqlRollup), []any{cluster}, c.targets()...); err != nil {
			return err
		}
		if c.seq < c.skipTo {
			return nil // under way
		}
		from, err := s.rebuilt(x, cluster)
		if errors.Is(err, sql.ErrNoRows) {
			return nil // no record is left: all stays
		}
		if err != nil {
			return err
		}
		for _, table := range rollupTables {
			if _, err := x.Exec(s.d.Text(`DELETE FROM `+table[0]+` WHERE cluster = $1 AND `+table[1]+` >= $2`), cluster, from); err != nil {
				return err
			}
		}
		_, err = x.Exec(s.d.Text(sqlRestartRollup), cluster, from)
		return err
	})
	if err != nil {
		return fmt.Errorf("rebuild roll-ups: %w", err)
	}
	return nil
}

// rebuilt returns the first hour whose records are all stored; sql.ErrNoRows where there is none.
func (s Rollups) rebuilt(x Tx, cluster string) (time.Time, error) {
	begin := time.Unix(0, 0).UTC()
	var removals int64
	if err := x.Row(s.d.Text(sqlRemoved), []any{cluster}, &removals); err != nil || removals == 0 {
		return begin, err
	}
	var oldest time.Time
	err := x.Row(s.d.Text(sqlOldest), []any{cluster}, Time{&oldest})
	return oldest.Truncate(time.Hour).Add(time.Hour), err
}

// DropRollups removes the sums of a cluster in the transaction that deletes it.
func (s Rollups) DropRollups(x Tx, cluster string) error {
	if _, err := x.Exec(s.d.Text(sqlEmptyRollup), cluster); err != nil {
		return err
	}
	for _, table := range rollupTables {
		if _, err := x.Exec(s.d.Text(`DELETE FROM `+table[0]+` WHERE cluster = $1`), cluster); err != nil {
			return err
		}
	}
	return nil
}
