// Package revision keeps the revisions of clusters' states: it takes uploads, changes and binds,
// hands out immutable views that are ready for decisions, and writes each revision so that any of
// them can be had again.
//
// Every revision names its parent's token, so that a write whose parent was refused is refused as
// well. One writer at a time works on a cluster's newest view; the answers wait for their own
// record after the next writer has begun.
//
// What is known of a cluster's newest revision is in one of four positions:
//
//	            loaded              loaded by the writer
//	+-------+ ---------> +--------+ -------------------> +------+ <-+ submitted,
//	| empty |            | stored |                      | live |   | written
//	+-------+ <--------- +--------+ <------------------- +------+ --+
//	          evicted,        ^      refused, failed,       |
//	          forgotten       |      outdated, locked       | outcome unknown
//	                          |                             v
//	                          |         loaded       +-----------+
//	                          +--------------------- | uncertain |
//	                                                 +-----------+
//
// What each position means:
//
//   - empty: no revision is in memory. The next call reads one.
//   - stored: a revision in memory was the newest when it was read. Readers get it. A writer first
//     reads what others wrote since.
//   - live: a writer has read the newest revision, and each write extends the one before, which
//     may still be in flight. Readers get the newest that is durable. A cluster's first revision
//     is submitted from empty.
//   - uncertain: a write's outcome is unknown. Readers get what is known to be durable, and the
//     store is read until it answers.
//
// From every position a cluster that was deleted, or is another one by now, is forgotten: empty.
// Live and uncertain chains without writes in flight may be evicted, too.
//
// A chainState is the position with what belongs to it, and a transition is a pure function of a
// chainState and a message (messages.go). A chain holds its state behind an atomic pointer, which
// apply alone replaces: readers never wait, and no caller sees half of a transition.
package revision
