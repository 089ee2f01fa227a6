// Package suggest explains a decision to people. It groups the rejected nodes by verdict, and finds
// the smallest single changes after which the pod would fit, each tried by the engine. It is pure,
// and no part of it is in an answer's digest.
package suggest
