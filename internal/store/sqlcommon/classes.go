package sqlcommon

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"time"

	"berth/internal/store"
	"berth/internal/store/seal"
)

// Classes implements store.PriorityClasses.
type Classes struct {
	db DB
	d  *Dialect
}

// NewClasses returns the priority classes in a database.
func NewClasses(db DB, d *Dialect) Classes { return Classes{db, d} }

const (
	// One statement, and so one moment.
	sqlClasses = `SELECT v.version, c.name, c.version, c.value, c.global_default, c.preemption_policy, CASE WHEN $2 THEN c.payload END
FROM priority_class_versions v LEFT JOIN priority_classes c ON c.cluster = v.cluster WHERE v.cluster = $1 ORDER BY c.name`
	sqlClassVersions = `SELECT cluster, version FROM priority_class_versions`
	// Takes the lock of the cluster's classes, which the transaction then holds.
	sqlBumpClasses = `INSERT INTO priority_class_versions AS v (cluster, version) VALUES ($1, 1)
ON CONFLICT (cluster) DO UPDATE SET version = v.version + 1 RETURNING version`
	sqlBumpKnownClasses = `UPDATE priority_class_versions SET version = version + 1 WHERE cluster = $1`
	sqlClass            = `SELECT version, value, global_default, preemption_policy, payload FROM priority_classes WHERE cluster = $1 AND name = $2`
	sqlDefaultClass     = `SELECT name FROM priority_classes WHERE cluster = $1 AND name <> $2 AND global_default = TRUE`
	sqlPutClass         = `INSERT INTO priority_classes (cluster, name, version, value, global_default, preemption_policy, payload)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (cluster, name) DO UPDATE SET version = excluded.version, value = excluded.value,
  global_default = excluded.global_default, preemption_policy = excluded.preemption_policy, payload = excluded.payload`
	sqlPutClassLog   = `INSERT INTO priority_class_changes (` + seal.ClassColumns + `) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)`
	sqlLastClassSeq  = `SELECT coalesce(max(seq), 0) FROM priority_class_changes WHERE cluster = $1`
	sqlClassesByName = `SELECT name, value, global_default, preemption_policy FROM priority_classes WHERE cluster = $1 ORDER BY name`
	sqlNewBooks      = `INSERT INTO clusters (cluster) VALUES ($1) ON CONFLICT DO NOTHING`
	sqlLockBooks     = `SELECT newest FROM clusters WHERE cluster = $1{update}`

	sqlDropClass   = `DELETE FROM priority_classes WHERE cluster = $1 AND name = $2`
	sqlDropClasses = `DELETE FROM priority_classes WHERE cluster = $1`
)

// PriorityClasses implements store.PriorityClasses.
func (s Classes) PriorityClasses(ctx context.Context, cluster string, whole bool) (list []*store.PriorityClass, at int64, err error) {
	err = s.db.Read(ctx, s.d.Text(sqlClasses), []any{cluster, whole}, func(scan func(into ...any) error) error {
		var name, policy, payload *string
		var version *int64
		var value *int32
		var isDefault *bool
		if err := scan(&at, &name, &version, &value, &isDefault, &policy, &payload); err != nil || name == nil {
			return err
		}
		c := &store.PriorityClass{Cluster: cluster, Name: *name, Version: *version, Value: *value, GlobalDefault: *isDefault, PreemptionPolicy: *policy}
		if payload != nil {
			c.Payload = []byte(*payload)
		}
		list = append(list, c)
		return nil
	})
	return list, at, err
}

// PriorityClassVersions implements store.PriorityClasses.
func (s Classes) PriorityClassVersions(ctx context.Context) (map[string]int64, error) {
	return Numbers(ctx, s.db, sqlClassVersions)
}

// PriorityClass implements store.PriorityClasses.
func (s Classes) PriorityClass(ctx context.Context, cluster, name string) (*store.PriorityClass, error) {
	return readClass(cluster, name, func(into ...any) error { return one(ctx, s.db, s.d.Text(sqlClass), []any{cluster, name}, into...) })
}

func readClass(cluster, name string, scan func(into ...any) error) (*store.PriorityClass, error) {
	c := &store.PriorityClass{Cluster: cluster, Name: name}
	var payload string
	if err := scan(&c.Version, &c.Value, &c.GlobalDefault, &c.PreemptionPolicy, &payload); err != nil {
		return nil, err
	}
	c.Payload = []byte(payload)
	return c, nil
}

// stored reads a class in a transaction.
func (s Classes) stored(x Tx, cluster, name string) (*store.PriorityClass, error) {
	return readClass(cluster, name, func(into ...any) error { return x.Row(s.d.Text(sqlClass), []any{cluster, name}, into...) })
}

// PutPriorityClass implements store.PriorityClasses.
func (s Classes) PutPriorityClass(ctx context.Context, c *store.PriorityClass, expect int64) (version int64, err error) {
	if err := c.Validate(); err != nil {
		return 0, err
	}
	err = s.locked(ctx, c.Cluster, func(x Tx, next int64) error {
		had, err := s.stored(x, c.Cluster, c.Name)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
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
			err := x.Row(s.d.Text(sqlDefaultClass), []any{c.Cluster, c.Name}, &other)
			if err == nil {
				return &store.DefaultTakenError{Cluster: c.Cluster, Name: other}
			}
			if !errors.Is(err, sql.ErrNoRows) {
				return err
			}
		}
		version = next
		_, err = x.Exec(s.d.Text(sqlPutClass), c.Cluster, c.Name, next, int64(c.Value), c.GlobalDefault, c.PreemptionPolicy, string(c.Payload))
		if err != nil {
			return err
		}
		change := store.ClassChange{Name: c.Name, New: c.Facts()}
		if had != nil {
			change.Old = had.Facts()
		}
		return s.log(ctx, x, c.Cluster, change)
	})
	if err != nil {
		return 0, err
	}
	return version, nil
}

// DeletePriorityClass implements store.PriorityClasses.
func (s Classes) DeletePriorityClass(ctx context.Context, cluster, name string, expect int64) error {
	return s.locked(ctx, cluster, func(x Tx, _ int64) error {
		had, err := s.stored(x, cluster, name)
		if err != nil {
			return err
		}
		if err := had.JudgeDelete(expect); err != nil {
			return err
		}
		n, err := x.Exec(s.d.Text(sqlDropClass), cluster, name)
		if err != nil {
			return err
		}
		if err := ExpectOne("delete priority class", n); err != nil {
			return err
		}
		return s.log(ctx, x, cluster, store.ClassChange{Name: name, Old: had.Facts()})
	})
}

// DropClasses removes a cluster's classes in a transaction that holds the lock of its books, and
// returns how many there were.
func (s Classes) DropClasses(ctx context.Context, x Tx, cluster string) (int64, error) {
	var changes []store.ClassChange
	err := x.Rows(s.d.Text(sqlClassesByName), []any{cluster}, func(scan func(into ...any) error) error {
		c := store.PriorityClass{}
		err := scan(&c.Name, &c.Value, &c.GlobalDefault, &c.PreemptionPolicy)
		changes = append(changes, store.ClassChange{Name: c.Name, Old: c.Facts()})
		return err
	})
	if err != nil || len(changes) == 0 {
		return 0, err
	}
	n, err := x.Exec(s.d.Text(sqlDropClasses), cluster)
	if err != nil {
		return 0, err
	}
	if _, err = x.Exec(s.d.Text(sqlBumpKnownClasses), cluster); err != nil {
		return 0, err
	}
	return n, s.log(ctx, x, cluster, changes...)
}

// log writes down what was changed of a cluster's classes, and seals it. The transaction holds the
// lock of the cluster's books, which every other writer of the log has to wait for.
func (s Classes) log(ctx context.Context, x Tx, cluster string, changes ...store.ClassChange) error {
	var last int64
	if err := x.Row(s.d.Text(sqlLastClassSeq), []any{cluster}, &last); err != nil {
		return err
	}
	var added seal.Rows
	records := make([][]any, len(changes))
	now := time.Now().UTC().Truncate(time.Microsecond)
	for i, change := range changes {
		c := store.ClassRecord{
			Cluster: cluster, Seq: last + int64(i) + 1, ClassChange: change, Source: store.ClassOfStore, Asked: store.AskedOf(ctx), CreatedAt: now,
		}
		records[i] = c.Values(func(t time.Time) any { return t })
		if err := added.Numbered(store.SealClasses, c.Seq, records[i]); err != nil {
			return err
		}
	}
	if err := x.Many(s.d.Text(sqlPutClassLog), records); err != nil {
		return err
	}
	return AddSeal(x, s.d, cluster, func(h *store.SealHead) (*store.Seal, error) { return added.Seal(h, h.Seq, h.Newest) })
}

// errNothingToDo ends a transaction without a change, and is no error.
var errNothingToDo = errors.New("nothing to do")

// locked runs fn in a transaction that holds the locks of a cluster's books, which it begins where
// there are none, and of its classes, in the order in which DeleteCluster takes them; next is the
// version that a write gets. An error undoes everything.
func (s Classes) locked(ctx context.Context, cluster string, fn func(x Tx, next int64) error) error {
	err := s.db.Write(ctx, func(x Tx) error {
		if _, err := x.Exec(s.d.Text(sqlNewBooks), cluster); err != nil {
			return err
		}
		var next int64
		if err := x.Row(s.d.Text(sqlLockBooks), []any{cluster}, &next); err != nil {
			return err
		}
		if err := x.Row(s.d.Text(sqlBumpClasses), []any{cluster}, &next); err != nil {
			return err
		}
		if err := fn(x, next); err != nil {
			return err
		}
		return mark(ctx, x, s.d, "/v1/priorityclasses?cluster="+url.QueryEscape(cluster))
	})
	if errors.Is(err, errNothingToDo) {
		return nil
	}
	return err
}
