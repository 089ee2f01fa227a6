// Package bind binds pods to nodes. In a ledger a bind is the cluster's next
// revision. Where an apiserver keeps the cluster, a bind is an attempt and its
// result, each on record before the next step.
package bind
