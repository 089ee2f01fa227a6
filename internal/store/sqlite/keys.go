package sqlite

import "context"

// Key implements store.Keys.
func (s *Store) Key(ctx context.Context, name string, fresh []byte) (key []byte, err error) {
	err = s.write(ctx, func(w *writer) error {
		if _, err := w.exec(`INSERT INTO keys (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING`, name, fresh); err != nil {
			return err
		}
		return w.row(`SELECT value FROM keys WHERE name = ?`, []any{name}, &key)
	})
	return key, err
}
