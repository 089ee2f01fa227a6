package storetest

import (
	"context"
	"testing"

	"berth/internal/store"
)

func init() {
	register("Keys", cases{
		"FirstStays": func(t *testing.T, s store.Store) {
			for _, fresh := range []string{"first", "second"} {
				key, err := s.Key(t.Context(), "cursors", []byte(fresh))
				wantErr(t, "Key", err, nil)
				same(t, "key", "first", string(key))
			}
			key, err := s.Key(t.Context(), "other", []byte("second"))
			wantErr(t, "Key", err, nil)
			same(t, "another name's key", "second", string(key))
		},
	}, calls{
		"Key": func(ctx context.Context, s store.Store) error {
			_, err := s.Key(ctx, "cursors", []byte("k"))
			return err
		},
		"SealHeads": func(ctx context.Context, s store.Store) error { _, err := s.SealHeads(ctx, ""); return err },
		"Books":     func(ctx context.Context, s store.Store) error { _, err := s.Books(ctx, "prod", true); return err },
		"Schema":    func(ctx context.Context, s store.Store) error { _, err := s.Schema(ctx); return err },
		"ListSeals": func(ctx context.Context, s store.Store) error {
			_, err := s.ListSeals(ctx, "prod", 0, 0, false)
			return err
		},
		"SealRows": func(ctx context.Context, s store.Store) error {
			_, err := s.SealRows(ctx, store.SealDecisions, store.SealFormat, "prod", 0, 9, 9)
			return err
		},
	})
}
