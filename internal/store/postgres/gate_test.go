package postgres

import (
	"testing"

	"berth/test/storetest"
)

func TestGate(t *testing.T) {
	s := openAt(t, freshURL(t), Options{})
	storetest.Gated(t, s, s.Gate(), func() <-chan error {
		holder, err := s.pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = holder.Rollback(t.Context()) })
		if _, err := holder.Exec(t.Context(), "LOCK TABLE checkpoints IN ACCESS EXCLUSIVE MODE"); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			_, err := s.CheckpointAt(t.Context(), "prod", 1, nil)
			if rollback := holder.Rollback(t.Context()); rollback != nil {
				t.Error(rollback)
			}
			done <- err
		}()
		const waits = `SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'checkpoints'::regclass`
		for n := 0; n == 0; {
			if err := s.pool.QueryRow(t.Context(), waits).Scan(&n); err != nil {
				t.Fatal(err)
			}
		}
		return done
	})
}
