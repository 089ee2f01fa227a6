// Package handlers is berth's face over HTTP: the extender protocol of kube-scheduler and the REST
// API. It decodes, bounds what comes in, calls the rooms behind it and writes their answers; it
// decides nothing itself. All routes are in router.go, one file a subject beside it. A handler
// returns an error and one adapter writes it.
package handlers
