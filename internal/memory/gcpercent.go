package memory

import (
	"os"
	"runtime"
	"runtime/debug"
)

const (
	// seldomBelow is the heap up to which collections are rarer than by Go's default: of a small
	// heap they come so often that they take a fifth of a decision's processor time.
	seldomBelow = 128 << 20
	// defaultPercent is Go's, mostPercent ours: a heap of five times what is live.
	defaultPercent, mostPercent = 100, 400
)

// RaiseGCPercent has the collector wait until the heap has 128 MiB, or an eighth of the memory
// limit if that is less, or five times what is live if that is less. A heap that is larger is
// collected at twice what is live, as without it. After each collection it sets GOGC anew. It
// returns false, and changes nothing, where the environment sets GOGC. Call it once.
func RaiseGCPercent() bool {
	if os.Getenv("GOGC") != "" {
		return false
	}
	p := &gcPercent{percent: defaultPercent, set: debug.SetGCPercent}
	p.afterCollection()
	return true
}

// gcPercent is GOGC as it was set last.
type gcPercent struct {
	percent int
	set     func(percent int) (before int)
}

// sentinel is not reachable after it was made, so that the next collection finds it. It has a
// pointer, since the runtime may keep small objects without one together with others.
type sentinel struct{ _ *int }

func (p *gcPercent) afterCollection() {
	heap := int64(seldomBelow)
	if total, ok := Total(); ok {
		heap = min(heap, total/8)
	}
	live, _ := goRuntime{}.heap()
	p.adjust(live, heap)
	runtime.AddCleanup(&sentinel{}, (*gcPercent).afterCollection, p)
}

// adjust sets the percentage with which a live heap grows to another, both in bytes. Setting it
// stops the program for a moment, which a small change is not worth.
func (p *gcPercent) adjust(live, heap int64) {
	next := mostPercent
	if live > 0 {
		next = int(min(max(100*heap/live-100, defaultPercent), mostPercent))
	}
	if change := next - p.percent; change > p.percent/10 || -change > p.percent/10 || next == defaultPercent && change != 0 {
		p.percent = next
		p.set(next)
	}
}
