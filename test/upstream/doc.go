// Package upstream compares the speed of decisions with kube-scheduler's own, in one process over
// one cluster (make bench-upstream).
package upstream
