package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"berth/migrations"
)

// check looks at the database before the pool does. soft refusals become
// warnings where unsafe.
func check(ctx context.Context, base *pgx.ConnConfig, unsafe bool) (warnings []error, err error) {
	x, err := examine(ctx, base, nil)
	switch {
	case err != nil:
		return nil, err
	case len(x.Hard) > 0:
		return nil, errors.Join(x.Hard...)
	case len(x.Soft) > 0 && !unsafe:
		return nil, errors.Join(x.Soft...)
	}
	return x.Soft, x.Schema
}

// examine looks at a database over connections of its own. more, if not nil, queries what else is
// wanted.
func examine(ctx context.Context, base *pgx.ConnConfig, more func(*Examination, *pgx.Conn) error) (*Examination, error) {
	connect := func() (*pgx.Conn, error) {
		cfg := base.Copy()
		cfg.DefaultQueryExecMode = pgx.QueryExecModeExec // no named statement, which a pooler may lose
		return pgx.ConnectConfig(ctx, cfg)
	}
	a, err := connect()
	if err != nil {
		return nil, err
	}
	defer hangUp(a)
	x := &Examination{}
	if x.Hard, x.Soft, err = checkServer(ctx, a); err != nil {
		return nil, err
	}
	b, err := connect()
	if err != nil {
		return nil, err
	}
	defer hangUp(b)
	between, err := poolerBetween(ctx, a, b)
	if err != nil {
		return nil, err
	}
	if between {
		x.Soft = append(x.Soft, ErrPooler)
	}
	// A connection that the pooler's probe cut off may be closed: ask a new one.
	c, err := connect()
	if err != nil {
		return nil, err
	}
	defer hangUp(c)
	if more != nil {
		if err := more(x, c); err != nil {
			return nil, err
		}
	}
	x.Schema = checkSchema(ctx, c)
	return x, nil
}

func hangUp(c *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = c.Close(ctx) // it has served
}

// checkServer queries the session's own settings: a role or a database may have
// others than the server.
func checkServer(ctx context.Context, conn *pgx.Conn) (hard, soft []error, err error) {
	var standby bool
	var readOnly, fsync, commit, pages, encoding string
	const query = `SELECT pg_is_in_recovery(), current_setting('default_transaction_read_only'), current_setting('fsync'),
current_setting('synchronous_commit'), current_setting('full_page_writes'), current_setting('server_encoding')`
	if err := conn.QueryRow(ctx, query).Scan(&standby, &readOnly, &fsync, &commit, &pages, &encoding); err != nil {
		return nil, nil, fmt.Errorf("read settings: %w", err)
	}
	if standby || readOnly == "on" {
		hard = append(hard, ErrStandby)
	}
	if encoding != "UTF8" {
		hard = append(hard, fmt.Errorf("%w but %s", ErrEncoding, encoding))
	}
	if fsync == "off" {
		soft = append(soft, ErrFsync)
	}
	if commit == "off" {
		soft = append(soft, ErrSynchronousCommit)
	}
	if pages == "off" {
		soft = append(soft, ErrFullPageWrites)
	}
	return hard, soft, nil
}

// poolerBetween finds a pooler that hands servers out by the transaction: what
// a sets for its session is gone when b, in a transaction, holds the server
// that a had, or b sees it.
func poolerBetween(ctx context.Context, a, b *pgx.Conn) (bool, error) {
	token := uuid.NewString()
	var first, pid int
	if err := a.QueryRow(ctx, `SELECT pg_backend_pid() FROM (SELECT set_config('berth.probe', $1, false)) s`, token).Scan(&first); err != nil {
		return false, err
	}
	probe := func(c *pgx.Conn) (seen string, err error) {
		// A pooler that has one server only lets the second wait for the first.
		ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
		defer cancel()
		err = c.QueryRow(ctx, `SELECT coalesce(current_setting('berth.probe', true), ''), pg_backend_pid()`).Scan(&seen, &pid)
		return seen, err
	}
	round := func() (between bool, err error) {
		if _, err := b.Exec(ctx, "BEGIN"); err != nil {
			return false, err
		}
		// A pooler's server must not go back to the others amid a transaction.
		defer func() {
			_, rollbackErr := b.Exec(ctx, "ROLLBACK")
			err = errors.Join(err, rollbackErr)
		}()
		seen, err := probe(b)
		if err != nil {
			return false, err
		}
		if seen == token {
			return true, nil
		}
		seen, err = probe(a)
		if ctx.Err() == nil && err != nil && lost(err) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		return seen != token || pid != first, nil
	}
	for range 3 {
		if between, err := round(); between || err != nil {
			return between, err
		}
	}
	return false, nil
}

func pooled(warnings []error) bool {
	return errors.Is(errors.Join(warnings...), ErrPooler)
}

// checkSchema wants a schema that this program works with.
func checkSchema(ctx context.Context, conn *pgx.Conn) error {
	have, err := schemaOf(ctx, conn)
	if err != nil {
		return err
	}
	return schemaIs(have)
}

// schemaIs compares a schema with the one that this program knows. A newer one will do where it
// says so.
func schemaIs(have migrations.Schema) error {
	known, err := migrations.Postgres.Newest()
	if err != nil {
		return err
	}
	switch {
	case have.Works(known):
		return nil
	case have.Version > known:
		return fmt.Errorf("%w: it has version %d, this program knows %d: start the newer program, or go back with the newer program's `server migrate down --to %d`", ErrSchema, have.Version, known, known)
	}
	return fmt.Errorf("%w: it has version %d, this program needs %d: run `server migrate up` with the same DATABASE_URL", ErrUnmigrated, have.Version, known)
}
