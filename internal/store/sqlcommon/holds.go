package sqlcommon

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"berth/internal/store"
)

// Holds implements store.Holds.
type Holds struct {
	db DB
	d  *Dialect
}

// NewHolds returns the holds in a database.
func NewHolds(db DB, d *Dialect) Holds { return Holds{db, d} }

const (
	// PutHold writes a hold as it is from a revision on, in the transaction of that.
	PutHold = `INSERT INTO placement_holds (id, cluster, state, created_at, expires_at, ended_at, revision, ended_revision,
  namespaces, pod_count, pods, undo, asked_by, ended_by)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
ON CONFLICT (id) DO UPDATE SET state = excluded.state, ended_at = excluded.ended_at, ended_revision = excluded.ended_revision,
  undo = excluded.undo, ended_by = excluded.ended_by`

	holdColumns = `SELECT id, cluster, state, created_at, expires_at, ended_at, revision, coalesce(ended_revision, 0),
  namespaces, pod_count, %s, coalesce(asked_by, ''), coalesce(ended_by, '') FROM placement_holds WHERE `
	wholeHold, bareHold = `pods, undo`, `'', NULL`

	sqlHold       = `id = $1`
	sqlHeld       = `cluster = $1 AND state = 'held' ORDER BY expires_at, id LIMIT $2`
	sqlListHolds  = `($1 = '' OR cluster = $1) AND ($2 = '' OR id < $2) ORDER BY id DESC LIMIT $3`
	sqlHoldsDue   = `SELECT DISTINCT cluster FROM placement_holds WHERE state = 'held' AND expires_at <= $1 ORDER BY cluster`
	sqlHoldStates = `SELECT state, count(*) FROM placement_holds GROUP BY state`
)

// HoldValues are the arguments of PutHold.
func HoldValues(h *store.Hold) []any {
	namespaces, _ := json.Marshal(append([]string{}, h.Namespaces...)) // texts, which Validate has seen
	undo := h.Undo
	if undo == nil {
		undo = []byte{} // which is not NULL
	}
	orNone := func(v string) any {
		if v == "" {
			return nil
		}
		return v
	}
	var ended any
	if h.EndedRevision > 0 {
		ended = h.EndedRevision
	}
	return []any{
		h.ID, h.Cluster, h.State, orNull(h.CreatedAt), orNull(h.ExpiresAt), orNull(h.EndedAt), h.Revision, ended,
		string(namespaces), h.PodCount, string(h.Pods), undo, orNone(h.AskedBy), orNone(h.EndedBy),
	}
}

func (s Holds) read(ctx context.Context, columns, where string, args ...any) (list []*store.Hold, err error) {
	err = s.db.Read(ctx, s.d.Text(fmt.Sprintf(holdColumns, columns)+where), args, func(scan func(into ...any) error) error {
		h, namespaces, pods := &store.Hold{}, "", ""
		err := scan(&h.ID, &h.Cluster, &h.State, Time{&h.CreatedAt}, Time{&h.ExpiresAt}, Time{&h.EndedAt}, &h.Revision, &h.EndedRevision,
			&namespaces, &h.PodCount, &pods, &h.Undo, &h.AskedBy, &h.EndedBy)
		if err != nil {
			return err
		}
		if h.Pods = []byte(pods); len(h.Pods) == 0 {
			h.Pods = nil
		}
		if len(h.Undo) == 0 {
			h.Undo = nil
		}
		list = append(list, h)
		if err := json.Unmarshal([]byte(namespaces), &h.Namespaces); err != nil {
			return fmt.Errorf("namespaces of hold %s: %w", h.ID, err)
		}
		return nil
	})
	return list, err
}

// Hold implements store.Holds.
func (s Holds) Hold(ctx context.Context, id string) (*store.Hold, error) {
	list, err := s.read(ctx, wholeHold, sqlHold, id)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("hold %s: %w", id, store.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// ListHolds implements store.Holds.
func (s Holds) ListHolds(ctx context.Context, f store.HoldFilter) ([]*store.Hold, error) {
	return s.read(ctx, bareHold, sqlListHolds, f.Cluster, f.Before, most(f.Limit))
}

// Held implements store.Holds.
func (s Holds) Held(ctx context.Context, cluster string, limit int) ([]*store.Hold, error) {
	return s.read(ctx, bareHold, sqlHeld, cluster, most(limit))
}

// HoldsDue implements store.Holds.
func (s Holds) HoldsDue(ctx context.Context, now time.Time) (clusters []string, err error) {
	err = s.db.Read(ctx, s.d.Text(sqlHoldsDue), []any{now.Truncate(time.Microsecond)}, func(scan func(into ...any) error) error {
		var name string
		err := scan(&name)
		clusters = append(clusters, name)
		return err
	})
	return clusters, err
}

// HoldStates implements store.Holds.
func (s Holds) HoldStates(ctx context.Context) (map[string]int64, error) {
	return Numbers(ctx, s.db, s.d.Text(sqlHoldStates))
}
