// Package podlife holds the pure rules about one pod's life outside scheduling, but for its
// admission: phases, conditions and restarts as the kubelet computes them, how a pod ends, the
// order of eviction under pressure, and what the garbage collector deletes. Nothing here reads a
// clock, a file or a network; the same input has the same answer.
package podlife
