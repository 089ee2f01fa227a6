// Package naive answers what the engine answers, the slow and obvious way: over
// plain v1 objects, node by node and pod by pod, without columns, interning or
// sharing. The engine is checked against it, and measured against it.
//
// It follows one cycle of kube-scheduler v1.36 as the engine does, but shares no
// code with it beyond the types of the answer.
package naive
