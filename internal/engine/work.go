package engine

import (
	"errors"
	"fmt"
	"math"

	corev1 "k8s.io/api/core/v1"

	"berth/internal/engine/state"
)

// ErrStopped is the error of a decision that ended because its caller's context ended. It wraps the
// context's error. There is no answer then, neither that the pod fits nor that it does not.
var ErrStopped = errors.New("the decision was given up")

// WorkError is the error of a decision that takes more steps than Options.MaxSteps allows.
type WorkError struct{ Max int64 }

// Error implements error.
func (e *WorkError) Error() string {
	return fmt.Sprintf("the decision takes more than %d steps of work", e.Max)
}

// stride is the number of steps between two checks of the context. A step is about one node or one
// value judged by one rule, some ten nanoseconds.
const stride = 4096

// stop is the panic that ends a decision from within: rules and loops would otherwise have to
// return an error that none of them can handle. It never leaves this package.
type stop struct{ err error }

// Work counts steps before they are done. It ends the decision where they exceed its bound, or its
// caller's context has ended. The number must not depend on what memos hold, so that a
// question is refused always or never.
func (q *Query) Work(steps int) {
	q.steps += int64(steps)
	if q.steps < q.nextLook {
		return
	}
	q.nextLook = q.steps + stride
	if most := q.Options.MaxSteps; most > 0 && q.steps > most && !q.explaining {
		panic(stop{&WorkError{most}})
	}
	q.checkContext()
}

// Steps returns the number of steps so far.
func (q *Query) Steps() int64 { return q.steps }

// Worked counts steps that an earlier decision took for this one.
func (q *Query) Worked(steps int64) { q.steps += steps }

// checkContext ends the decision where its caller's context has ended. It is called by loops over
// the tables, whose length depends on other pods and on history and is no work of the question's.
func (q *Query) checkContext() {
	if ctx := q.Options.Context; ctx != nil && ctx.Err() != nil && q.nextLook < answered {
		panic(stop{fmt.Errorf("%w: %w", ErrStopped, ctx.Err())})
	}
}

// answered is the value of Query.nextLook once there is a decision, whose explanation nothing
// stops.
const answered = math.MaxInt64

// Answered lets nothing stop the methods that explain the decision from then on.
func (q *Query) Answered() { q.nextLook = answered }

// Caught, deferred, turns what ended the function into its error. The query is Answered then.
func (q *Query) Caught(err *error) {
	q.Answered()
	recovered(recover(), err)
}

// caught turns a stop into its error.
func caught(err *error) { recovered(recover(), err) }

func recovered(p any, err *error) {
	switch p := p.(type) {
	case nil:
	case stop:
		*err = p.err
	default:
		panic(p)
	}
}

// TermRows is NodeSet.TermRows with its work counted and the caller's context checked meanwhile.
func (q *Query) TermRows(term *corev1.NodeSelectorTerm) (rows state.Bits, ok bool) {
	for i := range term.MatchExpressions {
		e := &term.MatchExpressions[i]
		steps := 1 + len(e.Values)
		if e.Operator != corev1.NodeSelectorOpIn {
			steps += len(q.Nodes.Column(e.Key).Values)
		}
		q.Work(steps)
	}
	return q.Nodes.FindTermRows(term, q.checkContext)
}

// NodeSelectorRows is NodeSet.NodeSelectorRows with its work counted.
func (q *Query) NodeSelectorRows(sel *corev1.NodeSelector) state.Bits {
	out := state.NewBits(q.Nodes.Len())
	for i := range sel.NodeSelectorTerms {
		if rows, ok := q.TermRows(&sel.NodeSelectorTerms[i]); ok {
			out.Or(rows)
		}
	}
	return out
}
