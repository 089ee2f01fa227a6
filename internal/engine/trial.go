package engine

import "berth/internal/engine/state"

// Trier is a filter whose verdict on a node depends on the pods there, so that evictions may change
// it. Other filters judge a node the same whatever pods it has.
type Trier[S any] interface {
	Filterer[S]
	// Try returns a trial for single nodes; state is the PreFilter state.
	Try(q *Query, state S) Trial
}

// Trial judges one node while pods leave it and come back. It reads the counts of PreFilter and one
// row's columns, and writes to neither. What it changes is its own, and Begin resets it
// (k8s.io/kube-scheduler/framework PreFilterExtensions AddPod, RemovePod).
type Trial interface {
	// Begin starts with a row as the state has it, together with the pods nominated to it.
	Begin(row int32, nominated []*state.Pod)
	// Move adds a pod to the node (n = 1) or removes it (n = -1).
	Move(p *state.Pod, n int32)
	// AffectedBy reports whether moving pods of a class can ever change Fits, on any node.
	AffectedBy(c *state.Class) bool
	// Fits reports whether the pod passes the filter now.
	Fits() bool
	// Verdict returns the code and reasons of Filter now; Success without any.
	Verdict() (Code, []string)
}

// Measurer is a Trier that is mainly a comparison of amounts. The pod fits where one more pod is
// allowed, need is left of every resource, and rest, which judges only what need leaves out, fits
// too. rest is nil where nothing is left out.
type Measurer interface {
	Rule
	Measure(q *Query) (need state.Amount, rest Trial)
}
