package postgres

import (
	"context"
	"errors"

	"berth/internal/store"
	"berth/internal/store/sqlcommon"

	"github.com/jackc/pgx/v5"
)

// PriorityClasses implements store.PriorityClasses. One statement, and so one
// moment.
func (s *Store) PriorityClasses(ctx context.Context, cluster string, whole bool) ([]*store.PriorityClass, int64, error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer done()
	const query = `SELECT v.version, c.name, c.version, c.value, c.global_default, c.preemption_policy, CASE WHEN $2 THEN c.payload END
FROM priority_class_versions v LEFT JOIN priority_classes c ON c.cluster = v.cluster WHERE v.cluster = $1 ORDER BY c.name`
	rows, err := s.pool.Query(ctx, query, cluster, whole)
	if err != nil {
		return nil, 0, s.toStoreErr(ctx, err)
	}
	var list []*store.PriorityClass
	var at int64
	err = each(rows, func() error {
		var name, policy, payload *string
		var version *int64
		var value *int32
		var isDefault *bool
		if err := rows.Scan(&at, &name, &version, &value, &isDefault, &policy, &payload); err != nil || name == nil {
			return err
		}
		c := &store.PriorityClass{
			Cluster: cluster, Name: *name, Version: *version, Value: *value,
			GlobalDefault: *isDefault, PreemptionPolicy: *policy,
		}
		if payload != nil {
			c.Payload = []byte(*payload)
		}
		list = append(list, c)
		return nil
	})
	return list, at, s.toStoreErr(ctx, err)
}

// PriorityClassVersions implements store.PriorityClasses.
func (s *Store) PriorityClassVersions(ctx context.Context) (map[string]int64, error) {
	return sqlcommon.Numbers(ctx, common{s}, `SELECT cluster, version FROM priority_class_versions`)
}

// PriorityClass implements store.PriorityClasses.
func (s *Store) PriorityClass(ctx context.Context, cluster, name string) (*store.PriorityClass, error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	c, err := scanClass(cluster, name, s.pool.QueryRow(ctx, sqlClass, cluster, name))
	return c, s.toStoreErr(ctx, err)
}

func scanClass(cluster, name string, row pgx.Row) (*store.PriorityClass, error) {
	c := &store.PriorityClass{Cluster: cluster, Name: name}
	var payload string
	if err := row.Scan(&c.Version, &c.Value, &c.GlobalDefault, &c.PreemptionPolicy, &payload); err != nil {
		return nil, err
	}
	c.Payload = []byte(payload)
	return c, nil
}

// PutPriorityClass implements store.PriorityClasses.
func (s *Store) PutPriorityClass(ctx context.Context, c *store.PriorityClass, expect int64) (version int64, err error) {
	if err := c.Validate(); err != nil {
		return 0, err
	}
	err = s.withClasses(ctx, c.Cluster, func(ctx context.Context, conn *pgx.Conn, next int64) error {
		had, err := scanClass(c.Cluster, c.Name, conn.QueryRow(ctx, sqlClass, c.Cluster, c.Name))
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		same, err := c.JudgePut(had, expect)
		if err != nil {
			return err
		}
		if same {
			version = had.Version
			return errNothingToDo
		}
		if c.GlobalDefault {
			var other string
			err := conn.QueryRow(ctx, sqlDefaultClass, c.Cluster, c.Name).Scan(&other)
			if err == nil {
				return &store.DefaultTakenError{Cluster: c.Cluster, Name: other}
			}
			if !errors.Is(err, pgx.ErrNoRows) {
				return err
			}
		}
		version = next
		_, err = conn.Exec(ctx, sqlPutClass, c.Cluster, c.Name, next, c.Value, c.GlobalDefault, c.PreemptionPolicy, string(c.Payload))
		return err
	})
	if err != nil {
		return 0, err
	}
	return version, nil
}

// DeletePriorityClass implements store.PriorityClasses.
func (s *Store) DeletePriorityClass(ctx context.Context, cluster, name string, expect int64) error {
	return s.withClasses(ctx, cluster, func(ctx context.Context, conn *pgx.Conn, _ int64) error {
		had, err := scanClass(cluster, name, conn.QueryRow(ctx, sqlClass, cluster, name))
		if err != nil {
			return err
		}
		if err := had.JudgeDelete(expect); err != nil {
			return err
		}
		ct, err := conn.Exec(ctx, sqlDropClass, cluster, name)
		if err != nil {
			return err
		}
		return sqlcommon.ExpectOne("delete priority class", ct.RowsAffected())
	})
}

// errNothingToDo ends a transaction without a change, and is no error.
var errNothingToDo = errors.New("nothing to do")

// withClasses runs fn in a transaction that holds the lock of a cluster's
// classes; next is the version that a write gets. An error undoes everything.
func (s *Store) withClasses(ctx context.Context, cluster string, fn func(ctx context.Context, conn *pgx.Conn, next int64) error) error {
	err := s.inTx(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		var next int64
		if err := conn.QueryRow(ctx, sqlBumpClasses, cluster).Scan(&next); err != nil {
			return err
		}
		return fn(ctx, conn, next)
	})
	if errors.Is(err, errNothingToDo) {
		return nil
	}
	return err
}

// dropClasses removes a cluster's classes and returns how many they were.
func dropClasses(ctx context.Context, conn *pgx.Conn, cluster string) (int64, error) {
	ct, err := conn.Exec(ctx, sqlDropClasses, cluster)
	if err != nil || ct.RowsAffected() == 0 {
		return 0, err
	}
	_, err = conn.Exec(ctx, sqlBumpKnownClasses, cluster)
	return ct.RowsAffected(), err
}
