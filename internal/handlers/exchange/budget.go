package exchange

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"

	"berth/internal/handlers/limits"
	"berth/internal/memory"
)

const (
	// bodyFactor is what a body takes itself while it grows, in bytes a byte.
	bodyFactor = 2
	// NodeFactor is what a node in a call with whole nodes takes beside its decoded value, in bytes
	// a byte.
	NodeFactor = 4
	// UploadFactor and UploadObject are what an object takes until the state is built that holds
	// it: bytes a byte of its encoding, and bytes beside.
	UploadFactor, UploadObject = 3, 2 << 10
	// DecoderBytes is what reading YAML or zstd takes at most, whatever comes of it.
	DecoderBytes = 64 << 20
)

// fromMemory words what the budget of the process refused.
func fromMemory(err error) *Error {
	var never *memory.NeverError
	switch {
	case errors.As(err, &never):
		return TooLarge("memory-budget", fmt.Sprintf("%v: memory-budget=%s, of which %s are kept for short calls", never, limits.Bytes(never.Limit), limits.Bytes(never.Reserve)))
	case errors.Is(err, memory.ErrFull):
		return &Error{
			Status: http.StatusServiceUnavailable, Kind: "overload", Limit: "memory-budget", RetryAfter: 1 + rand.IntN(3),
			Detail: "the memory for requests is taken by others; try again later",
		}
	}
	return nil
}

// TakeAnswer takes what writing out an answer takes: its values and twice its text, while the
// encoder's buffer grows.
func TakeAnswer(ctx context.Context, items, bytes int) error {
	return memory.Take(ctx, 3*int64(bytes)+512*int64(items))
}
