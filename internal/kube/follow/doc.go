// Package follow follows Kubernetes clusters through their apiservers: it lists
// and watches what decisions read, and writes what changed as revisions, many
// events in one. What changes nothing that a decision reads makes none.
//
// Of the servers that share a store one follows a cluster and the others see its
// revisions; when it goes, another takes over and reads the cluster anew, so that
// what is followed never goes back in time.
package follow
