package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"berth/internal/store"
)

// EpochOptions have a server notice that its database became another one, and report what of its
// answers that one lacks. The functions are called one at a time, and must not call the store.
type EpochOptions struct {
	// Instance names the process in what it reports.
	Instance string
	// Change and Woken are what a revision has that changes nothing (revision.EpochRevision).
	Change, Woken []byte
	// Changed is called when the server has met another epoch, or found its own cut short.
	Changed func(*store.EpochChange)
	// Refused is called with each old primary that is not connected to.
	Refused func(error)
}

// examineLimit bounds the look at a database that may be another one, with what is written then.
const examineLimit = 30 * time.Second

// epochs looks at each new connection. One to a server that was not looked at since it started is
// used only once what is found is on record.
type epochs struct {
	o      EpochOptions
	forget func() // of what is cached of the database
	mem    remembered

	mu  sync.Mutex // held while a database is looked at
	now atomic.Pointer[met]
}

// met is the database that was met last.
type met struct {
	identity
	epoch int64
}

func newEpochs(o EpochOptions, forget func()) *epochs {
	g := &epochs{o: o, forget: forget}
	g.mem.of = map[string]*clusterMemory{}
	g.now.Store(&met{epoch: -1})
	return g
}

func (g *epochs) met() met { return *g.now.Load() }

// Epoch returns the epoch that the chains are in, 0 without Options.Epochs.
func (s *Store) Epoch() int64 {
	if s.epochs == nil {
		return 0
	}
	return max(0, s.epochs.met().epoch)
}

// errMoved reports a commit that went to a database which others have left meanwhile.
var errMoved = fmt.Errorf("%w: the database was replaced by another one", store.ErrUnavailable)

// greet admits a new connection.
func (g *epochs) greet(ctx context.Context, conn *pgx.Conn) error {
	data := conn.PgConn().CustomData()
	id, _ := data[identityKey].(identity)
	g.mu.Lock()
	defer g.mu.Unlock()
	have := g.met()
	if id.before(have.identity) { // met while this one connected
		return fmt.Errorf("%w: %w", store.ErrUnavailable, ErrOldPrimary)
	}
	if have.epoch < 0 || !id.same(have.identity) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), examineLimit)
		defer cancel()
		if err := g.examine(ctx, conn, id); err != nil {
			return fmt.Errorf("%w: look for what a failover lost: %w", store.ErrUnavailable, err)
		}
	}
	g.mem.mu.Lock()
	defer g.mem.mu.Unlock()
	data[generationKey] = g.mem.generation
	return nil
}

// current reports whether a connection leads to the database that was met last.
func (g *epochs) current(conn *pgx.Conn) bool {
	g.mem.mu.Lock()
	defer g.mem.mu.Unlock()
	return generationOf(conn) == g.mem.generation
}

// generation is what saw needs of before the read; a store without epochs has none.
func (g *epochs) generation() int64 {
	if g == nil {
		return 0
	}
	g.mem.mu.Lock()
	defer g.mem.mu.Unlock()
	return g.mem.generation
}

// saw remembers the heads that were read in a generation. The caller does not change them.
func (g *epochs) saw(generation int64, heads map[string]store.Head) {
	if g != nil {
		g.mem.saw(generation, heads)
	}
}

func generationOf(conn *pgx.Conn) int64 {
	n, _ := conn.PgConn().CustomData()[generationKey].(int64)
	return n
}

// prepare has the pool throw away connections that lead elsewhere.
func (g *epochs) prepare(_ context.Context, conn *pgx.Conn) (bool, error) {
	return g.current(conn), nil
}

// examine finds out which epoch a database is in, begins one where it is in none, and writes down
// what of this server's answers is missing, in one transaction.
func (g *epochs) examine(ctx context.Context, conn *pgx.Conn, id identity) error {
	have := g.met()
	x := &examination{g: g, have: have, now: time.Now().UTC().Truncate(time.Microsecond)}
	elsewhere := have.epoch >= 0 && !id.is(have.identity)
	x.mem = g.mem.copy(elsewhere)
	err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		x.tx = tx
		if _, err := tx.Exec(ctx, sqlLockEpochs); err != nil {
			return err
		}
		var err error
		if x.to, x.begins, err = x.enter(ctx, id); err != nil {
			return err
		}
		if x.begins && !elsewhere { // the same database has gone back
			x.mem = g.mem.copy(true)
		}
		if x.begins {
			if err := x.begin(ctx); err != nil {
				return err
			}
		}
		return x.report(ctx)
	})
	if err != nil {
		return err
	}
	if have.epoch >= 0 && have.epoch != x.to.Number {
		g.mem.rebase(x.heads, x.missing)
		g.forget()
	}
	g.now.Store(&met{identity: id, epoch: x.to.Number})
	if have.epoch != x.to.Number && (have.epoch >= 0 || len(x.losses) > 0) {
		from := store.Epoch{Number: max(have.epoch, 0), System: have.system, Timeline: have.timeline}
		if have.epoch < 0 {
			from = x.before
		}
		g.o.Changed(&store.EpochChange{From: from, To: x.to, At: x.now, Remembers: !x.mem.empty(), Losses: x.losses})
	}
	return nil
}

// examination is one look at a database.
type examination struct {
	g    *epochs
	tx   pgx.Tx
	now  time.Time
	have met
	mem  *snapshot

	before, to store.Epoch // the newest on record when the look began, and after it
	begins     bool        // this look begins the epoch

	heads   map[string]store.SealHead // with which the chains begin the epoch
	losses  []store.EpochLoss
	missing map[uuid.UUID]bool
}

const (
	sqlLockEpochs  = `SELECT pg_advisory_xact_lock(hashtext('berth epochs ' || current_schema()))`
	sqlNewestEpoch = `SELECT number, system, timeline FROM chain_epochs WHERE cluster = '' ORDER BY number DESC LIMIT 1`
	sqlPutEpoch    = `INSERT INTO chain_epochs (number, cluster, instance, system, timeline, met_at, lost, since, until, first_revision, last_revision, ids)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT DO NOTHING`
	sqlDropEpochs = `DELETE FROM chain_epochs WHERE cluster = $1`
)

// enter returns the epoch of a database, and whether it has yet to begin.
func (x *examination) enter(ctx context.Context, id identity) (to store.Epoch, begins bool, err error) {
	e := &x.before
	err = x.tx.QueryRow(ctx, sqlNewestEpoch).Scan(&e.Number, &e.System, &e.Timeline)
	none := errors.Is(err, pgx.ErrNoRows)
	if err != nil && !none {
		return to, false, err
	}
	if none {
		e.Number = -1
	}
	known := identity{system: e.System, timeline: e.Timeline}
	next := store.Epoch{Number: max(e.Number, x.have.epoch) + 1, System: id.system, Timeline: id.timeline}
	switch {
	case none && x.have.epoch < 0: // the first server of all
		return next, false, nil
	case none, !id.is(known), e.Number < x.have.epoch:
		return next, true, nil
	case e.Number > x.have.epoch:
		return *e, false, nil
	}
	whole, err := x.whole(ctx)
	if err != nil || whole {
		return *e, false, err
	}
	return next, true, nil
}

// gap is the identity of what an instance reports of an epoch and a cluster: written again, it is
// the same.
func (x *examination) gap(l *store.EpochLoss) *store.Gap {
	name := fmt.Sprint(x.to.Number, " ", x.to.System, " ", x.to.Timeline, " ", x.g.o.Instance, " ", l.Cluster)
	return &store.Gap{
		ID: uuid.NewSHA1(uuid.NameSpaceOID, []byte(name)).String(), Cluster: l.Cluster, Since: l.Since, Until: l.Until,
		Lost: l.Lost, Cause: store.CauseFailover, Instance: x.g.o.Instance,
	}
}
