package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"berth/internal/ops/doctor"
	"berth/internal/store/postgres"
	"berth/internal/store/sqlite"
	"berth/internal/words"
)

// examineStore checks where records are kept. It changes nothing and needs no server to run.
func (s *settings) examineStore(ctx context.Context) []doctor.Finding {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if s.DatabaseURL == "" {
		return slices.Concat(doctor.Disk("--data-dir", s.DataDir, sqlite.CheckDirectory), s.examineFile(ctx))
	}
	return slices.Concat(examineDatabase(ctx, s.DatabaseURL), doctor.Disk("--data-dir", s.DataDir, nil), doctor.Disk("--spool-dir", s.spoolDir(), nil))
}

// examineFile checks the embedded store. One that a server has open is left alone.
func (s *settings) examineFile(ctx context.Context) []doctor.Finding {
	r := &doctor.Report{Check: "store"}
	path := filepath.Join(s.DataDir, sqlite.FileName)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		r.Good("there is none at %s yet; the server makes it", path)
		return r.Findings
	}
	switch st, err := s.backend().schema(ctx); {
	case errors.Is(err, sqlite.ErrLocked):
		r.Good("%s is open in a running server", path)
	case err != nil:
		r.Fail("Restore the file from a copy, or choose another --data-dir.", "%v", err)
	case st.Version > st.Latest:
		r.Fail("Start the newer program, or migrate down with it.", "%s has schema %d, and this program knows %d", path, st.Version, st.Latest)
	default:
		r.Good("%s has schema %d of %d", path, st.Version, st.Latest)
	}
	return r.Findings
}

// remedies are those of a database that the server refuses.
var remedies = map[error]string{
	postgres.ErrStandby:           "Connect to the primary.",
	postgres.ErrFsync:             "Set fsync = on in postgresql.conf and restart Postgres.",
	postgres.ErrSynchronousCommit: "Set synchronous_commit = on for the server, the database and the role.",
	postgres.ErrFullPageWrites:    "Set full_page_writes = on in postgresql.conf and reload.",
	postgres.ErrPooler:            "Connect to Postgres itself, or use the pooler's session mode.",
	postgres.ErrEncoding:          "Create the database with ENCODING 'UTF8'.",
	postgres.ErrUnmigrated:        "Run server migrate up.",
	postgres.ErrSchema:            "Start the newer program.",
}

func remedyOf(err error) string {
	for is, remedy := range remedies {
		if errors.Is(err, is) {
			return remedy
		}
	}
	return "Look at the database's log."
}

func examineDatabase(ctx context.Context, url string) []doctor.Finding {
	r := &doctor.Report{Check: "database"}
	x, err := postgres.Examine(ctx, url)
	if err != nil {
		r.Fail("Check DATABASE_URL, the network and the role's rights: psql \"$DATABASE_URL\".", "%v", err)
		return r.Findings
	}
	for _, err := range append(slices.Concat(x.Hard, x.Soft), x.Schema) {
		if err != nil {
			r.Fail(remedyOf(err), "%v", err)
		}
	}
	switch {
	case x.Free < 2:
		r.Fail("Raise max_connections or the role's limit, or end other sessions.", "%s left for a server, which needs 2 at least", words.Plural(max(x.Free, 0), "connection"))
	case x.Free < postgres.NeededConns:
		r.Warn("Raise max_connections or the role's limit.", "%s left, and a server opens up to %d", words.Plural(x.Free, "connection"), postgres.NeededConns)
	}
	if len(r.Findings) == 0 {
		r.Good("Postgres %s, schema current, settings durable, %s, %d connections free", x.Version, words.Size(x.Bytes), x.Free)
	}
	return append(r.Findings, doctor.Clock("the database", x.Ahead, x.Within)...)
}
