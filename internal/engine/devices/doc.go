// Package devices finds devices for the claims of one pod: what is published and
// what is taken, which devices a node reaches, which of them a request selects,
// and which of these can be had together (k8s.io/dynamic-resource-allocation
// structured, in the form that kube-scheduler uses at its default feature
// gates). It is as pure as the engine that it serves: no clock, no randomness,
// and the same answer for the same objects.
package devices
