package sqlite

import "context"

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
