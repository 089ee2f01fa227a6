package postgres

import (
	"errors"
	"fmt"
	"testing"

	"berth/internal/store"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestDiskFull: a server without room is told apart from one that is away, and is waited for as
// that one is.
func TestDiskFull(t *testing.T) {
	s := &Store{}
	for code, full := range map[string]bool{"53100": true, "53200": false, "57P01": false} {
		err := s.toStoreErr(t.Context(), fmt.Errorf("append: %w", &pgconn.PgError{Code: code}))
		if !errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrFull) != full {
			t.Errorf("%s: %v", code, err)
		}
	}
}
