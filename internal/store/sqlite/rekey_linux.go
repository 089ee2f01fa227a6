package sqlite

import (
	"unsafe"

	"modernc.org/libc"
	codes "modernc.org/sqlite/lib"
)

// rekeyBelow is xRekey of SQLite's page cache; 0 until wrapPageCache has run.
var rekeyBelow uintptr

// wrapPageCache has SQLite's page cache keep its largest key over pages that are put in order.
// Balancing an index, SQLite swaps the numbers of two pages by way of pendingPage's, which no page
// has. The cache takes that for its largest key, and goes through all pages in the commit to drop
// those behind the end of the file. It has to be called before SQLite is initialized; after that
// nothing changes, and such commits stay slow.
func wrapPageCache(tls *libc.TLS) {
	var m codes.Tsqlite3_pcache_methods2
	size := codes.Tsqlite3_uint64(unsafe.Sizeof(m))
	own := libc.Xmalloc(tls, codes.Tsize_t(size)) // SQLite's own malloc would initialize it
	args := libc.Xmalloc(tls, codes.Tsize_t(unsafe.Sizeof(own)))
	defer libc.Xfree(tls, args)
	defer libc.Xfree(tls, own) // SQLite copies it
	if own == 0 || args == 0 || codes.Xsqlite3_config(tls, codes.SQLITE_CONFIG_GETPCACHE2, libc.VaList(args, own)) != codes.SQLITE_OK {
		return
	}
	rekeyBelow = at[codes.Tsqlite3_pcache_methods2](own).FxRekey
	at[codes.Tsqlite3_pcache_methods2](own).FxRekey = pointer(rekey)
	codes.Xsqlite3_config(tls, codes.SQLITE_CONFIG_PCACHE2, libc.VaList(args, own))
}

func rekey(tls *libc.TLS, cache, page uintptr, from, to uint32) {
	c := at[codes.TPCache1](cache)
	largest := c.FiMaxKey
	(*function[func(*libc.TLS, uintptr, uintptr, uint32, uint32)](&rekeyBelow))(tls, cache, page, from, to)
	if to == pendingPage(c) { // for a moment: the page has another number after the swap
		c.FiMaxKey = largest
	}
}

// pendingPage is the number of the page with SQLite's locks, which holds nothing.
func pendingPage(c *codes.TPCache1) uint32 { return 1<<30/uint32(c.FszPage) + 1 }
