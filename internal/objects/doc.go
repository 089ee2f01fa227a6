// Package objects takes Kubernetes objects in: it splits what kubectl prints
// (a List in JSON or YAML, or multi-document YAML) into objects as a stream,
// keeps of each object only the fields that a decision reads (an allow-list,
// so that nothing else is ever decoded or stored), defaults and validates it as
// an apiserver would, and gives it one canonical encoding.
package objects
