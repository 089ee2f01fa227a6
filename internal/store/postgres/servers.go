package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"berth/migrations"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

const (
	// renewEvery is how often a server renews its row.
	renewEvery = 5 * time.Second
	// servesFor is for how long a server counts that did not renew its row, such as one that was
	// killed, or that does not reach the database.
	servesFor = 30 * time.Second
)

// ErrServing reports that servers run that could not go on with the wanted schema.
var ErrServing = errors.New("servers still run")

const (
	// Its own row first: a server that comes back to life renews what others are about to clean.
	sqlRenew = `WITH gone AS (DELETE FROM servers WHERE seen < clock_timestamp() - interval '10 minutes' AND id <> $1)
INSERT INTO servers (id, host, program, schema, started, seen) VALUES ($1, $2, $3, $4, clock_timestamp(), clock_timestamp())
ON CONFLICT (id) DO UPDATE SET seen = excluded.seen`
	sqlDisappear = `DELETE FROM servers WHERE id = $1`
	sqlServing   = `SELECT host, program, schema, greatest(0, extract(epoch FROM clock_timestamp() - seen))::bigint FROM servers
WHERE seen > clock_timestamp() - $1 * interval '1 millisecond' ORDER BY started, id`
)

// presence is the row of a server that runs. The zero value has none.
type presence struct {
	id   string
	stop context.CancelFunc
	done sync.WaitGroup
}

// appear writes the row of this server, and renews it until end is called.
func (s *Store) appear(ctx context.Context) error {
	p := &s.present
	p.id = uuid.NewString()
	if err := s.renew(ctx); err != nil {
		if sqlState(err) == statePrivilege {
			err = fmt.Errorf("%w: as the owner GRANT SELECT, INSERT, UPDATE, DELETE ON servers TO the role of the server", err)
		}
		return fmt.Errorf("note that this server runs: %w", err)
	}
	var life context.Context
	life, p.stop = context.WithCancel(context.WithoutCancel(ctx))
	p.done.Go(func() {
		ticker := time.NewTicker(renewEvery)
		defer ticker.Stop()
		for {
			select {
			case <-life.Done():
				// A database that does not answer keeps the row, which counts for servesFor.
				ctx, cancel := context.WithTimeout(context.WithoutCancel(life), time.Second)
				defer cancel()
				_, _ = s.pool.Exec(ctx, sqlDisappear, p.id)
				return
			case <-ticker.C:
				_ = s.renew(life) // what is wrong with the database, its watcher says
			}
		}
	})
	return nil
}

func (p *presence) end() {
	if p.stop != nil {
		p.stop()
		p.done.Wait()
	}
}

func (s *Store) renew(ctx context.Context) error {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return err
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, s.opts.WriteTimeout)
	defer cancel()
	known, err := migrations.Postgres.Newest()
	if err != nil {
		return err
	}
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	_, err = s.pool.Exec(ctx, sqlRenew, s.present.id, host, s.opts.Program, known)
	return s.toStoreErr(ctx, err)
}

// unused waits until no server runs that could not go on with the schema of version want. On the
// way down that is every one, since rows go that servers remember.
func (o MigrateOptions) unused(ctx context.Context, conn *pgx.Conn, have, want int) error {
	if have < migrations.Expanding || have == want {
		return nil
	}
	return wait(ctx, o.ServersTimeout, o.Waiting, ErrServing, func() (bool, string, error) {
		who, err := serving(ctx, conn, func(knows int) bool {
			return want < have || knows < migrations.Serves(want)
		})
		return len(who) == 0, "servers to stop: " + strings.Join(who, ", "), err
	})
}

// serving describes the servers that run and whose newest schema is one of those wanted.
func serving(ctx context.Context, conn *pgx.Conn, wanted func(knows int) bool) (who []string, err error) {
	rows, err := conn.Query(ctx, sqlServing, servesFor.Milliseconds())
	if err != nil {
		return nil, fmt.Errorf("read servers: %w", err)
	}
	var host, program string
	var knows, seen int
	_, err = pgx.ForEachRow(rows, []any{&host, &program, &knows, &seen}, func() error {
		if wanted(knows) {
			who = append(who, fmt.Sprintf("%s on %s (schema %d, seen %d s ago)", program, host, knows, seen))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read servers: %w", err)
	}
	return who, nil
}
