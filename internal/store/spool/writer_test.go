package spool

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/store"

	"github.com/google/go-cmp/cmp"
)

// opened runs a test around a writer, on a clock of its own.
func opened(t *testing.T, o Options, test func(t *testing.T, w *Writer, db *database, disk *liar)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		db, disk := newDatabase(), newLiar()
		w, err := Open(db, disk, o)
		if err != nil {
			t.Fatal(err)
		}
		test(t, w, db, disk)
		db.set(func(d *database) { d.away = false })
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
}

func appendOne(t *testing.T, w *Writer, e *store.Entry) *store.Entry {
	t.Helper()
	if err := w.Append(t.Context(), []*store.Entry{e}); err != nil {
		t.Fatalf("Append: %v", err)
	}
	return e
}

func away(d *database) { d.away = true }
func back(d *database) { d.away = false }

func revisionEntry() *store.Entry {
	return &store.Entry{Revision: &store.Revision{Cluster: "c", Number: 2, Token: "t", ParentToken: "s", Change: []byte{1}}}
}

func TestWayThereAndBack(t *testing.T) {
	opened(t, Options{}, func(t *testing.T, w *Writer, db *database, disk *liar) {
		if e := appendOne(t, w, decision("c", 1)); e.Spooled || e.Err != nil {
			t.Errorf("straight: %+v", e)
		}
		db.set(away)
		if e := appendOne(t, w, decision("c", 2)); !e.Spooled || e.Err != nil {
			t.Errorf("away: %v, spooled %v", e.Err, e.Spooled)
		}
		mixed := []*store.Entry{revisionEntry(), decision("c", 3), {Gap: &store.Gap{ID: "g", Cluster: "c", Lost: 1, Cause: "store"}}, {Decision: &store.Decision{}}}
		if err := w.Append(t.Context(), mixed); err != nil {
			t.Fatal(err)
		}
		for i, want := range []error{store.ErrUnavailable, nil, nil, store.ErrInvalid} {
			if !errors.Is(mixed[i].Err, want) {
				t.Errorf("entry %d: %v, want %v", i, mixed[i].Err, want)
			}
		}
		if d, err := w.Decision(t.Context(), "c-000002"); err != nil || cmp.Diff(decision("c", 2).Decision, d) != "" {
			t.Errorf("a record in the spool: %v %s", err, cmp.Diff(decision("c", 2).Decision, d))
		}
		if _, err := w.Decision(t.Context(), "c-000001"); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("a record in the database: %v", err)
		}
		note, err := w.Ready()
		if err != nil || !strings.Contains(note, "database away since") || !strings.Contains(note, "3 records") {
			t.Errorf("Ready: %q, %v", note, err)
		}
		if err := w.DeleteRevision(t.Context(), "c", 1); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("DeleteRevision: %v", err)
		}
		db.set(back)
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if st := w.Status(); st.Queued || st.Records != 0 || st.Drained != 3 {
			t.Errorf("back: %+v", st)
		}
		if diff := cmp.Diff([]string{"c-000001", "c-000002", "c-000003"}, db.has()); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
		if note, err := w.Ready(); note != "" || err != nil {
			t.Errorf("Ready: %q, %v", note, err)
		}
		if e := appendOne(t, w, decision("c", 4)); e.Spooled || e.Err != nil {
			t.Errorf("straight again: %+v", e)
		}
		if names, _ := disk.Names(); len(names) != 0 {
			t.Errorf("left on disk: %v", names)
		}
	})
}

// TestDatabaseFull: a database without room is like one that is away, and is told apart from it.
func TestDatabaseFull(t *testing.T) {
	opened(t, Options{}, func(t *testing.T, w *Writer, db *database, _ *liar) {
		db.set(func(d *database) { d.full = true })
		if e := appendOne(t, w, decision("c", 1)); !e.Spooled || e.Err != nil {
			t.Errorf("full: %v, spooled %v", e.Err, e.Spooled)
		}
		since := w.Status().Since
		for range 50 { // it answers each ping meanwhile, which is not room
			if note, err := w.Ready(); err != nil || !strings.Contains(note, "out of disk since") {
				t.Fatalf("Ready: %q, %v", note, err)
			}
			time.Sleep(100 * time.Millisecond)
		}
		if got := w.Status().Since; !got.Equal(since) {
			t.Errorf("out of disk since %v, then since %v", since, got)
		}
		db.set(func(d *database) { d.full = false })
		time.Sleep(5 * time.Second)
		synctest.Wait()
		if note, err := w.Ready(); note != "" || err != nil || len(db.has()) != 1 {
			t.Errorf("with room again: %q, %v, %v", note, err, db.has())
		}
	})
}

// A database that is stopped costs the first batch its patience, and no other batch
// anything; a write that hangs and succeeds later doubles nothing.
func TestHangIsAsHarmlessAsAnError(t *testing.T) {
	for _, late := range []bool{false, true} {
		opened(t, Options{}, func(t *testing.T, w *Writer, db *database, _ *liar) {
			hang := make(chan struct{})
			db.set(func(d *database) { d.hang, d.late = hang, late })
			end := sync.OnceFunc(func() {
				db.set(func(d *database) { d.hang = nil })
				close(hang)
			})
			go func() { // a fault that waits for ever must not hang the test
				time.Sleep(time.Minute)
				end()
			}()
			at := time.Now()
			if e := appendOne(t, w, decision("c", 1)); !e.Spooled {
				t.Errorf("the first: %v", e.Err)
			}
			if took := time.Since(at); took != 250*time.Millisecond {
				t.Errorf("the first took %v", took)
			}
			at = time.Now()
			if e := appendOne(t, w, decision("c", 2)); !e.Spooled || time.Since(at) != 0 {
				t.Errorf("the second took %v: %v", time.Since(at), e.Err)
			}
			time.Sleep(2 * time.Second) // the database was asked, and gave no sign of life
			at = time.Now()
			if e := appendOne(t, w, revisionEntry()); !errors.Is(e.Err, store.ErrUnavailable) || time.Since(at) != 0 {
				t.Errorf("a revision took %v: %v", time.Since(at), e.Err)
			}
			if _, err := w.Newest(t.Context(), "c"); !errors.Is(err, store.ErrUnavailable) || time.Since(at) != 0 {
				t.Errorf("a read took %v: %v", time.Since(at), err)
			}
			end()
			time.Sleep(10 * time.Second)
			if diff := cmp.Diff([]string{"c-000001", "c-000002"}, db.has()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if w.Status().Queued {
				t.Error("the straight way is still closed")
			}
			time.Sleep(time.Minute)
		})
	}
}

// A read that was under way when the database stopped ends when that turns out.
func TestHungReadEnds(t *testing.T) {
	opened(t, Options{}, func(t *testing.T, w *Writer, db *database, _ *liar) {
		hang := make(chan struct{})
		db.set(func(d *database) { d.hang = hang })
		at := time.Now()
		if _, err := w.Newest(t.Context(), "c"); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("error %v", err)
		}
		if took := time.Since(at); took > 3*time.Second {
			t.Errorf("it took %v", took)
		}
		db.set(func(d *database) { d.hang = nil })
		close(hang)
	})
}

// A large upload takes its time as long as the database lives.
func TestSlowRevisionIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, err := Open(&slowStore{database: newDatabase(), takes: 7 * time.Second}, newLiar(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		e := revisionEntry()
		e.Checkpoint = &store.Checkpoint{Cluster: "c", Number: 2, Payload: []byte("large")}
		if appendOne(t, w, e); e.Err != nil {
			t.Errorf("upload: %v", e.Err)
		}
		at := time.Now()
		if e := appendOne(t, w, revisionEntry()); !errors.Is(e.Err, store.ErrUnavailable) || time.Since(at) > 3*time.Second {
			t.Errorf("a bind took %v: %v", time.Since(at), e.Err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestSlowDecisionIsNotCancelled: a batch of decisions that waits in the database for a lock goes
// to the spool when its callers' patience ends, and the database is left to write it: a cancelled
// statement is an ERROR in its log. One that hangs is cancelled in the end.
func TestSlowDecisionIsNotCancelled(t *testing.T) {
	for takes, cancelled := range map[time.Duration]int64{time.Second: 0, time.Minute: 1} {
		synctest.Test(t, func(t *testing.T) {
			db := &slowStore{database: newDatabase(), takes: takes}
			w, err := Open(db, newLiar(), Options{})
			if err != nil {
				t.Fatal(err)
			}
			if e := appendOne(t, w, decision("c", 1)); e.Err != nil || !e.Spooled {
				t.Errorf("%v, spooled %v", e.Err, e.Spooled)
			}
			synctest.Wait()
			time.Sleep(2200 * time.Millisecond)
			if n := db.cancelled.Load(); n < cancelled || n > 0 && cancelled == 0 {
				t.Errorf("of %v: %d writes were cancelled, want %d", takes, n, cancelled)
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

type slowStore struct {
	*database
	takes     time.Duration
	cancelled atomic.Int64
}

func (s *slowStore) Append(ctx context.Context, entries []*store.Entry) error {
	select {
	case <-time.After(s.takes):
		return s.database.Append(ctx, entries)
	case <-ctx.Done():
		s.cancelled.Add(1)
		return ctx.Err()
	}
}

// TestRefusedIsQuarantined: what the database refuses for good stops no other record, and
// stays readable, also when the reason is unknown.
func TestRefusedIsQuarantined(t *testing.T) {
	opened(t, Options{}, func(t *testing.T, w *Writer, db *database, disk *liar) {
		db.set(func(d *database) {
			d.away, d.missing["c-000002"], d.poison = true, true, "c-000004"
		})
		for n := 1; n <= 6; n++ {
			e := decision("c", n)
			if n == 2 {
				e.Profile = &store.Profile{Digest: "sha256:p", Payload: []byte("p")}
			}
			appendOne(t, w, e)
		}
		db.set(back)
		time.Sleep(10 * time.Second)
		if diff := cmp.Diff([]string{"c-000001", "c-000003", "c-000005", "c-000006"}, db.has()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if !db.profiles["sha256:p"] {
			t.Error("the refused record took its profile along")
		}
		st := w.Status()
		if st.Quarantined != 2 || st.Records != 0 || st.Queued {
			t.Errorf("%+v", st)
		}
		if note, err := w.Ready(); err != nil || !strings.Contains(note, "2 records in quarantine") {
			t.Errorf("Ready: %q, %v", note, err)
		}
		all := ""
		names, _ := disk.Names()
		for _, name := range names {
			b, err := readAll(disk, name)
			if err != nil {
				t.Fatal(err)
			}
			all += string(b)
		}
		for _, want := range []string{"c-000002", "c-000004", errPoison.Error()} {
			if !strings.Contains(all, want) {
				t.Errorf("quarantine has no %q: %s", want, all)
			}
		}
	})
}

// TestFullSpoolRefuses: at its limit nothing is answered and nothing lost; with
// room it goes on by itself.
func TestFullSpoolRefuses(t *testing.T) {
	opened(t, Options{Limits: Limits{Total: 8 << 10, Segment: 2 << 10}}, func(t *testing.T, w *Writer, db *database, _ *liar) {
		db.set(away)
		var acked []string
		for n := range 40 {
			e := appendOne(t, w, decision("c", n))
			if e.Err == nil {
				acked = append(acked, e.Decision.ID)
			} else if !errors.Is(e.Err, store.ErrUnavailable) || !errors.Is(e.Err, ErrFull) {
				t.Fatal(e.Err)
			}
		}
		if len(acked) < 5 || len(acked) == 40 {
			t.Fatalf("%d of 40 were taken", len(acked))
		}
		if st := w.Status(); st.Bytes > st.Limit {
			t.Errorf("%+v", st)
		}
		if _, err := w.Ready(); err == nil {
			t.Error("a full spool is ready")
		}
		db.set(back)
		time.Sleep(10 * time.Second)
		if diff := cmp.Diff(acked, db.has()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if _, err := w.Ready(); err != nil {
			t.Errorf("Ready: %v", err)
		}
	})
}

// A disk without room refuses and, as soon as it has some, takes again.
func TestDiskFullAndBack(t *testing.T) {
	opened(t, Options{}, func(t *testing.T, w *Writer, db *database, disk *liar) {
		db.set(away)
		appendOne(t, w, decision("c", 1))
		disk.mu.Lock()
		disk.fail = func(int, string) error { return errIO }
		disk.mu.Unlock()
		for n := 2; n < 5; n++ {
			if e := appendOne(t, w, decision("c", n)); !errors.Is(e.Err, store.ErrUnavailable) {
				t.Errorf("record %d: %v", n, e.Err)
			}
		}
		if _, err := w.Ready(); err == nil {
			t.Error("a broken disk is ready")
		}
		disk.mu.Lock()
		disk.fail = nil
		disk.mu.Unlock()
		time.Sleep(10 * time.Second) // no call is made, and it is found out all the same
		if _, err := w.Ready(); err != nil {
			t.Errorf("Ready: %v", err)
		}
		if e := appendOne(t, w, decision("c", 5)); e.Err != nil {
			t.Errorf("record 5: %v", e.Err)
		}
		db.set(back)
		time.Sleep(10 * time.Second)
		if diff := cmp.Diff([]string{"c-000001", "c-000005"}, db.has()); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// What cannot be handed over stays for the next start, which needs no telling.
func TestLeftForTheNextStart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "spool")
	db := newDatabase()
	db.away = true
	open := func() *Writer {
		files, err := Directory(dir)
		if err != nil {
			t.Fatal(err)
		}
		w, err := Open(db, files, Options{Limits: Limits{Segment: 4 << 10}})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	w := open()
	if _, err := Directory(dir); !errors.Is(err, ErrLocked) {
		t.Errorf("a second process: %v", err)
	}
	var want []string
	for n := range 30 {
		if e := appendOne(t, w, decision("c", n)); e.Err != nil {
			t.Fatal(e.Err)
		}
		want = append(want, fmt.Sprintf("c-%06d", n))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	db.set(back)
	w = open()
	for deadline := time.Now().Add(20 * time.Second); w.Status().Queued && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, db.has()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
