package engine

import "berth/internal/engine/state"

// Trier is a filter whose verdict on a node depends on the pods there, so that
// evicting some may change it. The others judge a node the same whoever is on
// it.
type Trier[S any] interface {
	Filterer[S]
	// Try gives a judge of single nodes; state is what PreFilter gave.
	Try(q *Query, state S) Trial
}

// Trial judges one node while pods leave it and come back. It works on the
// counts that PreFilter made and on one row's columns, and writes to neither:
// what it changes is its own, and Begin forgets it
// (k8s.io/kube-scheduler/framework PreFilterExtensions AddPod, RemovePod).
type Trial interface {
	// Begin turns to a row as the state has it, with guests on it besides: pods
	// that are nominated to it.
	Begin(row int32, nominated []*state.Pod)
	// Move puts a pod on the node (n = 1) or takes it off (n = -1).
	Move(p *state.Pod, n int32)
	// AffectedBy says whether moving pods of a class can ever change Fits, on any node.
	AffectedBy(c *state.Class) bool
	// Fits says that nothing stands against the pod now.
	Fits() bool
	// Verdict says what does, in the words of Filter; Success without any.
	Verdict() (Code, []string)
}

// Measurer is a Trier that comes down to amounts in the main: the pod fits where
// one more pod is allowed, need is left of everything, and rest, which only
// judges what need leaves out, fits too. rest is nil where nothing is left out.
type Measurer interface {
	Rule
	Measure(q *Query) (need state.Amount, rest Trial)
}
