package memory

import (
	"os"
	"runtime"
	"runtime/debug"
	"sync"
)

// smallHeap is up to how many bytes a heap may grow before it is collected.
const smallHeap = 64 << 20

// usualPercent is what GOGC is where it is not set. The runtime lets every heap grow to
// leastAtUsual then, and to as much more or less as GOGC is.
const (
	usualPercent = 100
	leastAtUsual = 4 << 20
)

// GrowSmall lets a small heap grow to 64 MiB before it is collected, or to an eighth of the
// runtime's limit. A collection marks what is in use, however little garbage there is: a server of
// small clusters, which has 10 MiB in use, collected tens of times a second. A larger heap is
// collected when it has doubled, as before. Where GOGC is set, GrowSmall does nothing. Only the
// first call counts.
var GrowSmall = sync.OnceFunc(func() {
	if os.Getenv("GOGC") != "" {
		return
	}
	most := int64(smallHeap)
	if total, ok := Total(); ok {
		most = min(most, total/8)
	}
	adjust(most, usualPercent)
})

// adjust sets GOGC by what the last collection found, now and after each collection.
func adjust(most int64, before int) {
	live, _ := goRuntime{}.heap()
	stacks, globals := read("/gc/scan/stack:bytes", "/gc/scan/globals:bytes")
	percent := percentFor(most, live, live+stacks+globals)
	if percent < before || percent > before+before/8 { // each change stops all goroutines
		debug.SetGCPercent(percent)
		before = percent
	}
	runtime.AddCleanup(&collection{}, func(before int) { adjust(most, before) }, before)
}

// collection is what the next collection finds unused.
type collection struct{ _ *byte }

// percentFor returns the GOGC with which a heap grows to most bytes. The percentage is of all that
// a collection scans; live bytes of that are in the heap.
func percentFor(most, live, scanned int64) int {
	if live >= most || scanned <= 0 {
		return usualPercent
	}
	percent := min((most-live)*100/scanned, most*usualPercent/leastAtUsual)
	return int(max(usualPercent, percent))
}
