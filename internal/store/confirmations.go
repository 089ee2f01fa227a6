package store

import "context"

// Confirmation is the last answer to the question whether a cluster's newest
// revision holds everything that its apiserver has stored.
type Confirmation struct {
	// Wanted is the number of the last question, Given that of the last one
	// answered: it and all before it are.
	Wanted, Given int64
	// Revision held all that the apiserver had when question Given was asked.
	Revision int64
}

// Confirmations carry questions from servers that do not follow a cluster to the
// one that does.
type Confirmations interface {
	// WantConfirmation asks, and returns the number of the question.
	WantConfirmation(ctx context.Context, cluster string) (int64, error)
	// Confirm answers all questions up to one. An older answer changes nothing.
	Confirm(ctx context.Context, cluster string, question, revision int64) error
	// Confirmation returns the last answer; the zero value where there was no question.
	Confirmation(ctx context.Context, cluster string) (Confirmation, error)
}
