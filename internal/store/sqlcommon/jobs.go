package sqlcommon

import (
	"context"
	"fmt"
	"time"

	"berth/internal/store"
)

// Jobs implements store.Jobs, but for what reads page after page.
type Jobs struct {
	db DB
	d  *Dialect
}

// New returns the jobs in a database.
func New(db DB, d *Dialect) Jobs { return Jobs{db, d} }

const (
	unfinished = `state IN ('queued', 'running')`

	sqlCountJobs = `SELECT count(*), count(*) FILTER (WHERE cluster = $1), count(*) FILTER (WHERE asked_by = $3)
FROM %s WHERE ` + unfinished + ` AND id <> $2`
	sqlJobState  = `SELECT state FROM %s WHERE id = $1{update}`
	sqlEndJob    = `UPDATE %s SET state = $2, reason = $3, ended_at = {now} WHERE id = $1 AND ` + unfinished
	sqlJobStates = `SELECT state, count(*) FROM %s GROUP BY state`
	// Against the cluster's deletion meanwhile, which changes this row too.
	sqlCluster  = `SELECT TRUE FROM clusters WHERE cluster = $1 AND (revisions > 0 OR decisions > 0){share}`
	sqlRevision = `SELECT TRUE FROM revisions WHERE cluster = $1 AND number = $2`

	sqlPutSimulation = `INSERT INTO simulations (cluster, id, revision, kind, state, created_at, progress, asked_by)
VALUES ($1, $2, $3, $4, 'queued', $5, $6, $7) ON CONFLICT (cluster, id) DO NOTHING`
	sqlPutSimulationPart = `INSERT INTO simulation_parts (cluster, simulation, part, payload) VALUES ($1, $2, $3, $4)
ON CONFLICT (cluster, simulation, part) DO UPDATE SET payload = excluded.payload`
	sqlSimulationPart  = ` FROM simulations s JOIN simulation_parts p ON p.cluster = s.cluster AND p.simulation = s.id WHERE s.id = $1 AND p.part = $2`
	sqlClaimSimulation = `UPDATE simulations SET state = 'running', owner = $1, lease_until = {now} + $2{us}, attempts = attempts + 1
WHERE id = (SELECT id FROM simulations s WHERE ` + unfinished + ` AND (owner = '' OR lease_until < {now})
  AND NOT ($3 AND EXISTS (SELECT 1 FROM simulations o WHERE o.asked_by = s.asked_by AND o.lease_until >= {now} AND o.state = 'running'))
  ORDER BY (SELECT max(o.lease_until) FROM simulations o WHERE o.asked_by = s.asked_by), id LIMIT 1{skip s})
RETURNING id`
	sqlAdvanceSimulation = `UPDATE simulations SET state = $3, progress = $4, attempts = $5, lease_until = {now} + $6{us},
  ended_at = CASE WHEN $3 = 'done' THEN {now} END
WHERE id = $1 AND owner = $2 AND state = 'running'`
)

// columns of a job j; what differs between the kinds is NULL in the other.
var columns = map[store.JobKind]string{
	store.Simulations: `j.cluster, j.id, j.state, j.asked_by, j.created_at, j.ended_at, j.reason, j.revision, j.kind, j.progress, j.owner, j.attempts`,
	store.Replays: `j.cluster, j.id, j.state, j.asked_by, j.created_at, j.ended_at, j.reason, j.since, j.until, j.profile, j.release, %s,
(SELECT coalesce(sum(total), 0) || ' ' || coalesce(sum(done), 0) || ' ' || coalesce(sum(identical), 0) || ' ' || coalesce(sum(different), 0)
  || ' ' || coalesce(sum(errors), 0) || ' ' || count(*) || ' ' || count(*) FILTER (WHERE state = 'done')
  FROM replay_parts p WHERE p.cluster = j.cluster AND p.replay = j.id)`,
}

// selected returns the query of jobs of a kind, all of each or what a list has.
func selected(kind store.JobKind, all bool, where string) string {
	list := columns[kind]
	if kind == store.Replays {
		config := "NULL"
		if all {
			config = "j.config"
		}
		list = fmt.Sprintf(list, config)
	}
	return "SELECT " + list + " FROM " + string(kind) + " j WHERE " + where
}

// scanned returns a job and the function that reads it, by columns.
func scanned(kind store.JobKind) (*store.Job, func(scan func(into ...any) error) error) {
	j := &store.Job{Kind: kind}
	into := []any{&j.Cluster, &j.ID, &j.State, &j.AskedBy, Time{&j.CreatedAt}, Time{&j.EndedAt}, &j.Reason}
	if kind == store.Simulations {
		into = append(into, &j.Revision, &j.Verb, &j.Progress, &j.Owner, &j.Attempts)
		return j, func(scan func(into ...any) error) error { return scan(into...) }
	}
	var sums string
	into = append(into, Time{&j.Since}, Time{&j.Until}, &j.Profile, &j.Release, &j.Config, &sums)
	return j, func(scan func(into ...any) error) error {
		if err := scan(into...); err != nil {
			return err
		}
		if _, err := fmt.Sscan(sums, &j.Total, &j.Done, &j.Identical, &j.Different, &j.Errors, &j.Parts, &j.PartsDone); err != nil {
			return fmt.Errorf("parts of %s %s: %w", kind, j.ID, err)
		}
		return nil
	}
}

// of returns a text in the dialect, about the table of a kind.
func (s Jobs) of(kind store.JobKind, text string) string {
	return s.d.Text(fmt.Sprintf(text, string(kind)))
}

// tx is a transaction that takes common texts.
type tx struct {
	Tx
	d *Dialect
}

func (t tx) Exec(text string, args ...any) (int64, error) { return t.Tx.Exec(t.d.Text(text), args...) }

func (t tx) Many(text string, args [][]any) error { return t.Tx.Many(t.d.Text(text), args) }

func (t tx) Row(text string, args []any, into ...any) error {
	return t.Tx.Row(t.d.Text(text), args, into...)
}

func (s Jobs) write(ctx context.Context, fn func(tx) error) error {
	return s.db.Write(ctx, func(t Tx) error { return fn(tx{t, s.d}) })
}

// one reads the one row of a query.
func (s Jobs) one(ctx context.Context, text string, args []any, into ...any) error {
	return one(ctx, s.db, s.d.Text(text), args, into...)
}

// check counts the jobs that have not ended, and compares them with the limits. One of the same ID
// is a call whose answer was lost.
func check(j *store.Job, limits store.JobLimits, row func(query string, args []any, into ...any) error) error {
	var n store.JobCounts
	if err := row(fmt.Sprintf(sqlCountJobs, string(j.Kind)), []any{j.Cluster, j.ID, j.AskedBy}, &n.All, &n.Cluster, &n.Caller); err != nil {
		return err
	}
	return limits.Check(j, n)
}

// CheckJobs implements store.Jobs.
func (s Jobs) CheckJobs(ctx context.Context, j *store.Job, limits store.JobLimits) error {
	return check(j, limits, func(query string, args []any, into ...any) error { return s.one(ctx, query, args, into...) })
}

// create stores a job about a cluster that is there, if the limits allow it.
func (s Jobs) create(ctx context.Context, j *store.Job, limits store.JobLimits, put func(tx) error) error {
	if err := j.Validate(); err != nil {
		return err
	}
	return s.write(ctx, func(t tx) error {
		var there bool
		if err := t.Row(sqlCluster, []any{j.Cluster}, &there); err != nil {
			return fmt.Errorf("cluster %s: %w", j.Cluster, err)
		}
		if j.Kind == store.Simulations {
			if err := t.Row(sqlRevision, []any{j.Cluster, j.Revision}, &there); err != nil {
				return fmt.Errorf("%s@%d: %w", j.Cluster, j.Revision, err)
			}
		}
		if s.d.LockJobs != "" { // until the transaction ends, so that no two count the same
			if _, err := t.Exec(s.d.LockJobs); err != nil {
				return err
			}
		}
		if err := check(j, limits, t.Row); err != nil {
			return err
		}
		if err := put(t); err != nil {
			return err
		}
		return mark(ctx, t.Tx, s.d, "/v1/"+string(j.Kind)+"/"+j.ID)
	})
}

// CreateSimulation implements store.Jobs.
func (s Jobs) CreateSimulation(ctx context.Context, j *store.Job, parts map[string][]byte, limits store.JobLimits) error {
	j.Kind = store.Simulations
	return s.create(ctx, j, limits, func(t tx) error {
		if _, err := t.Exec(sqlPutSimulation, j.Cluster, j.ID, j.Revision, j.Verb, j.CreatedAt.Truncate(time.Microsecond), j.Progress, j.AskedBy); err != nil {
			return err
		}
		return putParts(t, j, parts)
	})
}

func putParts(t tx, j *store.Job, parts map[string][]byte) error {
	for name, payload := range parts {
		if payload == nil {
			payload = []byte{} // which is not NULL
		}
		if _, err := t.Exec(sqlPutSimulationPart, j.Cluster, j.ID, name, payload); err != nil {
			return err
		}
	}
	return nil
}

// Job implements store.Jobs.
func (s Jobs) Job(ctx context.Context, kind store.JobKind, id string) (*store.Job, error) {
	j, read := scanned(kind)
	err := read(func(into ...any) error { return s.one(ctx, selected(kind, true, "j.id = $1"), []any{id}, into...) })
	if err != nil {
		return nil, err
	}
	return j, nil
}

// ListJobs implements store.Jobs.
func (s Jobs) ListJobs(ctx context.Context, kind store.JobKind, cluster, before string, limit int) ([]*store.Job, error) {
	query := selected(kind, false, "($1 = '' OR j.cluster = $1) AND ($2 = '' OR j.id < $2) ORDER BY j.id DESC LIMIT $3")
	var list []*store.Job
	err := s.db.Read(ctx, s.d.Text(query), []any{cluster, before, most(limit)}, func(scan func(into ...any) error) error {
		j, read := scanned(kind)
		list = append(list, j)
		return read(scan)
	})
	return list, err
}

// JobStates implements store.Jobs.
func (s Jobs) JobStates(ctx context.Context, kind store.JobKind) (map[string]int64, error) {
	all := map[string]int64{}
	err := s.db.Read(ctx, s.of(kind, sqlJobStates), nil, func(scan func(into ...any) error) error {
		var state string
		var n int64
		err := scan(&state, &n)
		all[state] = n
		return err
	})
	return all, err
}

// EndJob implements store.Jobs.
func (s Jobs) EndJob(ctx context.Context, kind store.JobKind, id, state, reason string) error {
	if err := store.CheckEnd(state); err != nil {
		return err
	}
	return s.write(ctx, func(t tx) error {
		n, err := t.Exec(fmt.Sprintf(sqlEndJob, string(kind)), id, state, reason)
		if err != nil || n == 1 {
			return err
		}
		var ended string
		return t.Row(fmt.Sprintf(sqlJobState, string(kind)), []any{id}, &ended)
	})
}

// DeleteJob implements store.Jobs.
func (s Jobs) DeleteJob(ctx context.Context, kind store.JobKind, id string) error {
	n, err := s.drop(ctx, kind, "j.id = $1", id)
	if err == nil && n == 0 {
		err = store.ErrNotFound
	}
	return err
}

// PruneJobs implements store.Jobs.
func (s Jobs) PruneJobs(ctx context.Context, kind store.JobKind, before time.Time) (int64, error) {
	return s.drop(ctx, kind, "j.ended_at < $1", ceil(before))
}

// drop deletes jobs; their parts and differences go with them, and what they came to stays.
// Parts are locked before their jobs, as those who work on them do.
func (s Jobs) drop(ctx context.Context, kind store.JobKind, where string, arg any) (n int64, err error) {
	err = s.write(ctx, func(t tx) error {
		if kind == store.Replays && s.d.RowLocks {
			if _, err := t.Exec(`SELECT FROM replay_parts p JOIN replays j ON j.cluster = p.cluster AND j.id = p.replay WHERE `+where+` ORDER BY p.replay, p.part FOR UPDATE OF p`, arg); err != nil {
				return err
			}
		}
		if kind == store.Replays {
			for _, keep := range []string{sqlKeepRuns, sqlKeepResults} {
				if _, err := t.Exec(fmt.Sprintf(keep, where), arg); err != nil {
					return err
				}
			}
		}
		n, err = t.Exec(`DELETE FROM `+string(kind)+` AS j WHERE `+where, arg)
		return err
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}

// ClaimJob implements store.Jobs. Where the answer to a commit is lost, what it claimed waits for
// its lease to run out.
func (s Jobs) ClaimJob(ctx context.Context, kind store.JobKind, owner string, lease time.Duration, idle bool) (j *store.Job, err error) {
	err = s.write(ctx, func(t tx) error {
		var id string
		var part *store.ReplayPart
		if kind == store.Replays {
			if part, err = claimPart(t, owner, lease, idle); err != nil {
				return err
			}
			id = part.Replay
		} else if err := t.Row(sqlClaimSimulation, []any{owner, lease.Microseconds(), idle}, &id); err != nil {
			return err
		}
		var read func(scan func(into ...any) error) error
		j, read = scanned(kind)
		err := read(func(into ...any) error { return t.Row(selected(kind, true, "j.id = $1"), []any{id}, into...) })
		if j.Part = part; part != nil {
			j.Owner, j.Attempts = part.Owner, part.Attempts
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return j, nil
}

// AdvanceSimulation implements store.Jobs.
func (s Jobs) AdvanceSimulation(ctx context.Context, j *store.Job, parts map[string][]byte, lease time.Duration) (state string, err error) {
	err = s.write(ctx, func(t tx) error {
		if err := t.Row(fmt.Sprintf(sqlJobState, string(store.Simulations)), []any{j.ID}, &state); err != nil {
			return err
		}
		if store.JobEnded(state) {
			return nil
		}
		n, err := t.Exec(sqlAdvanceSimulation, j.ID, j.Owner, j.State, j.Progress, j.Attempts, lease.Microseconds())
		if err != nil {
			return err
		}
		if n != 1 {
			return fmt.Errorf("another process has simulation %s by now: %w", j.ID, store.ErrConflict)
		}
		state = j.State
		return putParts(t, j, parts)
	})
	if err != nil {
		return "", err
	}
	return state, nil
}

// SimulationPart implements store.Jobs.
func (s Jobs) SimulationPart(ctx context.Context, id, part string, admit func(size int) error) (payload []byte, err error) {
	var size int
	if err := s.one(ctx, `SELECT length(p.payload)`+sqlSimulationPart, []any{id, part}, &size); err != nil {
		return nil, err
	}
	if err := admit(size); err != nil {
		return nil, err
	}
	err = s.one(ctx, `SELECT p.payload`+sqlSimulationPart, []any{id, part}, &payload)
	return payload, err
}
