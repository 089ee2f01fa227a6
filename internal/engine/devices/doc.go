// Package devices allocates devices to the claims of one pod. It knows which devices are
// published and allocated, which of them a node reaches, which a request selects, and which can
// be allocated together (k8s.io/dynamic-resource-allocation structured, in the form that a
// release of kube-scheduler uses at its feature gates). Like the engine it is pure: no clock, no
// randomness, and the same result for the same objects.
package devices
