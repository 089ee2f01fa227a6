package memory

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// runtimeMemory is what a budget asks of the runtime; tests put another in its place.
type runtimeMemory interface {
	// heap returns what the last collection found in use, and what is allocated now, garbage
	// included.
	heap() (live, allocated int64)
	// mapped is what the runtime holds of the system's memory.
	mapped() int64
	collect()
	// release collects and gives all that is free back to the system.
	release()
	setLimit(n int64)
}

type goRuntime struct{}

func (goRuntime) heap() (live, allocated int64) {
	return read("/gc/heap/live:bytes", "/memory/classes/heap/objects:bytes")
}

func (goRuntime) mapped() int64 {
	total, released := read("/memory/classes/total:bytes", "/memory/classes/heap/released:bytes")
	return total - released
}

func (goRuntime) collect()         { runtime.GC() }
func (goRuntime) release()         { debug.FreeOSMemory() }
func (goRuntime) setLimit(n int64) { debug.SetMemoryLimit(n) }

func read(a, b string) (x, y int64) {
	s := []metrics.Sample{{Name: a}, {Name: b}}
	metrics.Read(s)
	return int64(s[0].Value.Uint64()), int64(s[1].Value.Uint64()) //nolint:gosec // no heap has 2^63 bytes
}
