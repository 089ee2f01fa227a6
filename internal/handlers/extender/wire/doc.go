// Package wire reads and writes the bodies of the scheduler-extender protocol (ExtenderArgs,
// ExtenderFilterResult, HostPriorityList, ExtenderPreemptionArgs/Result, ExtenderBindingArgs/Result
// of k8s.io/kube-scheduler/extender/v1).
//
// kube-scheduler waits for /filter in its one scheduling goroutine, so the bytes have to cost
// little: bodies are validated in one pass, names are resolved to the caller's rows without a
// string each, Pods and Nodes are cut out as raw JSON, and a Node whose bytes have been seen before
// isn't even scanned. The behaviour is encoding/json's: keys match in any case, unknown keys are
// ignored, of duplicate keys the last wins, invalid UTF-8 reads as U+FFFD. The deviations are
// deliberate:
//
//   - A body of `null` is refused: it is no object of the protocol.
//   - A duplicate key replaces the whole earlier value where encoding/json would merge two objects
//     or overwrite a slice element by element. The maps of ExtenderPreemptionArgs do merge, key by
//     key, as encoding/json's maps do.
//   - Limits apply, and nesting is never deeper than 10,000, encoding/json's own bound.
//   - Pods and Nodes stay raw. They are well-formed JSON objects; whether their fields have the
//     right types is found when they are decoded.
//
// Everything parsed may share memory with the body, which therefore has to stay untouched as long
// as the result is used.
package wire
