package handlers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"

	"berth/internal/memory"
)

const (
	// bodyFactor is what a body takes itself while it grows, in bytes a byte.
	bodyFactor = 2
	// nodeFactor is what a node in a call with whole nodes takes beside its decoded value, in bytes
	// a byte.
	nodeFactor = 4
	// uploadFactor and uploadObject are what an object takes until the state is built that holds
	// it: bytes a byte of its encoding, and bytes beside.
	uploadFactor, uploadObject = 3, 2 << 10
	// decoderBytes is what reading YAML or zstd takes at most, whatever comes of it.
	decoderBytes = 64 << 20
)

// fromMemory words what the budget of the process refused.
func fromMemory(err error) *Error {
	var never *memory.NeverError
	switch {
	case errors.As(err, &never):
		return tooLarge("memory-budget", fmt.Sprintf("%v: memory-budget=%s, of which %s are kept for short calls", never, Bytes(never.Limit), Bytes(never.Reserve)))
	case errors.Is(err, memory.ErrFull):
		return &Error{
			Status: http.StatusServiceUnavailable, Kind: "overload", Limit: "memory-budget", RetryAfter: 1 + rand.IntN(3),
			Detail: "the memory for requests is taken by others; try again later",
		}
	}
	return nil
}

// takeAnswer takes what writing out an answer takes: its values and twice its text, while the
// encoder's buffer grows.
func takeAnswer(ctx context.Context, items, bytes int) error {
	return memory.Take(ctx, 3*int64(bytes)+512*int64(items))
}
