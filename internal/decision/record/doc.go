// Package record records decisions and reads them again. A record has the
// question, the revision and a digest of the whole answer. Since the engine is
// pure, the record is enough to work the answer out again, and to show where it
// would differ today or under another configuration.
//
// An answer is handed out only when its record is durable.
package record
