package sqlite

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"berth/internal/store"
)

// What is committed is in the files, whatever else uses them: a copy of them has it, small commits
// and large ones alike.
func TestCommitsAreInTheFiles(t *testing.T) {
	dir := t.TempDir()
	s := openAt(t, dir)
	for i, size := range []int{10, 120 << 10, 10, 360 << 10} {
		d := benchDecision(int64(i + 1))
		d.Input = make([]byte, size)
		e := &store.Entry{Decision: d}
		if err := s.Append(t.Context(), []*store.Entry{e}); err != nil || e.Err != nil {
			t.Fatal(err, e.Err)
		}
		copied := t.TempDir()
		for _, name := range []string{FileName, FileName + "-wal"} {
			b, err := os.ReadFile(filepath.Join(dir, name))
			if err == nil {
				err = os.WriteFile(filepath.Join(copied, name), b, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		db, err := sql.Open("sqlite", "file:"+filepath.Join(copied, FileName))
		if err != nil {
			t.Fatal(err)
		}
		var rows, bytes int
		err = db.QueryRowContext(t.Context(), `SELECT count(*), max(CASE id WHEN ? THEN length(input) END) FROM decisions`, d.ID).Scan(&rows, &bytes)
		if closeErr := db.Close(); err == nil {
			err = closeErr
		}
		if err != nil || rows != i+1 || bytes != size {
			t.Errorf("after commit %d a copy has %d rows, the newest of %d bytes, want %d: %v", i+1, rows, bytes, size, err)
		}
	}
}
