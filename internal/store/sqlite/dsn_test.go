package sqlite

import (
	"net/url"
	"strconv"
	"strings"
	"testing"
)

// TestCaches: what all connections keep stays within the bound that was given, since no collector
// knows of it.
func TestCaches(t *testing.T) {
	size := func(o Options, u use) int {
		t.Helper()
		_, query, _ := strings.Cut(dsn("/x", o, u), "?")
		q, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range q["_pragma"] {
			if kib, ok := strings.CutPrefix(p, "cache_size(-"); ok {
				n, err := strconv.Atoi(strings.TrimSuffix(kib, ")"))
				if err != nil {
					t.Fatal(err)
				}
				return n << 10
			}
		}
		t.Fatal("no cache_size")
		return 0
	}
	for _, bytes := range []int64{32 << 20, 64 << 20, 1 << 40} {
		o := Options{Readers: 8, CacheBytes: bytes}
		sum := int64(size(o, writing) + o.Readers*size(o, reading) + scanners*size(o, scanning))
		if sum > bytes || sum < min(bytes, 192<<20) {
			t.Errorf("%d of %d bytes", sum, bytes)
		}
	}
	if o := (Options{Readers: 8}); size(o, writing) != 64<<20 || size(o, reading) != 16<<20 {
		t.Error("without a bound they are not as large as ever")
	}
}
