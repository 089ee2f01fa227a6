package spool

import (
	"errors"
	"testing"

	"berth/internal/store"
)

// TestKeyedCallsNeedTheDatabase: whether another server has claimed a call, only the database can
// say, so that its record does not wait in the spool.
func TestKeyedCallsNeedTheDatabase(t *testing.T) {
	opened(t, Options{}, func(t *testing.T, w *Writer, db *database, _ *liar) {
		db.set(away)
		plain, keyed := decision("prod", 1), decision("prod", 2)
		keyed.Call = &store.KeyedCall{Caller: "c", Key: "k", Token: "t"}
		if err := w.Append(t.Context(), []*store.Entry{plain, keyed}); err != nil {
			t.Fatal(err)
		}
		if plain.Err != nil || !plain.Spooled || keyed.Spooled || !errors.Is(keyed.Err, store.ErrUnavailable) {
			t.Errorf("without a key %v, %v; with one %v, %v", plain.Spooled, plain.Err, keyed.Spooled, keyed.Err)
		}
	})
}
