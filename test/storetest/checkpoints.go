package storetest

import (
	"errors"
	"testing"

	"berth/internal/store"
)

func init() {
	register("Checkpoints", cases{
		"NewestAtOrBefore": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1), change("prod", 2), change("prod", 3), revision("prod", 4), change("prod", 5))
			for number, want := range map[int64]int64{1: 1, 2: 1, 3: 1, 4: 4, 5: 4, 99: 4} {
				c, err := s.CheckpointAt(t.Context(), "prod", number, nil)
				wantErr(t, "CheckpointAt", err, nil)
				same(t, "checkpoint", revision("prod", want).Checkpoint, c)
			}
			_, err := s.CheckpointAt(t.Context(), "prod", 0, nil)
			wantErr(t, "before the first", err, store.ErrNotFound)
			_, err = s.CheckpointAt(t.Context(), "test", 5, nil)
			wantErr(t, "of another cluster", err, store.ErrNotFound)
		},
		"AddedLater": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1), change("prod", 2))
			late := &store.Checkpoint{Cluster: "prod", Number: 2, Payload: []byte("late"), Woken: []byte{1, 0}}
			wantErr(t, "PutCheckpoint", s.PutCheckpoint(t.Context(), late), nil)
			c, err := s.CheckpointAt(t.Context(), "prod", 2, nil)
			wantErr(t, "CheckpointAt", err, nil)
			same(t, "checkpoint", late, c)
			r, err := s.Revision(t.Context(), "prod", 2)
			wantErr(t, "Revision", err, nil)
			same(t, "Checkpointed", true, r.Checkpointed)

			again := &store.Checkpoint{Cluster: "prod", Number: 2, Payload: []byte("again")}
			wantErr(t, "a second PutCheckpoint", s.PutCheckpoint(t.Context(), again), nil)
			c, err = s.CheckpointAt(t.Context(), "prod", 2, nil)
			wantErr(t, "CheckpointAt", err, nil)
			same(t, "the first stays", late, c)
		},
		"NeedsItsRevision": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1))
			err := s.PutCheckpoint(t.Context(), &store.Checkpoint{Cluster: "prod", Number: 2})
			wantErr(t, "PutCheckpoint", err, store.ErrNotFound)
		},
		"LargeAndEmpty": func(t *testing.T, s store.Store) {
			large, empty := revision("prod", 1), revision("prod", 2)
			large.Checkpoint.Payload = big(10 << 20)
			empty.Checkpoint.Payload = nil
			appendAll(t, s, large, empty)
			size, refused := 0, errors.New("refused")
			_, err := s.CheckpointAt(t.Context(), "prod", 1, func(n int) error { size = n; return refused })
			wantErr(t, "a CheckpointAt that is not admitted", err, refused)
			same(t, "size", len(large.Checkpoint.Payload), size)
			c, err := s.CheckpointAt(t.Context(), "prod", 1, func(int) error { return nil })
			wantErr(t, "CheckpointAt", err, nil)
			if string(c.Payload) != string(large.Checkpoint.Payload) {
				t.Error("10 MiB came back otherwise")
			}
			c, err = s.CheckpointAt(t.Context(), "prod", 2, nil)
			wantErr(t, "CheckpointAt", err, nil)
			same(t, "empty payload", 0, len(c.Payload))
		},
	})
}
