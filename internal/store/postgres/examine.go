package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Examination is what can be known of a database before it is opened.
type Examination struct {
	// Hard and Soft are the reasons for which Open refuses; Options.Unsafe accepts those of Soft.
	Hard, Soft []error
	// Schema is ErrUnmigrated or ErrSchema, or nil.
	Schema error
	// Version is the server's, such as 15.6.
	Version string
	// Free is how many more connections the server takes from this role.
	Free int
	// Ahead is by how much the server's clock is ahead of this machine's, to within Within.
	Ahead, Within time.Duration
	Bytes         int64 // of the database
}

// NeededConns is how many connections a server of berth opens at most.
var NeededConns = int(Options{}.withDefaults().MaxConns)

// Examine looks at the database at url. It changes nothing.
func Examine(ctx context.Context, url string) (*Examination, error) {
	base, err := parse(url)
	if err != nil {
		return nil, fmt.Errorf("examine postgres: %w", err)
	}
	base.ConnectTimeout = Options{}.withDefaults().ConnectTimeout
	x, err := examine(ctx, base, func(x *Examination, c *pgx.Conn) error { return x.figures(ctx, c) })
	if err != nil {
		return nil, fmt.Errorf("examine postgres %s: %w", place(base), err)
	}
	return x, nil
}

func (x *Examination) figures(ctx context.Context, c *pgx.Conn) error {
	const query = `SELECT split_part(current_setting('server_version'), ' ', 1), pg_database_size(current_database()),
least(current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
      - coalesce(current_setting('reserved_connections', true), '0')::int
      - (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
  (SELECT CASE WHEN rolconnlimit < 0 THEN 1000000 ELSE rolconnlimit END
      - (SELECT count(*) FROM pg_stat_activity WHERE usename = current_user) FROM pg_roles WHERE rolname = current_user))::int`
	if err := c.QueryRow(ctx, query).Scan(&x.Version, &x.Bytes, &x.Free); err != nil {
		return fmt.Errorf("read figures: %w", err)
	}
	x.Free += 3 // the examination's own connections, which end with it
	var there time.Time
	began := time.Now()
	if err := c.QueryRow(ctx, `SELECT clock_timestamp()`).Scan(&there); err != nil {
		return fmt.Errorf("read clock: %w", err)
	}
	x.Within = time.Since(began) / 2
	x.Ahead = there.Sub(began.Add(x.Within))
	return nil
}
