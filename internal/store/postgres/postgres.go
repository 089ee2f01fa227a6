// Package postgres is the shared store: several replicas over one PostgreSQL
// (15 or newer). Writers take turns by the lock of their cluster's row, and
// keys guard what that lock should have: no invariant rests on an isolation
// level alone. Queries go by the extended protocol; only statements without a
// parameter are sent as text.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/store"
	"berth/internal/store/lists"
	"berth/internal/store/sqlcommon"
	"berth/migrations"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Options tunes Open; the zero value is right for a server.
type Options struct {
	// MaxConns bounds the connections of this process. 0: 10; at least 2.
	MaxConns int32
	// ConnectTimeout bounds each attempt to connect. 0: 5 s.
	ConnectTimeout time.Duration
	// WriteTimeout bounds each write, the wait for a lock and for the disk
	// included, so that a database that hangs fails like one that is away. 0: 10 s.
	WriteTimeout time.Duration
	// StatementTimeout is after how long the database ends a statement. 0: 30 s.
	StatementTimeout time.Duration
	// ApplicationName is what pg_stat_activity shows. "": berth.
	ApplicationName string
	// Program is the version of a server, which keeps a row in the table servers while it is open;
	// "" for what is not a server.
	Program string
	// Unsafe opens a database that may lose what it has acknowledged, or one
	// behind a pooler in transaction mode; Warnings then names what is wrong, for
	// the caller to log. A standby and a wrong schema are refused all the same.
	Unsafe bool
	// Epochs is for a server that answers: it notices that the database became another one. Nil:
	// that is not looked at.
	Epochs *EpochOptions
}

func (o Options) withDefaults() Options {
	if o.MaxConns <= 0 {
		o.MaxConns = 10
	}
	o.MaxConns = max(o.MaxConns, 2) // Retain holds one beside the one that it works with
	if o.ConnectTimeout <= 0 {
		o.ConnectTimeout = 5 * time.Second
	}
	if o.WriteTimeout <= 0 {
		o.WriteTimeout = 10 * time.Second
	}
	if o.StatementTimeout <= 0 {
		o.StatementTimeout = 30 * time.Second
	}
	if o.ApplicationName == "" {
		o.ApplicationName = "berth"
	}
	return o
}

// Store is the shared store. It is safe for concurrent use.
type Store struct {
	sqlcommon.Jobs
	sqlcommon.Logs
	sqlcommon.Holds
	sqlcommon.Origins
	sqlcommon.Tables
	sqlcommon.Classes
	sqlcommon.Rollups
	sqlcommon.Backfill
	sqlcommon.Calls

	pool       *pgxpool.Pool
	opts       Options
	warnings   []error
	retry      backoff
	chainLocks chainLocks
	gate       store.Gate
	profiles   sync.Map // digests that are known to be stored: they are never deleted
	stamps     lists.StampIDs
	ends       ends
	present    presence
	epochs     *epochs // nil: not looked at
	pooled     bool    // neither settings nor named statements survive a transaction
	closed     atomic.Bool
	closeOnce  sync.Once
}

var _ store.Store = (*Store)(nil)

// Open opens the store in the database at url (postgres://…), in the first
// schema of its search path. It refuses, each with its own error: a standby
// (ErrStandby), a database that may lose what it has acknowledged (ErrFsync,
// ErrSynchronousCommit, ErrFullPageWrites), a pooler in transaction mode
// (ErrPooler), an encoding other than UTF-8 (ErrEncoding), and a schema that is
// missing or older (ErrUnmigrated) than this program, or newer and not for it
// (ErrSchema). It changes no schema, but makes the partitions of the months to come.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	o = o.withDefaults()
	cfg, err := parsePool(url)
	if err != nil {
		return nil, fmt.Errorf("open postgres: %w", err)
	}
	base := cfg.ConnConfig
	base.ConnectTimeout = o.ConnectTimeout
	base.RuntimeParams["application_name"] = o.ApplicationName
	base.RuntimeParams["client_encoding"] = "UTF8"
	s := &Store{opts: o, chainLocks: chainLocks{free: make(chan struct{}, maxChainLocks), have: map[string]int{}}}
	s.Jobs = sqlcommon.New(common{s}, sqlcommon.Postgres)
	s.Logs = sqlcommon.NewLogs(common{s}, sqlcommon.Postgres)
	s.Holds = sqlcommon.NewHolds(common{s}, sqlcommon.Postgres)
	s.Origins = sqlcommon.NewOrigins(common{s}, sqlcommon.Postgres)
	s.Tables = sqlcommon.NewTables(common{s}, sqlcommon.Postgres)
	s.Classes = sqlcommon.NewClasses(common{s}, sqlcommon.Postgres)
	s.Rollups = sqlcommon.NewRollups(common{s}, sqlcommon.Postgres)
	s.Backfill = sqlcommon.NewBackfill(common{s}, sqlcommon.Postgres)
	s.Calls = sqlcommon.NewCalls(common{s}, sqlcommon.Postgres)
	if s.warnings, err = check(ctx, base, o.Unsafe); err != nil {
		return nil, fmt.Errorf("open postgres %s: %w", place(base), s.toStoreErr(ctx, err))
	}
	cfg.MaxConns = o.MaxConns
	cfg.PingTimeout = o.ConnectTimeout
	if s.pooled = pooled(s.warnings); s.pooled {
		base.DefaultQueryExecMode = pgx.QueryExecModeExec
	}
	cfg.BeforeConnect = func(ctx context.Context, _ *pgx.ConnConfig) error { return s.retry.admit(ctx) }
	cfg.AfterConnect = s.greet
	if o.Epochs != nil {
		s.epochs = newEpochs(*o.Epochs, s.forget)
		base.ValidateConnect = s.epochs.validate(base.ValidateConnect)
		cfg.PrepareConn = s.epochs.prepare
	}
	if s.pool, err = pgxpool.NewWithConfig(ctx, cfg); err != nil {
		return nil, fmt.Errorf("open postgres: %w", err)
	}
	if err := s.partitionsAhead(ctx, time.Now()); err != nil {
		s.pool.Close()
		return nil, fmt.Errorf("open postgres %s: make partitions: %w", place(base), s.toStoreErr(ctx, err))
	}
	if o.Program != "" {
		if err := s.appear(ctx); err != nil {
			s.pool.Close()
			return nil, fmt.Errorf("open postgres %s: %w", place(base), err)
		}
	}
	return s, nil
}

// place names a database without its password.
func place(c *pgx.ConnConfig) string {
	return fmt.Sprintf("%s:%d/%s", c.Host, c.Port, c.Database)
}

// Warnings are the reasons for which Open would have refused without
// Options.Unsafe.
func (s *Store) Warnings() []error { return s.warnings }

// settings returns what each session of ours is set to. It is set once the session is there, since
// a pooler passes on few of the parameters that a client may start with.
func (o Options) settings() string {
	millis := func(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
	var text strings.Builder
	for _, s := range [][2]string{
		{"timezone", "UTC"},
		// All our queries have their index. Without this, a plan that is made
		// while a month's partition is empty reads it whole when it is full.
		{"enable_seqscan", "off"},
		// A plan that reads a small table whole looks so dear then that it would
		// be compiled, which takes longer than any of our queries.
		{"jit", "off"},
		{"statement_timeout", millis(o.StatementTimeout)},
		{"lock_timeout", millis(o.WriteTimeout)},
		// A replica that vanished must not keep a cluster's lock from the others.
		{"idle_in_transaction_session_timeout", millis(o.WriteTimeout)},
	} {
		fmt.Fprintf(&text, "SET %s = '%s';", s[0], s[1])
	}
	return text.String()
}

// greet looks at every new connection: after a failover it may lead to a
// standby, or to a server with other settings.
func (s *Store) greet(ctx context.Context, conn *pgx.Conn) error {
	if !s.pooled {
		if err := conn.PgConn().Exec(ctx, s.opts.settings()).Close(); err != nil {
			return fmt.Errorf("set up a session: %w", err)
		}
	}
	hard, soft, err := checkServer(ctx, conn)
	if err != nil {
		return err
	}
	if !s.opts.Unsafe {
		hard = append(hard, soft...)
	}
	if len(hard) > 0 {
		return fmt.Errorf("%w: %w", store.ErrUnavailable, errors.Join(hard...))
	}
	if s.epochs != nil {
		if err := s.epochs.greet(ctx, conn); err != nil {
			return err
		}
	}
	s.retry.reset()
	return nil
}

// Ping implements store.Store. A database whose schema is no longer this program's is unavailable:
// nothing would be written right, and what a way down took away may come back.
func (s *Store) Ping(ctx context.Context) error {
	if err := s.usable(ctx); err != nil {
		return err
	}
	var have migrations.Schema
	err := s.pool.QueryRow(ctx, sqlSchema).Scan(&have.Version, &have.Serves)
	if errors.Is(err, pgx.ErrNoRows) {
		err = nil // no version
	}
	if err != nil {
		return s.toStoreErr(ctx, err)
	}
	if err := schemaIs(have); err != nil {
		s.forget()
		return fmt.Errorf("%w: %w: %w", store.ErrUnavailable, ErrChanged, err)
	}
	return s.toStoreErr(ctx, s.lookBehind(ctx))
}

// lookBehind finds another database behind a pooler that hands servers out by the transaction,
// where no new connection shows it.
func (s *Store) lookBehind(ctx context.Context) error {
	if s.epochs == nil || !s.pooled {
		return nil
	}
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	return s.epochs.again(ctx, conn.Conn())
}

// forget drops what is remembered of the database: what was stored there may be gone.
func (s *Store) forget() {
	s.ends.forget()
	s.stamps.Forget()
	s.profiles.Clear()
}

// Close implements store.Store.
func (s *Store) Close() error {
	s.closeOnce.Do(func() {
		s.present.end()
		s.closed.Store(true)
		s.pool.Close() // waits for the calls under way
	})
	return nil
}

// Gate ends all calls but Append and Ping while it is shut.
func (s *Store) Gate() *store.Gate { return &s.gate }

// enter begins a call that the gate may end.
func (s *Store) enter(ctx context.Context) (_ context.Context, done func(), err error) {
	if err := s.usable(ctx); err != nil {
		return nil, nil, err
	}
	return s.gate.Enter(ctx)
}

func (s *Store) usable(ctx context.Context) error {
	if s.closed.Load() {
		return store.ErrClosed
	}
	return ctx.Err()
}
