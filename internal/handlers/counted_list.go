package handlers

import (
	"context"
	"encoding/json"

	"berth/internal/steps"
)

// countedElement is an element of a list that a caller can make long. It marshals as the element
// does, and ends the marshalling of its list once the context of the call has ended.
type countedElement[E any] struct {
	element E
	count   *steps.Counter
}

// countedSteps is what marshalling an element takes, in steps of a Counter.
const countedSteps = 20

// countedList is a list whose marshalling ends with ctx.
func countedList[E any](ctx context.Context, list []E) []countedElement[E] {
	count, out := steps.Of(ctx), make([]countedElement[E], len(list))
	for i, e := range list {
		out[i] = countedElement[E]{e, count}
	}
	return out
}

// MarshalJSON returns the element's JSON, or the error of the call's context.
func (c countedElement[E]) MarshalJSON() ([]byte, error) {
	if err := c.count.Take(countedSteps); err != nil {
		return nil, err //nolint:wrapcheck // it is the caller's own
	}
	return json.Marshal(c.element) //nolint:wrapcheck // it is a part of the caller's value
}
