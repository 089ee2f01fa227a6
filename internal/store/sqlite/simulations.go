package sqlite

import (
	"context"
	"fmt"
	"time"

	"berth/internal/store"
)

const (
	sqlPutSimulation    = `INSERT INTO simulations (cluster, id, revision, kind, state, created_at, progress, asked_by) VALUES (?, ?, ?, ?, 'queued', ?, ?, ?)`
	sqlCountSimulations = `SELECT count(*), count(*) FILTER (WHERE cluster = ?), count(*) FILTER (WHERE asked_by = ?) FROM simulations WHERE state IN ('queued', 'running')`
	sqlPutPartOfSim     = `INSERT INTO simulation_parts (cluster, simulation, part, payload) VALUES (?, ?, ?, ?)
ON CONFLICT (cluster, simulation, part) DO UPDATE SET payload = excluded.payload`
	sqlEndSimulation = `UPDATE simulations SET state = ?2, reason = ?3, ended_at = ` + sqlNow + `
WHERE id = ?1 AND state IN ('queued', 'running')`
	sqlSimulationState  = `SELECT state FROM simulations WHERE id = ?`
	sqlDropSimulation   = `DELETE FROM simulations WHERE id = ?` // its parts go with it
	sqlPruneSimulations = `DELETE FROM simulations WHERE ended_at < ?`
	sqlClaimSimulation  = `UPDATE simulations SET state = 'running', owner = ?1, lease_until = ` + sqlNow + ` + ?2, attempts = attempts + 1
WHERE id = (SELECT id FROM simulations s WHERE state IN ('queued', 'running') AND (owner = '' OR lease_until < ` + sqlNow + `)
  AND NOT (?3 AND EXISTS (SELECT 1 FROM simulations o WHERE o.asked_by = s.asked_by AND o.lease_until >= ` + sqlNow + ` AND o.state = 'running'))
  ORDER BY (SELECT max(o.lease_until) FROM simulations o WHERE o.asked_by = s.asked_by), id LIMIT 1)
RETURNING ` + simulationColumns
	sqlAdvanceSimulation = `UPDATE simulations SET state = ?3, progress = ?4, attempts = ?5, lease_until = ` + sqlNow + ` + ?6,
  ended_at = CASE WHEN ?3 = 'done' THEN ` + sqlNow + ` END
WHERE id = ?1 AND owner = ?2 AND state = 'running'`
	simulationColumns = `cluster, id, revision, kind, state, created_at, coalesce(ended_at, 0), reason, progress, owner, attempts, asked_by`
)

// simulation returns the places for simulationColumns, and the function that ends reading them.
func simulation() (s *store.Simulation, into []any, end func()) {
	s = &store.Simulation{}
	var created, ended int64
	into = []any{&s.Cluster, &s.ID, &s.Revision, &s.Kind, &s.State, &created, &ended, &s.Reason, &s.Progress, &s.Owner, &s.Attempts, &s.AskedBy}
	return s, into, func() {
		if s.CreatedAt = fromMicro(created); ended != 0 {
			s.EndedAt = fromMicro(ended)
		}
	}
}

// checkJobs counts the jobs that have not ended, and compares them with the limits.
func (w *writer) checkJobs(jobs, cluster string, limits store.JobLimits, query string, args ...any) error {
	var n store.JobCounts
	if err := w.row(query, args, &n.All, &n.Cluster, &n.Caller); err != nil {
		return err
	}
	return limits.Check(jobs, cluster, n)
}

func putSimulationParts(w *writer, s *store.Simulation, parts map[string][]byte) error {
	for name, payload := range parts {
		if _, err := w.exec(sqlPutPartOfSim, s.Cluster, s.ID, name, notNull(payload)); err != nil {
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
	return s.write(ctx, func(w *writer) error {
		var token string
		if err := w.row(sqlToken, []any{sim.Cluster, sim.Revision}, &token); err != nil {
			return fmt.Errorf("%s@%d: %w", sim.Cluster, sim.Revision, err)
		}
		if err := w.checkJobs(store.SimulationJobs, sim.Cluster, limits, sqlCountSimulations, sim.Cluster, sim.AskedBy); err != nil {
			return err
		}
		if _, err := w.exec(sqlPutSimulation, sim.Cluster, sim.ID, sim.Revision, sim.Kind, sim.CreatedAt.UnixMicro(), sim.Progress, sim.AskedBy); err != nil {
			return err
		}
		return putSimulationParts(w, sim, parts)
	})
}

// Simulation implements store.Simulations.
func (s *Store) Simulation(ctx context.Context, id string) (*store.Simulation, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	sim, into, end := simulation()
	if err := s.reads.QueryRowContext(ctx, `SELECT `+simulationColumns+` FROM simulations WHERE id = ?`, id).Scan(into...); err != nil {
		return nil, s.toStoreErr(err)
	}
	end()
	return sim, nil
}

// SimulationPart implements store.Simulations.
func (s *Store) SimulationPart(ctx context.Context, id, part string, admit func(size int) error) (payload []byte, err error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	const from = ` FROM simulations s JOIN simulation_parts p ON p.cluster = s.cluster AND p.simulation = s.id WHERE s.id = ? AND p.part = ?`
	var size int
	if err = s.reads.QueryRowContext(ctx, `SELECT length(p.payload)`+from, id, part).Scan(&size); err == nil {
		if err := admit(size); err != nil {
			return nil, err
		}
		err = s.reads.QueryRowContext(ctx, `SELECT p.payload`+from, id, part).Scan(&payload)
	}
	return payload, s.toStoreErr(err)
}

// ListSimulations implements store.Simulations.
func (s *Store) ListSimulations(ctx context.Context, cluster, before string, limit int) ([]*store.Simulation, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	if limit <= 0 {
		limit = -1
	}
	const query = `SELECT ` + simulationColumns + ` FROM simulations WHERE (?1 = '' OR cluster = ?1) AND (?2 = '' OR id < ?2) ORDER BY id DESC LIMIT ?3`
	rows, err := s.reads.QueryContext(ctx, query, cluster, before, limit)
	if err != nil {
		return nil, s.toStoreErr(err)
	}
	defer func() { _ = rows.Close() }() // its errors come through rows.Err
	var list []*store.Simulation
	for rows.Next() {
		sim, into, end := simulation()
		if err := rows.Scan(into...); err != nil {
			return nil, s.toStoreErr(err)
		}
		end()
		list = append(list, sim)
	}
	return list, s.toStoreErr(rows.Err())
}

// EndSimulation implements store.Simulations.
func (s *Store) EndSimulation(ctx context.Context, id, state, reason string) error {
	return s.end(ctx, sqlEndSimulation, sqlSimulationState, id, state, reason)
}

// DeleteSimulation implements store.Simulations.
func (s *Store) DeleteSimulation(ctx context.Context, id string) error {
	return s.drop(ctx, sqlDropSimulation, id)
}

// PruneSimulations implements store.Simulations.
func (s *Store) PruneSimulations(ctx context.Context, before time.Time) (int64, error) {
	return s.pruneJobs(ctx, sqlPruneSimulations, before)
}

// ClaimSimulation implements store.Simulations.
func (s *Store) ClaimSimulation(ctx context.Context, owner string, lease time.Duration, idle bool) (*store.Simulation, error) {
	sim, into, end := simulation()
	err := s.write(ctx, func(w *writer) error {
		return w.row(sqlClaimSimulation, []any{owner, lease.Microseconds(), idle}, into...)
	})
	if err != nil {
		return nil, err
	}
	end()
	return sim, nil
}

// AdvanceSimulation implements store.Simulations.
func (s *Store) AdvanceSimulation(ctx context.Context, sim *store.Simulation, parts map[string][]byte, lease time.Duration) (state string, err error) {
	err = s.write(ctx, func(w *writer) error {
		if err := w.row(sqlSimulationState, []any{sim.ID}, &state); err != nil {
			return err
		}
		if (&store.Simulation{State: state}).Ended() {
			return nil
		}
		n, err := w.exec(sqlAdvanceSimulation, sim.ID, sim.Owner, sim.State, sim.Progress, sim.Attempts, lease.Microseconds())
		if err != nil {
			return err
		}
		if n != 1 {
			return fmt.Errorf("another process has simulation %s by now: %w", sim.ID, store.ErrConflict)
		}
		state = sim.State
		return putSimulationParts(w, sim, parts)
	})
	if err != nil {
		return "", err
	}
	return state, nil
}
