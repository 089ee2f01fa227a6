package store

import "context"

// Keys are secrets that the processes of one store share. No view shows them.
type Keys interface {
	// Key returns the key of a name: fresh, which it stores, where there was none.
	Key(ctx context.Context, name string, fresh []byte) ([]byte, error)
}
