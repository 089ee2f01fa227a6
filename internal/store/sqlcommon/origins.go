package sqlcommon

import (
	"context"
	"fmt"

	"berth/internal/store"
)

// Origins implements store.Origins.
type Origins struct {
	db DB
	d  *Dialect
}

// NewOrigins returns the origins in a database.
func NewOrigins(db DB, d *Dialect) Origins { return Origins{db, d} }

const (
	// PutOrigin writes an origin, in the transaction of its revision.
	PutOrigin = `INSERT INTO origins (cluster, number, source, source_number) VALUES ($1, $2, $3, $4)`
	// DropOrigins removes those of copies that no longer need them, before a cluster or, where $2
	// is not 0, a revision of it goes.
	DropOrigins = `DELETE FROM origins WHERE source = $1 AND ($2 = 0 OR source_number = $2)`
	// SQLCopy is a copy that still needs a cluster or a revision of it.
	SQLCopy = copies + ` ORDER BY o.cluster LIMIT 1`

	copies = `SELECT o.cluster, o.number, o.source, o.source_number FROM origins o
WHERE o.source = $1 AND ($2 = 0 OR o.source_number = $2)
AND NOT EXISTS (SELECT 1 FROM checkpoints c WHERE c.cluster = o.cluster AND c.number = o.number)`

	sqlOrigin = `SELECT cluster, number, source, source_number FROM origins WHERE cluster = $1`
	sqlCopies = copies + ` ORDER BY o.cluster`
)

// OriginValues are the arguments of PutOrigin.
func OriginValues(o *store.Origin) []any {
	return []any{o.Cluster, o.Number, o.Source, o.SourceNumber}
}

// CopyNeeds is the error of a deletion of what a copy needs.
func CopyNeeds(source, copied string) error {
	return fmt.Errorf("cluster %s is a copy of a revision of %s that is to go: %w", copied, source, store.ErrInUse)
}

func (s Origins) read(ctx context.Context, query string, args ...any) (list []*store.Origin, err error) {
	err = s.db.Read(ctx, s.d.Text(query), args, func(scan func(into ...any) error) error {
		o := &store.Origin{}
		list = append(list, o)
		return scan(&o.Cluster, &o.Number, &o.Source, &o.SourceNumber)
	})
	return list, err
}

// Origin implements store.Origins.
func (s Origins) Origin(ctx context.Context, cluster string) (*store.Origin, error) {
	list, err := s.read(ctx, sqlOrigin, cluster)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("origin of cluster %s: %w", cluster, store.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// Copies implements store.Origins.
func (s Origins) Copies(ctx context.Context, source string, number int64) ([]*store.Origin, error) {
	return s.read(ctx, sqlCopies, source, number)
}
