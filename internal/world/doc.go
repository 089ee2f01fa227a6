// Package world lets a cluster go on: pods that leave, controllers that make others, and
// kube-scheduler which places them, on virtual time and in memory.
package world
