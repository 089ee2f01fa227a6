package spool

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/store"
)

// TestRetry: records in quarantine are listed with what is known of them, handed in when the
// database takes them, with their profiles, and kept with their new reasons when it does not.
func TestRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir, db := filepath.Join(t.TempDir(), "spool"), newDatabase()
		fs, err := Directory(dir)
		if err != nil {
			t.Fatal(err)
		}
		w, err := Open(db, fs, Options{})
		if err != nil {
			t.Fatal(err)
		}
		db.set(func(d *database) {
			d.away, d.missing["c-000002"], d.missing["c-000003"], d.poison = true, true, true, "c-000004"
		})
		for n := 1; n <= 5; n++ {
			e := decision("c", n)
			if n > 1 {
				e.Profile = &store.Profile{Digest: "sha256:" + e.Decision.ID, Payload: []byte("p")}
			}
			appendOne(t, w, e)
		}
		db.set(func(d *database) { d.away = false })
		time.Sleep(10 * time.Second)
		list, err := Quarantined(dir)
		if err != nil || len(list) != 3 || w.Status().Quarantined != 3 {
			t.Fatalf("%+v, %v, %+v", list, err, w.Status())
		}
		if r := list[0]; r.Kind != "decision" || r.ID != "c-000002" || r.Cluster != "c" || r.At.IsZero() || r.Reason == "" {
			t.Errorf("%+v", r)
		}
		retry := func(wantIn, wantLeft int) {
			t.Helper()
			in, left, err := Retry(t.Context(), dir, db)
			if err != nil || len(in) != wantIn || len(left) != wantLeft {
				t.Errorf("in %+v, left %+v, %v", in, left, err)
			}
			time.Sleep(2 * time.Second) // the spool looks again
			if s := w.Status(); s.Quarantined != int64(wantLeft) || s.EverQuarantined != 3 {
				t.Errorf("%d left: %+v", wantLeft, s)
			}
		}
		retry(0, 3)
		db.set(func(d *database) { d.away = true })
		if _, _, err := Retry(t.Context(), dir, db); !errors.Is(err, store.ErrUnavailable) {
			t.Errorf("while the database is away: %v", err)
		}
		db.set(func(d *database) { d.away = false; delete(d.missing, "c-000002") })
		retry(1, 2)
		db.set(func(d *database) { clear(d.missing); d.poison = "" })
		retry(2, 0)
		if n := len(db.has()); n != 5 || !db.profiles["sha256:c-000002"] || !db.profiles["sha256:c-000004"] {
			t.Errorf("%d records, profiles %v", n, db.profiles)
		}
		retry(0, 0)
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestRetryKeeps: what has no form stays, and a file that cannot be read ends the retry.
func TestRetryKeeps(t *testing.T) {
	dir := t.TempDir()
	if _, err := Quarantined(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
	file := filepath.Join(dir, "quarantine-0000000000000001-10.jsonl")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const hole = `{"reason":"a group's checksum is wrong","bytes":"AAEC"}` + "\n"
	write(hole)
	in, left, err := Retry(context.Background(), dir, newDatabase())
	if err != nil || len(in) != 0 || len(left) != 1 || left[0].Kind != "unreadable" {
		t.Errorf("%+v %+v %v", in, left, err)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != hole {
		t.Errorf("%q, %v", got, err)
	}
	write("no JSON\n")
	if _, _, err := Retry(context.Background(), dir, newDatabase()); err == nil {
		t.Error("a file that is damaged is no error")
	}
}
