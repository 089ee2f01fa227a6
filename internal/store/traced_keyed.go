package store

import (
	"context"
	"time"
)

// BeginCall implements KeyedCalls.
func (t traced) BeginCall(ctx context.Context, c *KeyedCall, lease time.Duration) (*KeyedCall, error) {
	return call(ctx, "store: claim a call", func(ctx context.Context) (*KeyedCall, error) { return t.Store.BeginCall(ctx, c, lease) })
}

// EndCall implements KeyedCalls.
func (t traced) EndCall(ctx context.Context, c *KeyedCall) error {
	return do(ctx, "store: keep an answer", func(ctx context.Context) error { return t.Store.EndCall(ctx, c) })
}

// DropCall implements KeyedCalls.
func (t traced) DropCall(ctx context.Context, c *KeyedCall) error {
	return do(ctx, "store: forget a call", func(ctx context.Context) error { return t.Store.DropCall(ctx, c) })
}
