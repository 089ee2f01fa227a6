package postgres

import (
	"context"

	"berth/internal/store"
)

// Clusters implements store.Revisions.
func (s *Store) Clusters(ctx context.Context, f store.ClusterFilter) ([]store.ClusterInfo, error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	where, value := `c.cluster > $1`, f.After
	if f.Name != "" {
		where, value = `c.cluster = $1`, f.Name
	}
	var limit *int // NULL: all
	if f.Limit > 0 {
		limit = &f.Limit
	}
	rows, err := s.pool.Query(ctx, `SELECT c.cluster, c.newest, c.revisions, c.decisions, r.created_at
FROM clusters c JOIN revisions r ON r.cluster = c.cluster AND r.number = c.newest WHERE `+where+`
AND ($3 = '' OR $3 = (SELECT o.asked_by FROM revisions o WHERE o.cluster = c.cluster ORDER BY o.number LIMIT 1)) ORDER BY c.cluster LIMIT $2`, value, limit, f.CreatedBy)
	if err != nil {
		return nil, s.toStoreErr(ctx, err)
	}
	defer rows.Close()
	var infos []store.ClusterInfo
	for rows.Next() {
		var c store.ClusterInfo
		if err := rows.Scan(&c.Name, &c.Newest, &c.Revisions, &c.Decisions, moment{&c.CreatedAt}); err != nil {
			return nil, s.toStoreErr(ctx, err)
		}
		infos = append(infos, c)
	}
	return infos, s.toStoreErr(ctx, rows.Err())
}

// Profile implements store.Profiles.
func (s *Store) Profile(ctx context.Context, digest string) (*store.Profile, error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	p := store.Profile{Digest: digest}
	const query = `SELECT name, payload FROM profiles WHERE digest = $1`
	if err := s.pool.QueryRow(ctx, query, digest).Scan(&p.Name, &p.Payload); err != nil {
		return nil, s.toStoreErr(ctx, err)
	}
	return &p, nil
}
