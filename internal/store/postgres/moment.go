package postgres

import (
	"errors"
	"time"

	"github.com/jackc/pgx/v5/pgtype"
)

// moment reads a time that may be anything that the column holds: infinity,
// which no program of ours writes, becomes the zero time rather than an error
// that would take all other rows of the answer with it.
type moment struct{ t *time.Time }

// ScanTimestamptz implements pgtype.TimestamptzScanner.
func (m moment) ScanTimestamptz(v pgtype.Timestamptz) error {
	switch {
	case !v.Valid:
		return errors.New("a time is missing")
	case v.InfinityModifier != pgtype.Finite:
		*m.t = time.Time{}
	default:
		*m.t = v.Time.UTC()
	}
	return nil
}
