package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"berth/internal/store"
	"berth/internal/store/sqlcommon"
)

// PriorityClasses implements store.PriorityClasses. One statement, and so one
// moment.
func (s *Store) PriorityClasses(ctx context.Context, cluster string, whole bool) ([]*store.PriorityClass, int64, error) {
	if err := s.usable(); err != nil {
		return nil, 0, err
	}
	const query = `SELECT v.version, c.name, c.version, c.value, c.global_default, c.preemption_policy, CASE WHEN ? THEN c.payload END
FROM priority_class_versions v LEFT JOIN priority_classes c ON c.cluster = v.cluster WHERE v.cluster = ? ORDER BY c.name`
	rows, err := s.reads.QueryContext(ctx, query, whole, cluster)
	if err != nil {
		return nil, 0, s.toStoreErr(err)
	}
	defer func() { _ = rows.Close() }() // its errors come through rows.Err
	var list []*store.PriorityClass
	var at int64
	for rows.Next() {
		var name, policy, payload sql.NullString
		var version, value sql.NullInt64
		var isDefault sql.NullBool
		if err := rows.Scan(&at, &name, &version, &value, &isDefault, &policy, &payload); err != nil {
			return nil, 0, s.toStoreErr(err)
		}
		if name.Valid {
			c := &store.PriorityClass{
				Cluster: cluster, Name: name.String, Version: version.Int64, Value: int32(value.Int64),
				GlobalDefault: isDefault.Bool, PreemptionPolicy: policy.String,
			}
			if payload.Valid {
				c.Payload = []byte(payload.String)
			}
			list = append(list, c)
		}
	}
	return list, at, s.toStoreErr(rows.Err())
}

// PriorityClassVersions implements store.PriorityClasses.
func (s *Store) PriorityClassVersions(ctx context.Context) (map[string]int64, error) {
	return sqlcommon.Numbers(ctx, common{s}, `SELECT cluster, version FROM priority_class_versions`)
}

// PriorityClass implements store.PriorityClasses.
func (s *Store) PriorityClass(ctx context.Context, cluster, name string) (*store.PriorityClass, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	c, err := scanClass(cluster, name, s.reads.QueryRowContext(ctx, sqlClass, cluster, name).Scan)
	return c, s.toStoreErr(err)
}

func scanClass(cluster, name string, scan func(...any) error) (*store.PriorityClass, error) {
	c := &store.PriorityClass{Cluster: cluster, Name: name}
	var payload string
	if err := scan(&c.Version, &c.Value, &c.GlobalDefault, &c.PreemptionPolicy, &payload); err != nil {
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
	err = s.write(ctx, func(w *writer) error {
		had, err := scanClass(c.Cluster, c.Name, func(into ...any) error { return w.row(sqlClass, []any{c.Cluster, c.Name}, into...) })
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		same, err := c.JudgePut(had, expect)
		if err != nil {
			return err
		}
		if same {
			version = had.Version
			return nil
		}
		if c.GlobalDefault {
			var other string
			err := w.row(sqlDefaultClass, []any{c.Cluster, c.Name}, &other)
			if err == nil {
				return &store.DefaultTakenError{Cluster: c.Cluster, Name: other}
			}
			if !errors.Is(err, sql.ErrNoRows) {
				return err
			}
		}
		if err := w.row(sqlBumpClasses, []any{c.Cluster}, &version); err != nil {
			return err
		}
		_, err = w.exec(sqlPutClass, c.Cluster, c.Name, version, int64(c.Value), c.GlobalDefault, c.PreemptionPolicy, string(c.Payload))
		return err
	})
	if err != nil {
		return 0, err
	}
	return version, nil
}

// DeletePriorityClass implements store.PriorityClasses.
func (s *Store) DeletePriorityClass(ctx context.Context, cluster, name string, expect int64) error {
	return s.write(ctx, func(w *writer) error {
		had, err := scanClass(cluster, name, func(into ...any) error { return w.row(sqlClass, []any{cluster, name}, into...) })
		if err != nil {
			return err
		}
		if err := had.JudgeDelete(expect); err != nil {
			return err
		}
		n, err := w.exec(sqlDropClass, cluster, name)
		if err != nil {
			return err
		}
		if _, err := w.exec(sqlBumpKnownClasses, cluster); err != nil {
			return err
		}
		return sqlcommon.ExpectOne("delete priority class", n)
	})
}

// dropClasses removes a cluster's classes and returns how many they were.
func dropClasses(w *writer, cluster string) (int64, error) {
	n, err := w.exec(sqlDropClasses, cluster)
	if err != nil || n == 0 {
		return 0, err
	}
	_, err = w.exec(sqlBumpKnownClasses, cluster)
	return n, err
}
