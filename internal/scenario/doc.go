// Package scenario runs what comes next in a cluster: pods arrive at a fork of a recorded state,
// are decided one after the other as kube-scheduler would, and each outcome changes the fork. What
// fits, what waits and why, and how full the nodes are is counted.
//
// Nothing is judged here: each attempt is a decision of package engine, on the state that the
// attempts before it made. Nothing is written to the cluster either. The package is pure: it has no
// clock, no store and no log, and the same scenario has the same result, byte for byte.
//
// Where pods arrive, time is ordinal: attempts have an order and take no time, victims of a
// preemption are gone before the next attempt, and no controller acts. Drains, lost nodes and
// rollouts run in a world of their own seconds (package world).
package scenario
