package groupcommit

import (
	"time"
)

// Options tunes a Group; zero fields take the defaults.
type Options struct {
	// MaxBatch is the most entries in one transaction. 0: 256.
	MaxBatch int
	// CallersWrite lets a caller that waits for its entry write what is queued, where no other
	// does. It is for a store in this process: a caller that writes does not look at its context.
	CallersWrite bool
	// Queue is the most entries that are accepted and not yet taken into a
	// batch; beyond it Submit waits. 0: 4096.
	Queue int
	// ObserveFunc, if set, is told of each batch from who writes it: how
	// many entries, how long the store took, and the batch's error.
	ObserveFunc func(entries int, took time.Duration, err error)
}

func (o Options) withDefaults() Options {
	if o.MaxBatch <= 0 {
		o.MaxBatch = 256
	}
	if o.Queue <= 0 {
		o.Queue = 4096
	}
	if o.ObserveFunc == nil {
		o.ObserveFunc = func(int, time.Duration, error) {}
	}
	return o
}
