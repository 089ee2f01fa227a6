package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"berth/internal/store"
)

// ErrOldPrimary reports a database that a later timeline has replaced, and that takes writes all
// the same: what is written to it is lost for those who use the later one.
var ErrOldPrimary = errors.New("this is an old primary")

// identity tells databases apart that one address leads to, one after the other.
type identity struct {
	system   string // the system identifier, which copies share; "": not known
	timeline int64  // each promotion begins one; 0: not known
	started  string // when the server's process started; "": not known
}

// is reports whether nothing known tells the two apart.
func (i identity) is(o identity) bool {
	switch {
	case i.timeline == 0 || o.timeline == 0:
		return true
	case i.system != o.system && i.system != "" && o.system != "":
		return false
	}
	return i.timeline == o.timeline
}

// same reports whether the server is the very one, without a moment at which its data could have
// been put back.
func (i identity) same(o identity) bool {
	return i.is(o) && i.started == o.started && i.started != ""
}

// before reports whether i is what o has replaced.
func (i identity) before(o identity) bool {
	return i.system == o.system && i.timeline > 0 && i.timeline < o.timeline
}

func (i identity) String() string {
	if i.system == "" {
		return fmt.Sprint("timeline ", i.timeline)
	}
	return fmt.Sprintf("timeline %d of system %s", i.timeline, i.system)
}

// identityKey is where a connection keeps its identity, generationKey its generation.
const (
	identityKey   = "berth identity"
	generationKey = "berth generation"
)

// The timeline is read from the name of the file that is written now: the control file has the one
// of the last checkpoint, which after a promotion may be minutes old. A standby has none.
const (
	sqlTimeline = `SELECT CASE WHEN pg_is_in_recovery() THEN '' ELSE substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) END`
	sqlSystem   = `SELECT system_identifier FROM pg_control_system()`
	sqlStarted  = `SELECT extract(epoch FROM pg_postmaster_start_time())`
)

// identify reads a server's identity. What the role may not read, or the server does not have, is
// not known.
func identify(ctx context.Context, pc *pgconn.PgConn) (id identity, err error) {
	ask := func(query string) (string, error) {
		r := pc.ExecParams(ctx, query, nil, nil, nil, nil).Read()
		var refused *pgconn.PgError
		switch {
		case errors.As(r.Err, &refused):
			return "", nil
		case r.Err != nil:
			return "", fmt.Errorf("read the database's identity: %w", r.Err)
		case len(r.Rows) != 1:
			return "", nil
		}
		return string(r.Rows[0][0]), nil
	}
	if id.started, err = ask(sqlStarted); err != nil {
		return id, err
	}
	timeline, err := ask(sqlTimeline)
	if err != nil {
		return id, err
	}
	if id.timeline, err = strconv.ParseInt(timeline, 16, 64); err != nil {
		id.timeline = 0 // a standby, or a server with names of its own
		return id, nil
	}
	id.system, err = ask(sqlSystem)
	return id, err
}

// validate looks at each new connection, before the pool does: where the address names several
// hosts, the one behind an old primary is tried next.
func (g *epochs) validate(next pgconn.ValidateConnectFunc) pgconn.ValidateConnectFunc {
	return func(ctx context.Context, pc *pgconn.PgConn) error {
		if next != nil {
			if err := next(ctx, pc); err != nil {
				return err // as it is: the driver looks at its type
			}
		}
		return g.admit(ctx, pc)
	}
}

// admit refuses an old primary, and notes what a connection leads to.
func (g *epochs) admit(ctx context.Context, pc *pgconn.PgConn) error {
	id, err := identify(ctx, pc)
	if err != nil {
		return err
	}
	if have := g.met(); id.before(have.identity) {
		err := fmt.Errorf("%w: %s is on %s, and this server has met timeline %d: end it, or rewind it and have it follow",
			ErrOldPrimary, pc.Conn().RemoteAddr(), id, have.timeline)
		g.o.Refused(err)
		return err
	}
	pc.CustomData()[identityKey] = id
	return nil
}

// again looks once more at what an open connection leads to.
func (g *epochs) again(ctx context.Context, conn *pgx.Conn) error {
	if err := g.admit(ctx, conn.PgConn()); err != nil {
		return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
	}
	return g.greet(ctx, conn)
}
