// Package preempt finds the pods to evict for a pod that fits nowhere: the candidate nodes, a
// dry run on each with its reprieves, the choice among them, and their explanation. It also answers
// for nodes and victims that the caller names.
package preempt
