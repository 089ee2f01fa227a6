// Package explain writes decisions: the nodes with their verdicts and scores, the failures and the
// message. Everything is read off the columns of a Result, so two results with the same columns
// have the same explanation, byte for byte.
package explain
