// Package podlife holds the pure rules about one pod's life outside scheduling:
// what an API server admits and stores, and the priority classes it looks at.
// Nothing here reads a clock, a file or a network; the same input gives the
// same answer.
package podlife
