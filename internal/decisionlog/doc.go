// Package decisionlog answers questions and keeps a record of each: what was asked,
// of which revision, and a fingerprint of the answer. Since the engine is pure,
// the record is enough to give the whole answer again, and to say where it
// would differ today or under another configuration.
//
// An answer is handed out only when its record is durable.
package decisionlog
