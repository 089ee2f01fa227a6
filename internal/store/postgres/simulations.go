package postgres

import (
	"context"
	"fmt"
	"time"

	"berth/internal/store"

	"github.com/jackc/pgx/v5"
)

const (
	simulationColumns = `cluster, id, revision, kind, state, created_at, coalesce(ended_at, 'epoch'), reason, progress, owner, attempts, asked_by`
	sqlPutSimulation  = `INSERT INTO simulations (cluster, id, revision, kind, state, created_at, progress, asked_by)
VALUES ($1, $2, $3, $4, 'queued', $5, $6, $7) ON CONFLICT (cluster, id) DO NOTHING`
	sqlCountSimulations = `SELECT count(*), count(*) FILTER (WHERE cluster = $1), count(*) FILTER (WHERE asked_by = $3)
FROM simulations WHERE state IN ('queued', 'running') AND id <> $2`
	sqlPutSimulationPart = `INSERT INTO simulation_parts (cluster, simulation, part, payload) VALUES ($1, $2, $3, $4)
ON CONFLICT (cluster, simulation, part) DO UPDATE SET payload = excluded.payload`
	sqlClaimSimulation = `UPDATE simulations SET state = 'running', owner = $1, lease_until = clock_timestamp() + $2 * interval '1 microsecond', attempts = attempts + 1
WHERE id = (SELECT id FROM simulations s WHERE state IN ('queued', 'running') AND (owner = '' OR lease_until < clock_timestamp())
  AND NOT ($3 AND EXISTS (SELECT 1 FROM simulations o WHERE o.asked_by = s.asked_by AND o.lease_until >= clock_timestamp() AND o.state = 'running'))
  ORDER BY (SELECT max(o.lease_until) FROM simulations o WHERE o.asked_by = s.asked_by), id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING ` + simulationColumns
	sqlAdvanceSimulation = `UPDATE simulations SET state = $3, progress = $4, attempts = $5, lease_until = clock_timestamp() + $6 * interval '1 microsecond',
  ended_at = CASE WHEN $3 = 'done' THEN clock_timestamp() END
WHERE id = $1 AND owner = $2 AND state = 'running'`
	sqlEndSimulation = `UPDATE simulations SET state = $2, reason = $3, ended_at = clock_timestamp() WHERE id = $1 AND state IN ('queued', 'running')`
)

// simulation returns the places for simulationColumns, and the function that ends reading them.
func simulation() (s *store.Simulation, into []any, end func()) {
	s = &store.Simulation{}
	into = []any{&s.Cluster, &s.ID, &s.Revision, &s.Kind, &s.State, &s.CreatedAt, &s.EndedAt, &s.Reason, &s.Progress, &s.Owner, &s.Attempts, &s.AskedBy}
	return s, into, func() {
		if s.CreatedAt, s.EndedAt = s.CreatedAt.UTC(), s.EndedAt.UTC(); s.EndedAt.Unix() == 0 {
			s.EndedAt = time.Time{}
		}
	}
}

// checkJobs counts the jobs that have not ended, and compares them with the limits. Other calls
// wait for this one's end, so that no two count the same. One of the same ID is a call whose answer
// was lost.
func checkJobs(ctx context.Context, conn *pgx.Conn, jobs, cluster string, limits store.JobLimits, query string, args ...any) error {
	if _, err := conn.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtext('berth jobs ' || current_schema()))`); err != nil {
		return err
	}
	var n store.JobCounts
	if err := conn.QueryRow(ctx, query, args...).Scan(&n.All, &n.Cluster, &n.Caller); err != nil {
		return err
	}
	return limits.Check(jobs, cluster, n)
}

func putSimulationParts(ctx context.Context, conn *pgx.Conn, s *store.Simulation, parts map[string][]byte) error {
	for name, payload := range parts {
		if _, err := conn.Exec(ctx, sqlPutSimulationPart, s.Cluster, s.ID, name, notNull(payload)); err != nil {
			return err
		}
	}
	return nil
}

// CreateSimulation implements store.Simulations.
func (s *Store) CreateSimulation(ctx context.Context, sim *store.Simulation, parts map[string][]byte, limits store.JobLimits) error {
	if err := sim.Validate(); err != nil {
		return err
	}
	// The cluster's lock is against the deletion of the revision meanwhile.
	return s.locked(ctx, sim.Cluster, func(ctx context.Context, conn *pgx.Conn) error {
		var token string
		if err := conn.QueryRow(ctx, sqlToken, sim.Cluster, sim.Revision).Scan(&token); err != nil {
			return fmt.Errorf("%s@%d: %w", sim.Cluster, sim.Revision, err)
		}
		if err := checkJobs(ctx, conn, store.SimulationJobs, sim.Cluster, limits, sqlCountSimulations, sim.Cluster, sim.ID, sim.AskedBy); err != nil {
			return err
		}
		if _, err := conn.Exec(ctx, sqlPutSimulation, sim.Cluster, sim.ID, sim.Revision, sim.Kind, sim.CreatedAt.Truncate(time.Microsecond), sim.Progress, sim.AskedBy); err != nil {
			return err
		}
		return putSimulationParts(ctx, conn, sim, parts)
	})
}

// Simulation implements store.Simulations.
func (s *Store) Simulation(ctx context.Context, id string) (*store.Simulation, error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	sim, into, end := simulation()
	if err := s.pool.QueryRow(ctx, `SELECT `+simulationColumns+` FROM simulations WHERE id = $1`, id).Scan(into...); err != nil {
		return nil, s.toStoreErr(ctx, err)
	}
	end()
	return sim, nil
}

// SimulationPart implements store.Simulations.
func (s *Store) SimulationPart(ctx context.Context, id, part string, admit func(size int) error) (payload []byte, err error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	const from = ` FROM simulations s JOIN simulation_parts p ON p.cluster = s.cluster AND p.simulation = s.id WHERE s.id = $1 AND p.part = $2`
	var size int
	if err = s.pool.QueryRow(ctx, `SELECT octet_length(p.payload)`+from, id, part).Scan(&size); err == nil {
		if err := admit(size); err != nil {
			return nil, err
		}
		err = s.pool.QueryRow(ctx, `SELECT p.payload`+from, id, part).Scan(&payload)
	}
	return payload, s.toStoreErr(ctx, err)
}

// ListSimulations implements store.Simulations.
func (s *Store) ListSimulations(ctx context.Context, cluster, before string, limit int) ([]*store.Simulation, error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	const query = `SELECT ` + simulationColumns + ` FROM simulations WHERE ($1 = '' OR cluster = $1) AND ($2 = '' OR id < $2) ORDER BY id DESC LIMIT nullif($3, 0)`
	rows, err := s.pool.Query(ctx, query, cluster, before, max(limit, 0))
	if err != nil {
		return nil, s.toStoreErr(ctx, err)
	}
	var list []*store.Simulation
	err = each(rows, func() error {
		sim, into, end := simulation()
		err := rows.Scan(into...)
		end()
		list = append(list, sim)
		return err
	})
	return list, s.toStoreErr(ctx, err)
}

// EndSimulation implements store.Simulations.
func (s *Store) EndSimulation(ctx context.Context, id, state, reason string) error {
	return s.end(ctx, sqlEndSimulation, `SELECT state FROM simulations WHERE id = $1`, id, state, reason)
}

// DeleteSimulation implements store.Simulations.
func (s *Store) DeleteSimulation(ctx context.Context, id string) error {
	n, err := s.dropSimulations(ctx, `DELETE FROM simulations WHERE id = $1`, id)
	if err == nil && n == 0 {
		err = store.ErrNotFound
	}
	return err
}

// PruneSimulations implements store.Simulations.
func (s *Store) PruneSimulations(ctx context.Context, before time.Time) (int64, error) {
	return s.dropSimulations(ctx, `DELETE FROM simulations WHERE ended_at < $1`, ceilMicro(before))
}

// dropSimulations deletes jobs; their parts go with them.
func (s *Store) dropSimulations(ctx context.Context, query string, arg any) (int64, error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	ct, err := s.pool.Exec(ctx, query, arg)
	return ct.RowsAffected(), s.toStoreErr(ctx, err)
}

// ClaimSimulation implements store.Simulations. Where the answer to a commit is lost, the job that
// it claimed waits for its lease to run out.
func (s *Store) ClaimSimulation(ctx context.Context, owner string, lease time.Duration, idle bool) (*store.Simulation, error) {
	sim, into, end := simulation()
	err := s.inTx(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, sqlClaimSimulation, owner, lease.Microseconds(), idle).Scan(into...)
	})
	if err != nil {
		return nil, err
	}
	end()
	return sim, nil
}

// AdvanceSimulation implements store.Simulations.
func (s *Store) AdvanceSimulation(ctx context.Context, sim *store.Simulation, parts map[string][]byte, lease time.Duration) (state string, err error) {
	err = s.inTx(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		if err := conn.QueryRow(ctx, `SELECT state FROM simulations WHERE id = $1 FOR UPDATE`, sim.ID).Scan(&state); err != nil {
			return err
		}
		if (&store.Simulation{State: state}).Ended() {
			return nil
		}
		ct, err := conn.Exec(ctx, sqlAdvanceSimulation, sim.ID, sim.Owner, sim.State, sim.Progress, sim.Attempts, lease.Microseconds())
		if err != nil {
			return err
		}
		if ct.RowsAffected() != 1 {
			return fmt.Errorf("another process has simulation %s by now: %w", sim.ID, store.ErrConflict)
		}
		state = sim.State
		return putSimulationParts(ctx, conn, sim, parts)
	})
	if err != nil {
		return "", err
	}
	return state, nil
}
