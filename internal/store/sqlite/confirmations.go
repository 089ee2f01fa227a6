package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"berth/internal/store"
)

const (
	sqlWantConfirmation = `INSERT INTO confirmations (cluster, wanted, given, revision) VALUES (?, 1, 0, 0)
ON CONFLICT (cluster) DO UPDATE SET wanted = confirmations.wanted + 1 RETURNING wanted`
	sqlConfirm      = `UPDATE confirmations SET given = ?2, revision = ?3 WHERE cluster = ?1 AND given < ?2`
	sqlConfirmation = `SELECT wanted, given, revision FROM confirmations WHERE cluster = ?`
)

// WantConfirmation implements store.Confirmations.
func (s *Store) WantConfirmation(ctx context.Context, cluster string) (question int64, err error) {
	err = s.write(ctx, func(w *writer) error { return w.row(sqlWantConfirmation, []any{cluster}, &question) })
	return question, err
}

// Confirm implements store.Confirmations.
func (s *Store) Confirm(ctx context.Context, cluster string, question, revision int64) error {
	return s.write(ctx, func(w *writer) error {
		_, err := w.exec(sqlConfirm, cluster, question, revision)
		return err
	})
}

// Confirmation implements store.Confirmations.
func (s *Store) Confirmation(ctx context.Context, cluster string) (c store.Confirmation, err error) {
	if err := s.usable(); err != nil {
		return c, err
	}
	err = s.reads.QueryRowContext(ctx, sqlConfirmation, cluster).Scan(&c.Wanted, &c.Given, &c.Revision)
	if errors.Is(err, sql.ErrNoRows) {
		return c, nil
	}
	return c, s.toStoreErr(err)
}
