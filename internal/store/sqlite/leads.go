package sqlite

import (
	"context"
	"time"

	"berth/internal/store"
)

const (
	sqlLead = `INSERT INTO leads (cluster, owner, synced, stale_ms, renewed, until) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
ON CONFLICT (cluster) DO UPDATE SET owner = excluded.owner, stale_ms = excluded.stale_ms, renewed = excluded.renewed, until = excluded.until,
  synced = excluded.synced AND leads.owner = excluded.owner
WHERE leads.owner = excluded.owner OR leads.until <= ?5`
	sqlLeader = `SELECT owner, synced, stale_ms, renewed FROM leads WHERE cluster = ?`
	sqlResign = `DELETE FROM leads WHERE cluster = ? AND owner = ?`
)

// Lead implements store.Leads, by the clock of the one process there is.
func (s *Store) Lead(ctx context.Context, claim store.Lead, lease time.Duration) (now store.Lead, err error) {
	if err := claim.Validate(); err != nil {
		return store.Lead{}, err
	}
	at := time.Now().Truncate(time.Microsecond)
	now.Cluster = claim.Cluster
	err = s.write(ctx, func(w *writer) error {
		if _, err := w.exec(sqlLead, claim.Cluster, claim.Owner, claim.Synced, claim.Stale.Milliseconds(), at.UnixMicro(), at.Add(lease).UnixMicro()); err != nil {
			return err
		}
		var stale, renewed int64
		if err := w.row(sqlLeader, []any{claim.Cluster}, &now.Owner, &now.Synced, &stale, &renewed); err != nil {
			return err
		}
		now.Stale = time.Duration(stale) * time.Millisecond
		now.Age = max(0, at.Sub(time.UnixMicro(renewed)))
		return nil
	})
	return now, err
}

// Resign implements store.Leads.
func (s *Store) Resign(ctx context.Context, cluster, owner string) error {
	return s.write(ctx, func(w *writer) error {
		_, err := w.exec(sqlResign, cluster, owner)
		return err
	})
}
