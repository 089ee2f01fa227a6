package postgres

import "context"

// Key implements store.Keys.
func (s *Store) Key(ctx context.Context, name string, fresh []byte) (key []byte, err error) {
	ctx, done, err := s.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	ctx, cancel := context.WithTimeout(ctx, s.opts.WriteTimeout)
	defer cancel()
	if _, err := s.pool.Exec(ctx, `INSERT INTO keys (name, value) VALUES ($1, $2) ON CONFLICT DO NOTHING`, name, fresh); err != nil {
		return nil, s.toStoreErr(ctx, err)
	}
	err = s.pool.QueryRow(ctx, `SELECT value FROM keys WHERE name = $1`, name).Scan(&key)
	return key, s.toStoreErr(ctx, err)
}
