package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"berth/internal/store"
)

// Evidence is a database that is read to check its hash chains: SELECT on the tables is right
// enough, and a standby will do.
type Evidence struct {
	sealReader
	pool *pgxpool.Pool
}

var _ store.Seals = (*Evidence)(nil)

// OpenEvidence opens the database at url as evidence. Behind a pooler it goes on as it is: it needs
// nothing of a session.
func OpenEvidence(ctx context.Context, url string) (*Evidence, error) {
	cfg, err := parsePool(url)
	if err != nil {
		return nil, fmt.Errorf("open postgres: %w", err)
	}
	base := cfg.ConnConfig
	base.ConnectTimeout = Options{}.withDefaults().ConnectTimeout
	base.RuntimeParams["application_name"] = "berth audit"
	base.RuntimeParams["client_encoding"] = "UTF8"
	base.DefaultQueryExecMode = pgx.QueryExecModeExec // no named statement, which a pooler may lose
	cfg.MaxConns = 2
	pool, err := pgxpool.NewWithConfig(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("open postgres: %w", err)
	}
	err = pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error { return checkSchema(ctx, c.Conn()) })
	if err != nil {
		pool.Close()
		return nil, fmt.Errorf("open postgres %s: %w", place(base), err)
	}
	return &Evidence{sealReader: sealReader{pool}, pool: pool}, nil
}

// Close ends the connections.
func (e *Evidence) Close() error {
	e.pool.Close()
	return nil
}
