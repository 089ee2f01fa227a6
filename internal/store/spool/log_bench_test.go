package spool

import (
	"database/sql"
	"path/filepath"
	"syscall"
	"testing"

	_ "modernc.org/sqlite" // what the log is compared with
)

// BenchmarkLog writes groups of 64 records durably, to the spool's own log and to a table of an
// SQLite file. cpu-us is what does not wait for the disk.
func BenchmarkLog(b *testing.B) {
	run := func(name string, open func(b *testing.B) func(recs []record) error) {
		b.Run(name, func(b *testing.B) {
			write := open(b)
			recs := recordsOf(b, "c", 0, 64)
			var before, after syscall.Rusage
			_ = syscall.Getrusage(syscall.RUSAGE_SELF, &before)
			n := 0
			for b.Loop() {
				if err := write(recs); err != nil {
					b.Fatal(err)
				}
				n += len(recs)
			}
			_ = syscall.Getrusage(syscall.RUSAGE_SELF, &after)
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "records/s")
			b.ReportMetric(float64(after.Utime.Nano()+after.Stime.Nano()-before.Utime.Nano()-before.Stime.Nano())/float64(n)/1000, "cpu-us/record")
		})
	}
	run("own", func(b *testing.B) func([]record) error {
		files, err := Directory(filepath.Join(b.TempDir(), "spool"))
		if err != nil {
			b.Fatal(err)
		}
		j, _, err := openJournal(files, Limits{Total: 1 << 40})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = j.close() })
		return func(recs []record) error { return j.append(recs, began) }
	})
	run("sqlite", func(b *testing.B) func([]record) error {
		db, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "spool.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
		if err != nil {
			b.Fatal(err)
		}
		db.SetMaxOpenConns(1)
		b.Cleanup(func() { _ = db.Close() })
		if _, err := db.Exec("CREATE TABLE log (seq INTEGER PRIMARY KEY, id TEXT NOT NULL, payload BLOB NOT NULL) STRICT"); err != nil {
			b.Fatal(err)
		}
		return func(recs []record) error {
			tx, err := db.Begin()
			if err != nil {
				return err
			}
			put, err := tx.Prepare("INSERT INTO log (id, payload) VALUES (?, ?)")
			if err != nil {
				return err
			}
			defer func() { _ = put.Close() }()
			for _, r := range recs {
				if _, err := put.Exec(r.id, r.payload); err != nil {
					return err
				}
			}
			return tx.Commit()
		}
	})
}
