package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

	"berth/internal/store"
)

// ClaimReplay implements store.Replays.
func (s *Store) ClaimReplay(ctx context.Context, owner string, lease time.Duration) (*store.ReplayPart, error) {
	var p store.ReplayPart
	err := s.write(ctx, func(w *writer) error {
		if err := w.row(sqlFreePart, nil, &p.Cluster, &p.Replay, &p.Number); err != nil {
			return err
		}
		n, err := w.exec(sqlClaimPart, p.Cluster, p.Replay, p.Number, owner, lease.Microseconds())
		if err := errors.Join(err, expectOne("claim replay", n)); err != nil {
			return err
		}
		if _, err := w.exec(sqlBeginReplay, p.Cluster, p.Replay); err != nil {
			return err
		}
		var at int64
		err = w.row(sqlPart, []any{p.Cluster, p.Replay, p.Number}, &p.Cluster, &p.Replay, &p.Number, &p.First, &p.Last, &p.State, &p.Owner, &p.Attempts,
			&p.Cursor.Revision, &at, &p.Cursor.ID, &p.Total, &p.Done, &p.Identical, &p.Different, &p.Errors)
		if p.Cursor.ID != "" {
			p.Cursor.CreatedAt = fromMicro(at)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return &p, nil
}

// AdvanceReplay implements store.Replays.
func (s *Store) AdvanceReplay(ctx context.Context, before, after *store.ReplayPart, differ []*store.ReplayDifference, lease time.Duration) (state string, err error) {
	err = s.write(ctx, func(w *writer) error {
		if err := w.row(sqlReplayState, []any{before.Replay}, &state); err != nil {
			return err
		}
		if state != store.ReplayQueued && state != store.ReplayRunning {
			return nil
		}
		var at int64
		if after.Cursor.ID != "" {
			at = after.Cursor.CreatedAt.UnixMicro()
		}
		n, err := w.exec(sqlAdvancePart, before.Cluster, before.Replay, before.Number, before.Owner, before.Done, after.State, lease.Microseconds(),
			after.Cursor.Revision, at, after.Cursor.ID, after.Total, after.Done, after.Identical, after.Different, after.Errors)
		if err != nil {
			return err
		}
		if n != 1 {
			return fmt.Errorf("another process has part %d of replay %s by now: %w", before.Number, before.Replay, store.ErrConflict)
		}
		for _, d := range differ {
			if _, err := w.exec(sqlPutDifference, before.Cluster, before.Replay, d.Revision, d.CreatedAt.UnixMicro(), d.ID, string(d.Payload)); err != nil {
				return err
			}
		}
		if after.State != store.ReplayDone {
			return nil
		}
		if n, err = w.exec(sqlFinishReplay, before.Cluster, before.Replay); n == 1 {
			state = store.ReplayDone
		}
		return err
	})
	if err != nil {
		return "", err
	}
	return state, nil
}

// ReleaseReplay implements store.Replays.
func (s *Store) ReleaseReplay(ctx context.Context, p *store.ReplayPart) error {
	return s.write(ctx, func(w *writer) error {
		_, err := w.exec(sqlReleasePart, p.Cluster, p.Replay, p.Number, p.Owner)
		return err
	})
}
