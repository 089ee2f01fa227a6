package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// monthsAhead is how many months get their partition before they begin.
const monthsAhead = 2

// keeperLock is held by the one replica that looks after the partitions.
const keeperLock = `hashtext('berth keeper ' || current_schema())`

// firstOf returns the month of t, in UTC.
func firstOf(t time.Time) time.Time {
	y, m, _ := t.UTC().Date()
	return time.Date(y, m, 1, 0, 0, 0, 0, time.UTC)
}

func partitionName(month time.Time) string { return "decisions_p" + month.Format("200601") }

// partitionsAhead makes the partitions of this month and the next ones. A role
// that may not make tables leaves the rows to the default partition.
func (s *Store) partitionsAhead(ctx context.Context, now time.Time) error {
	for i := range monthsAhead + 1 {
		month := firstOf(now).AddDate(0, i, 0)
		err := s.makePartition(ctx, month)
		if sqlState(err) == statePrivilege {
			return nil
		}
		if err != nil {
			return fmt.Errorf("partition %s: %w", partitionName(month), err)
		}
	}
	return nil
}

func (s *Store) makePartition(ctx context.Context, month time.Time) error {
	var there bool
	if err := s.pool.QueryRow(ctx, `SELECT to_regclass(quote_ident(current_schema()) || '.' || $1) IS NOT NULL`, partitionName(month)).Scan(&there); err != nil || there {
		return err
	}
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		// Another replica may be at it: wait, and look again.
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(`+keeperLock+`)`); err != nil {
			return err
		}
		// Names and bounds are our own, made of a time: there is no parameter in DDL.
		name, from, to := partitionName(month), month.Format("2006-01-02"), month.AddDate(0, 1, 0).Format("2006-01-02")
		bounds := fmt.Sprintf(`FOR VALUES FROM ('%s 00:00:00+00') TO ('%s 00:00:00+00')`, from, to)
		err := pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, fmt.Sprintf(`CREATE TABLE IF NOT EXISTS %s PARTITION OF decisions %s`, name, bounds))
			return err
		})
		if sqlState(err) != stateCheckViolation {
			return err
		}
		// The default partition has rows of this month: they move.
		for _, query := range []string{
			`LOCK TABLE decisions IN ACCESS EXCLUSIVE MODE`,
			fmt.Sprintf(`CREATE TABLE %s (LIKE decisions INCLUDING DEFAULTS INCLUDING CONSTRAINTS)`, name),
			fmt.Sprintf(`WITH moved AS (DELETE FROM decisions_default WHERE created_at >= '%s 00:00:00+00' AND created_at < '%s 00:00:00+00' RETURNING *)
INSERT INTO %s SELECT * FROM moved`, from, to, name),
			fmt.Sprintf(`ALTER TABLE decisions ATTACH PARTITION %s %s`, name, bounds),
		} {
			if _, err := tx.Exec(ctx, query); err != nil {
				return err
			}
		}
		return nil
	})
}

// partitions lists those of whole months, by name, attached or already taken
// out; the name tells the month.
func partitions(ctx context.Context, q querier) (attached map[string]bool, err error) {
	const query = `SELECT relname, relispartition FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND relname ~ '^decisions_p[0-9]{6}$'`
	rows, err := q.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	attached = map[string]bool{}
	err = each(rows, func() error {
		var name string
		var is bool
		err := rows.Scan(&name, &is)
		attached[name] = is
		return err
	})
	return attached, errors.Join(err, rows.Err())
}
