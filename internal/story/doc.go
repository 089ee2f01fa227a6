// Package story tells one pod's story from the newest revision of its cluster and
// from the decision log: what it waits for, what was tried, and what would have
// to change for it to run. It writes nothing.
package story
