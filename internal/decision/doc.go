// Package decision evaluates questions about pods: a Question is prepared on a
// view of a cluster, the engine decides, and the Outcome is written out as an
// Answer or as what a bind changes. The package is pure: it reads no clock and no
// store and records nothing, so that a server, a replay and the command line give
// the same answer to the same question.
package decision
