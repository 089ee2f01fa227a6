// Package kubeobj holds the defaults and the validation of pods: what an API server fills in and
// what it refuses. A pod is validated in one of two ways. As admitted is what a create or an update
// has to pass. As stored is for a pod that an API server took before, of which only the fields that
// decisions read are present.
package kubeobj
