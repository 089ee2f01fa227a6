package sqlite

import (
	"fmt"
	"testing"

	"modernc.org/libc"
	codes "modernc.org/sqlite/lib"

	"berth/internal/store"
)

// registered is before other tests open files by the driver alone, which initializes SQLite.
var registered = registerVFS()

// swaps counts the pages that SQLite gave the number of pendingPage, and wrong those of them after
// which that was the largest key of the cache, as watchedRekey above unwatched saw them.
var (
	swaps, wrong int
	unwatched    uintptr
)

func watchedRekey(tls *libc.TLS, cache, page uintptr, from, to uint32) {
	c := at[codes.TPCache1](cache)
	switch {
	case to == pendingPage(c):
		swaps++
	case c.FiMaxKey >= pendingPage(c): // the first of the three numbers of a swap is kept
		wrong++
	}
	(*function[func(*libc.TLS, uintptr, uintptr, uint32, uint32)](&unwatched))(tls, cache, page, from, to)
}

// Pages that SQLite puts in order leave the largest key of its cache what it is.
func TestPagesInOrder(t *testing.T) {
	if registered != nil || rekeyBelow == 0 {
		t.Fatalf("the page cache is SQLite's own (%v)", registered)
	}
	s := openAt(t, t.TempDir())
	unwatched, rekeyBelow = rekeyBelow, pointer(watchedRekey)
	defer func() { rekeyBelow = unwatched }()
	for batch := range int64(40) {
		entries := make([]*store.Entry, 50)
		for k := range entries {
			i := 50*batch + int64(k)
			d := benchDecision(i)
			d.Pod = fmt.Sprintf("pod-%04d", i*7919%2000)
			entries[k] = &store.Entry{Decision: d}
		}
		if err := s.Append(t.Context(), entries); err != nil {
			t.Fatal(err)
		}
	}
	if swaps == 0 || wrong > 0 {
		t.Errorf("%d pages were put in order, and %d changed the largest key", swaps, wrong)
	}
	var check string
	if err := s.reads.QueryRowContext(t.Context(), `PRAGMA integrity_check`).Scan(&check); err != nil || check != "ok" {
		t.Errorf("integrity_check: %s, %v", check, err)
	}
}
