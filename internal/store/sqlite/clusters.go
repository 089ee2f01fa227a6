package sqlite

import (
	"context"

	"berth/internal/store"
)

// Clusters implements store.Revisions.
func (s *Store) Clusters(ctx context.Context, f store.ClusterFilter) ([]store.ClusterInfo, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	where, value, limit := `c.cluster > ?1`, f.After, -1
	if f.Name != "" {
		where, value = `c.cluster = ?1`, f.Name
	}
	if f.Limit > 0 {
		limit = f.Limit
	}
	rows, err := s.reads.QueryContext(ctx, `SELECT c.cluster, c.newest, c.revisions, c.decisions, r.created_at
FROM clusters c JOIN revisions r ON r.cluster = c.cluster AND r.number = c.newest WHERE `+where+`
AND (?2 = '' OR ?2 = (SELECT o.asked_by FROM revisions o WHERE o.cluster = c.cluster ORDER BY o.number LIMIT 1)) ORDER BY c.cluster LIMIT ?3`, value, f.CreatedBy, limit)
	if err != nil {
		return nil, s.toStoreErr(err)
	}
	defer func() { _ = rows.Close() }() // its errors come through rows.Err
	var infos []store.ClusterInfo
	for rows.Next() {
		var c store.ClusterInfo
		var created int64
		if err := rows.Scan(&c.Name, &c.Newest, &c.Revisions, &c.Decisions, &created); err != nil {
			return nil, s.toStoreErr(err)
		}
		c.CreatedAt = fromMicro(created)
		infos = append(infos, c)
	}
	return infos, s.toStoreErr(rows.Err())
}

// clusterNames lists every cluster that anything is stored for.
func (s *Store) clusterNames(ctx context.Context) ([]string, error) {
	rows, err := s.reads.QueryContext(ctx, `SELECT cluster FROM clusters ORDER BY cluster`)
	if err != nil {
		return nil, s.toStoreErr(err)
	}
	defer func() { _ = rows.Close() }() // its errors come through rows.Err
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, s.toStoreErr(err)
		}
		names = append(names, name)
	}
	return names, s.toStoreErr(rows.Err())
}

// Profile implements store.Profiles.
func (s *Store) Profile(ctx context.Context, digest string) (*store.Profile, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	p := store.Profile{Digest: digest}
	const query = `SELECT name, payload FROM profiles WHERE digest = ?`
	if err := s.reads.QueryRowContext(ctx, query, digest).Scan(&p.Name, &p.Payload); err != nil {
		return nil, s.toStoreErr(err)
	}
	return &p, nil
}
