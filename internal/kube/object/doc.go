// Package object reads Kubernetes objects. It splits what kubectl prints (a List in JSON or
// YAML, or multi-document YAML) into objects as a stream, and keeps of each only the fields that
// a decision reads: an allow-list, so that nothing else is decoded or stored. It sets defaults
// and validates as an API server does, and writes each object in one canonical encoding.
//
// A pod is validated in one of two ways. As admitted is what a create or an update has to pass. As
// stored is for a pod that an API server took before, of which only the fields that decisions read
// are present.
package object
