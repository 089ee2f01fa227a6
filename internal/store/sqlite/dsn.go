package sqlite

import (
	"fmt"
	"net/url"
)

// dsn puts every pragma where each connection of a pool gets it: a PRAGMA sent
// through a pool reaches one connection only. There is no mmap_size: a fault
// in a mapping kills the process instead of failing a call.
func dsn(path string, o Options, readOnly bool) string {
	q := url.Values{}
	q.Add("_pragma", fmt.Sprintf("busy_timeout(%d)", o.BusyTimeout.Milliseconds()))
	q.Add("_pragma", "foreign_keys(1)")
	if readOnly {
		q.Add("_pragma", "query_only(1)")
		q.Add("_pragma", "cache_size(-16384)") // KiB a connection
	} else {
		q.Add("_pragma", "journal_mode(WAL)")
		q.Add("_pragma", "synchronous(FULL)")
		q.Add("_pragma", "cache_size(-65536)")
		// Pages between checkpoints: the tail of each index is written back once
		// in 16 MiB of log rather than once in 4.
		q.Add("_pragma", "wal_autocheckpoint(4000)")
		q.Set("_txlock", "immediate")
	}
	// A path may hold ?, # and %, which would end or change a URI.
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
}
