//go:build unix

package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"berth/internal/store/sqlite"
)

// bare writes to a file of its own, made as berth's is: one prepared statement a
// row, one transaction a batch, the disk waited for.
func (b *sqliteBench) bare(ctx context.Context) (_ func(rows int) error, _ func() error, err error) {
	dir := filepath.Join(b.dir, "bare-"+uuid.NewString())
	if err := sqlite.MigrateUp(ctx, dir); err != nil {
		return nil, nil, err
	}
	columns, row, err := sampleRow(ctx, filepath.Join(b.dir, "berth", "berth.db"))
	if err != nil {
		return nil, nil, err
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "berth.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_txlock=immediate")
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(1)
	id, created, seq := slices.Index(columns, "id"), slices.Index(columns, "created_at"), slices.Index(columns, "seq")
	place := int64(0)
	insert := fmt.Sprintf("INSERT INTO decisions (%s) VALUES (?%s)", strings.Join(columns, ", "), strings.Repeat(", ?", len(columns)-1))
	stmt, err := db.PrepareContext(ctx, insert)
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return func(rows int) error {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		in := tx.StmtContext(ctx, stmt)
		defer func() { _ = in.Close() }()
		for range rows {
			place++
			row[id], row[created], row[seq] = newID(), time.Now().UnixMicro(), place
			if _, err := in.ExecContext(ctx, row...); err != nil {
				return err
			}
		}
		return tx.Commit()
	}, func() error { return errors.Join(stmt.Close(), db.Close()) }, nil
}

// sampleRow reads a record of berth's as it is stored.
func sampleRow(ctx context.Context, file string) (columns []string, row []any, err error) {
	db, err := sql.Open("sqlite", "file:"+file+"?mode=ro")
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = db.Close() }()
	rows, err := db.QueryContext(ctx, "SELECT * FROM decisions LIMIT 1")
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = rows.Close() }()
	if columns, err = rows.Columns(); err != nil {
		return nil, nil, err
	}
	row = make([]any, len(columns))
	into := make([]any, len(columns))
	for i := range row {
		into[i] = &row[i]
	}
	if !rows.Next() {
		return nil, nil, fmt.Errorf("no record to copy: %w", rows.Err())
	}
	return columns, row, rows.Scan(into...)
}

// bare writes to the same table by the driver's own COPY, one a transaction.
func (b *postgresBench) bare(ctx context.Context) (func(rows int) error, func() error, error) {
	conn, err := pgx.Connect(ctx, b.url)
	if err != nil {
		return nil, nil, err
	}
	finish := func() error { return conn.Close(ctx) }
	rows, err := conn.Query(ctx, "SELECT * FROM decisions LIMIT 1")
	if err != nil {
		return nil, nil, errors.Join(err, finish())
	}
	var columns []string
	for _, f := range rows.FieldDescriptions() {
		columns = append(columns, f.Name)
	}
	row, err := pgx.CollectExactlyOneRow(rows, func(r pgx.CollectableRow) ([]any, error) { return r.Values() })
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("no record to copy: %w", err), finish())
	}
	id, created := slices.Index(columns, "id"), slices.Index(columns, "created_at")
	return func(rows int) error {
		_, err := conn.CopyFrom(ctx, pgx.Identifier{"decisions"}, columns, pgx.CopyFromSlice(rows, func(int) ([]any, error) {
			next := slices.Clone(row)
			next[id], next[created] = newID(), time.Now()
			return next, nil
		}))
		return err
	}, finish, nil
}

// bareRate returns the rows a second of bare batches that are written for a while.
func bareRate(ctx context.Context, b bench, batch int, while time.Duration) (_ float64, err error) {
	write, finish, err := b.bare(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, finish()) }()
	began, rows := time.Now(), 0
	for time.Since(began) < while {
		if err := write(batch); err != nil {
			return 0, err
		}
		rows += batch
	}
	return float64(rows) / time.Since(began).Seconds(), nil
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }
