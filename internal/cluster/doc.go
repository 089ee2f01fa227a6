// Package cluster keeps the revisions of clusters' states: it takes uploads,
// changes and binds, hands out immutable views that are ready for decisions,
// and writes each revision so that any of them can be had again.
//
// One writer at a time works on a cluster's newest view, which it replaces at
// once; the answers wait for their own record outside of the writer's lock.
// Every revision names its parent's token, so that a write whose parent was
// refused is refused as well.
package cluster
