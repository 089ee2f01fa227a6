package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
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

func init() {
	register("Origins", cases{
		"RoundTrip": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1), change("prod", 2))
			_, err := s.Origin(t.Context(), "copy")
			wantErr(t, "Origin", err, store.ErrNotFound)
			e := copyOf("copy", "prod", 2)
			appendAll(t, s, e)
			appendAll(t, s, e) // after a lost answer
			want := *e.Origin
			want.Token = ""
			got, err := s.Origin(t.Context(), "copy")
			wantErr(t, "Origin", err, nil)
			same(t, "origin", &want, got)
			same(t, "copies", []string{"copy"}, copies(t, s, 0))
			same(t, "copies of the revision", []string{"copy"}, copies(t, s, 2))
			sameList(t, "copies of another", []string{}, copies(t, s, 1))
			appendAll(t, s, change("copy", 2))
			same(t, "newest", int64(2), newest(t, s, "copy"))
			_, err = s.CheckpointAt(t.Context(), "copy", 2, nil)
			wantErr(t, "CheckpointAt", err, store.ErrNotFound)
		},
		"OfWhatIsThere": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1))
			other := copyOf("d", "prod", 1)
			other.Origin.Token = "of before"
			refused(t, s, []*store.Entry{copyOf("a", "gone", 1), copyOf("b", "prod", 2), other, copyOf("c", "prod", 1), revision("e", 1)},
				store.ErrNotFound, store.ErrNotFound, store.ErrNotFound, nil, nil)
			taken := copyOf("e", "prod", 1)
			taken.Revision.Token = "another"
			refused(t, s, []*store.Entry{taken}, store.ErrConflict)
			infos, err := s.Clusters(t.Context(), store.ClusterFilter{})
			wantErr(t, "Clusters", err, nil)
			names := []string{}
			for _, i := range infos {
				names = append(names, i.Name)
			}
			same(t, "clusters", []string{"c", "e", "prod"}, names)
		},
		"InvalidSpoilsNothing": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1))
			bad := map[string]func(e *store.Entry){
				"no revision":     func(e *store.Entry) { e.Revision = nil; e.Decision = decision("copy", "d", at(1)) },
				"another cluster": func(e *store.Entry) { e.Origin.Cluster = "test" },
				"another number":  func(e *store.Entry) { e.Origin.Number = 2 },
				"a change":        func(e *store.Entry) { e.Revision.Change = []byte{1} },
				"a checkpoint":    func(e *store.Entry) { e.Checkpoint = revision("copy", 1).Checkpoint },
				"a parent":        func(e *store.Entry) { e.Revision.ParentToken = "token" },
				"no source":       func(e *store.Entry) { e.Origin.Source = "" },
				"itself":          func(e *store.Entry) { e.Origin.Source = "copy" },
				"no number":       func(e *store.Entry) { e.Origin.SourceNumber = 0 },
				"NUL":             func(e *store.Entry) { e.Origin.Source = "a\x00" },
			}
			for name, spoil := range bad {
				e := copyOf("copy", "prod", 1)
				spoil(e)
				es := []*store.Entry{e}
				wantErr(t, name, s.Append(t.Context(), es), nil)
				wantErr(t, name, es[0].Err, store.ErrInvalid)
			}
		},
		"KeepTheirSource": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1), revision("prod", 2), revision("prod", 3), copyOf("copy", "prod", 1), change("copy", 2))
			wantErr(t, "DeleteRevision", s.DeleteRevision(t.Context(), "prod", 1), store.ErrInUse)
			wantErr(t, "DeleteCluster", s.DeleteCluster(t.Context(), "prod"), store.ErrInUse)
			wantErr(t, "of another revision", s.DeleteRevision(t.Context(), "prod", 2), nil)
			if n, err := s.Prune(t.Context(), at(100)); err != nil || n != 0 {
				t.Errorf("Prune took %d revisions, %v", n, err)
			}
			same(t, "newest", int64(3), newest(t, s, "prod"))
			wantErr(t, "PutCheckpoint", s.PutCheckpoint(t.Context(), &store.Checkpoint{Cluster: "copy", Number: 1, Payload: []byte{1}}), nil)
			sameList(t, "copies that need it", []string{}, copies(t, s, 0))
			wantErr(t, "DeleteRevision", s.DeleteRevision(t.Context(), "prod", 1), nil)
			wantErr(t, "DeleteCluster", s.DeleteCluster(t.Context(), "prod"), nil)
			same(t, "newest", int64(2), newest(t, s, "copy"))
		},
		"GoWithTheirCluster": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1), copyOf("copy", "prod", 1), copyOf("second", "copy", 1))
			wantErr(t, "a copy that has one", s.DeleteCluster(t.Context(), "copy"), store.ErrInUse)
			wantErr(t, "the second", s.DeleteCluster(t.Context(), "second"), nil)
			wantErr(t, "the first", s.DeleteCluster(t.Context(), "copy"), nil)
			_, err := s.Origin(t.Context(), "copy")
			wantErr(t, "Origin", err, store.ErrNotFound)
			wantErr(t, "the source", s.DeleteCluster(t.Context(), "prod"), nil)
		},
		"PrunedLikeOthers": func(t *testing.T, s store.Store) {
			appendAll(t, s, revision("prod", 1), copyOf("copy", "prod", 1), change("copy", 2), revision("copy", 3))
			if n, err := s.Prune(t.Context(), at(100)); err != nil || n != 2 {
				t.Errorf("Prune took %d revisions, %v", n, err)
			}
			wantErr(t, "the source", s.DeleteCluster(t.Context(), "prod"), nil)
		},
		"WhileTheSourceGoes": func(t *testing.T, s store.Store) {
			for i := range 10 {
				source, name := fmt.Sprint("source-", i), fmt.Sprint("copy-", i)
				appendAll(t, s, revision(source, 1))
				var work sync.WaitGroup
				e := copyOf(name, source, 1)
				var gone error
				work.Go(func() { gone = s.DeleteCluster(t.Context(), source) })
				err := s.Append(t.Context(), []*store.Entry{e})
				work.Wait()
				wantErr(t, "Append", err, nil)
				made := e.Err == nil
				if made != errors.Is(gone, store.ErrInUse) || !made && (gone != nil || !errors.Is(e.Err, store.ErrNotFound)) {
					t.Errorf("the copy: %v, the deletion: %v", e.Err, gone)
				}
			}
		},
	}, calls{
		"Origin": func(ctx context.Context, s store.Store) error { _, err := s.Origin(ctx, "copy"); return err },
		"Copies": func(ctx context.Context, s store.Store) error { _, err := s.Copies(ctx, "prod", 0); return err },
	})
}

// copyOf makes the entry of a cluster's first revision that has the content of another's.
func copyOf(cluster, source string, number int64) *store.Entry {
	e := revision(cluster, 1)
	e.Checkpoint, e.Revision.Cause = nil, "fork"
	e.Origin = &store.Origin{Cluster: cluster, Number: 1, Source: source, SourceNumber: number, Token: token(number)}
	return e
}

// copies lists the clusters that begin as copies of prod, or of one of its revisions.
func copies(t *testing.T, s store.Store, number int64) (names []string) {
	t.Helper()
	list, err := s.Copies(t.Context(), "prod", number)
	wantErr(t, "Copies", err, nil)
	for _, o := range list {
		names = append(names, o.Cluster)
	}
	return names
}
