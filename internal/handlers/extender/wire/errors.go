package wire

import (
	"fmt"

	"berth/internal/jsonscan"
)

// The errors never quote the body: a Pod may carry secrets and errors end in logs.

// SyntaxError is the error when a body isn't JSON.
type SyntaxError = jsonscan.SyntaxError

// LimitError is the error when a body exceeds a limit: "bytes", "depth", "tokens", "names",
// "nodes", "victims" or "victimsPerNode".
type LimitError = jsonscan.LimitError

// TypeError is the error when a body is JSON, but a field of it isn't what the protocol puts there.
type TypeError struct {
	// Offset is the first byte of the wrong value, counted from 0.
	Offset int
	// Field is the field's Go name, such as "NodeNames"; "body" for the whole.
	Field string
	// Want describes what would have been right, such as "an object or null".
	Want string
}

// Error implements error.
func (e *TypeError) Error() string {
	return fmt.Sprintf("%s at byte %d: want %s", e.Field, e.Offset, e.Want)
}

// MissingError is the error when a field the protocol always fills is absent, null or empty.
type MissingError struct {
	// Field is the field's Go name, such as "PodUID".
	Field string
}

// Error implements error.
func (e *MissingError) Error() string { return e.Field + " is missing" }
