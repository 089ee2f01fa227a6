// Package priorityclass keeps the priority classes that do not come with a snapshot:
// the REST resource's rules over the store, and a view in memory that
// decisions ask without waiting for anything.
package priorityclass
