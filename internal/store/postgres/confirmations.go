package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"berth/internal/store"
)

const (
	sqlWantConfirmation = `INSERT INTO confirmations AS c (cluster, wanted, given, revision) VALUES ($1, 1, 0, 0)
ON CONFLICT (cluster) DO UPDATE SET wanted = c.wanted + 1 RETURNING wanted`
	sqlConfirm      = `UPDATE confirmations SET given = $2, revision = $3 WHERE cluster = $1 AND given < $2`
	sqlConfirmation = `SELECT wanted, given, revision FROM confirmations WHERE cluster = $1`
)

// WantConfirmation implements store.Confirmations.
func (s *Store) WantConfirmation(ctx context.Context, cluster string) (question int64, err error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, s.opts.WriteTimeout)
	defer cancel()
	err = s.pool.QueryRow(ctx, sqlWantConfirmation, cluster).Scan(&question)
	return question, s.toStoreErr(ctx, err)
}

// Confirm implements store.Confirmations.
func (s *Store) Confirm(ctx context.Context, cluster string, question, revision int64) error {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, s.opts.WriteTimeout)
	defer cancel()
	_, err = s.pool.Exec(ctx, sqlConfirm, cluster, question, revision)
	return s.toStoreErr(ctx, err)
}

// Confirmation implements store.Confirmations.
func (s *Store) Confirmation(ctx context.Context, cluster string) (c store.Confirmation, err error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return c, err
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, s.opts.WriteTimeout)
	defer cancel()
	err = s.pool.QueryRow(ctx, sqlConfirmation, cluster).Scan(&c.Wanted, &c.Given, &c.Revision)
	if errors.Is(err, pgx.ErrNoRows) {
		return c, nil
	}
	return c, s.toStoreErr(ctx, err)
}
