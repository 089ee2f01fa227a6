// Package planted holds bugs on purpose, one at a time, so that it can be shown
// that the tests find them. A binary built without the tag planted has none:
// On is a constant false there, and the compiler drops what it guards.
package planted

// Fault names a bug.
type Fault string

// Plant is a fault with the test that must fail while it is on.
type Plant struct {
	Fault   Fault
	What    string // what goes wrong, in a sentence
	Package string // the test's package, such as ./internal/store/spool
	Test    string // the test's name, as for go test -run
}

// All lists the faults. Each is guarded by On at one place in the code.
var All = []Plant{}
