package sqlite

import (
	"fmt"
	"net/url"
)

// use is what a connection is for.
type use int

const (
	writing use = iota
	reading
	// scanning reads what it will not read again, page by page: with few pages of its own it uses
	// them in turn, where it would allocate each one and give all back after the next commit.
	scanning
)

// scanners is how many connections scan at most: a batch replay has two that read at once. scanKiB
// is the cache of each.
const scanners, scanKiB = 4, 256

// dsn puts every pragma where each connection of a pool gets it: a PRAGMA sent
// through a pool reaches one connection only. There is no mmap_size: a fault
// in a mapping kills the process instead of failing a call.
func dsn(path string, o Options, u use) string {
	q := url.Values{}
	q.Add("_pragma", fmt.Sprintf("busy_timeout(%d)", o.BusyTimeout.Milliseconds()))
	q.Add("_pragma", "foreign_keys(1)")
	cache := o.cacheKiB(16<<10, 2*o.Readers)
	if u == scanning {
		cache = scanKiB
	}
	if u != writing {
		q.Add("_pragma", "query_only(1)")
		q.Add("_pragma", fmt.Sprintf("cache_size(-%d)", cache))
	} else {
		q.Add("_pragma", "journal_mode(WAL)")
		q.Add("_pragma", "synchronous(FULL)")
		q.Add("_pragma", fmt.Sprintf("cache_size(-%d)", o.cacheKiB(64<<10, 2)))
		// Pages between checkpoints: the tail of each index is written back once
		// in 16 MiB of log rather than once in 4.
		q.Add("_pragma", "wal_autocheckpoint(4000)")
		q.Set("_txlock", "immediate")
	}
	// A path may hold ?, # and %, which would end or change a URI.
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + q.Encode()
}

// cacheKiB is the cache of one connection, the share-th part of what scanning leaves of all; most
// where there is more.
func (o Options) cacheKiB(most int64, share int) int64 {
	if o.CacheBytes <= 0 {
		return most
	}
	return min(most, max((o.CacheBytes>>10-scanners*scanKiB)/int64(share), 256))
}
