package revision

import (
	"fmt"
	"time"
)

// BehindError is of a rejection that was not given: the state was not shown to
// be as new as the call.
type BehindError struct {
	Cluster string
	Waited  time.Duration
	Cause   error
}

// Error implements error.
func (e *BehindError) Error() string {
	return fmt.Sprintf("the state of cluster %s was not shown to be as new as this call within %s, so nothing is rejected: ask again (%v)", e.Cluster, e.Waited, e.Cause)
}

// Unwrap returns the reason why it was not shown.
func (e *BehindError) Unwrap() error { return e.Cause }
