package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/golang-migrate/migrate/v4/database"
	"github.com/jackc/pgx/v5"
)

// MigrateOptions tunes Migrate; the zero value is right for a command.
type MigrateOptions struct {
	// LockTimeout bounds each wait for a lock: that of other migrations, and those of tables.
	// 0: 1 min.
	LockTimeout time.Duration
	// ServersTimeout bounds the wait for servers that could not go on with the schema. 0: 1 min.
	ServersTimeout time.Duration
	// WriterRole, where it is not "", gets the rights that a server needs once the schema is the
	// newest.
	WriterRole string
	// Waiting, where not nil, is called with a line that names what is waited for, soon after the
	// wait has begun and every few seconds from then on.
	Waiting func(line string)

	around func(database.Driver) database.Driver // nil but in tests
}

func (o MigrateOptions) withDefaults() MigrateOptions {
	if o.LockTimeout <= 0 {
		o.LockTimeout = time.Minute
	}
	if o.ServersTimeout <= 0 {
		o.ServersTimeout = time.Minute
	}
	if o.Waiting == nil {
		o.Waiting = func(string) {}
	}
	return o
}

// ErrLocked reports that another session held a lock for longer than a migration waits.
var ErrLocked = errors.New("the lock was not free in time")

// migratable refuses connections that a migration's lock and settings do not survive on. What
// might lose records is no reason: a server refuses it when it opens the database.
func migratable(ctx context.Context, cfg *pgx.ConnConfig) error {
	x, err := examine(ctx, cfg, nil)
	if err != nil {
		return err
	}
	refused := x.Hard
	if pooled(x.Soft) {
		refused = append(refused, fmt.Errorf("%w: give `migrate` the database's own URL by --direct-database-url", ErrPooler))
	}
	return errors.Join(refused...)
}

// migrationLock is the advisory lock of a schema's migrations, and statementsLock that of the
// sessions that run their statements: one whose program was killed goes on to the end of its file.
const (
	migrationLock  = `hashtext('berth migrate ' || current_schema())`
	statementsLock = `hashtext('berth migrate statements ' || current_schema())`
)

// isLock is true of an advisory lock's row in pg_locks, which shows a key as two halves.
func isLock(lock string) string {
	return `locktype = 'advisory' AND granted AND objsubid = 1
AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
AND (classid::bigint << 32 | objid::bigint) = ` + lock + `::bigint`
}

// lock takes the lock of migrations for the connection's life, and waits for the statements of one
// whose program has ended.
func (o MigrateOptions) lock(ctx context.Context, conn *pgx.Conn) error {
	for _, l := range []struct{ lock, query string }{
		{migrationLock, `SELECT pg_try_advisory_lock(` + migrationLock + `)`},
		{statementsLock, `SELECT CASE WHEN pg_try_advisory_lock(` + statementsLock + `) THEN pg_advisory_unlock(` + statementsLock + `) ELSE false END`},
	} {
		err := wait(ctx, o.LockTimeout, o.Waiting, ErrLocked, func() (free bool, whom string, err error) {
			if err := conn.QueryRow(ctx, l.query).Scan(&free); err != nil || free {
				return free, "", err
			}
			return false, lockHolder(ctx, conn, l.lock), nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// wait looks again and again until there is nothing to wait for: a call that waits in the database
// would hold a pooler's server, and could not say for whom it waits. After most it returns late.
func wait(ctx context.Context, most time.Duration, say func(line string), late error, look func() (free bool, whom string, err error)) error {
	began, told := time.Now(), time.Duration(0)
	for {
		free, whom, err := look()
		if free || err != nil {
			return err
		}
		waited := time.Since(began)
		switch {
		case waited >= most:
			return fmt.Errorf("%w: waited %s for %s", late, waited.Round(time.Second), whom)
		case told == 0 || waited >= told+5*time.Second:
			told = max(waited, time.Millisecond)
			say(fmt.Sprintf("waiting for %s, %s at most", whom, most-waited.Round(time.Second)))
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(200*time.Millisecond, most)):
		}
	}
}

// lockHolder names who has a lock, as an administrator looks for it.
func lockHolder(ctx context.Context, conn *pgx.Conn, lock string) string {
	var pid int
	var program, state string
	query := `SELECT a.pid, a.application_name, coalesce(a.state, '') FROM pg_locks l JOIN pg_stat_activity a USING (pid)
WHERE ` + isLock(lock)
	if err := conn.QueryRow(ctx, query).Scan(&pid, &program, &state); err != nil {
		return "another migration"
	}
	return fmt.Sprintf("another migration (pid %d, application %q, %s)", pid, program, state)
}

// boundLocks bounds the waits of a migration's own statements, which a server's open transaction
// may hold up, and marks the session as one that runs them. The sessions of servers queue behind a
// statement that waits, so that it steps back and tries again. It does so before PostgreSQL looks
// for deadlocks, which might end the server's transaction instead.
func (o MigrateOptions) boundLocks(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `SELECT set_config('lock_timeout', greatest(1, least($1, setting::bigint / 2))::text, false), pg_advisory_lock_shared(`+
		statementsLock+`) FROM pg_settings WHERE name = 'deadlock_timeout'`, o.LockTimeout.Milliseconds())
	return err
}

// explain adds what to do to the error of a user without rights.
func explain(user string, err error) error {
	if sqlState(err) != statePrivilege {
		return err
	}
	return fmt.Errorf("%w; from PostgreSQL 15 on only a database's owner may create tables in its schema public: "+
		"as the owner GRANT CREATE ON SCHEMA public TO %s, or make a schema of this user's own and name it in the URL, ?search_path=NAME", err, user)
}
