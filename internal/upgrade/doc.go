// Package upgrade tells what another release of Kubernetes changes: in answers, by comparing them
// and finding the behaviour that makes the difference, and in the objects of a cluster.
package upgrade
