package wire

import "fmt"

// The errors never quote the body: a Pod may carry secrets and errors end in logs.

// SyntaxError is the error when a body isn't JSON.
type SyntaxError struct {
	// Offset is the byte at which the body stops being JSON, counted from 0; the body's length if
	// it ends too early.
	Offset int
	// Reason is a fixed phrase.
	Reason string
}

// Error implements error.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("malformed JSON at byte %d: %s", e.Offset, e.Reason)
}

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

// LimitError is the error when a body exceeds a limit.
type LimitError struct {
	// Limit is the name of the limit: "bytes", "depth", "tokens", "names", "nodes", "victims" or
	// "victimsPerNode".
	Limit string
	// Max is the limit's value.
	Max int
	// Offset is the byte at which it was exceeded, counted from 0.
	Offset int
}

// Error implements error.
func (e *LimitError) Error() string {
	return fmt.Sprintf("body exceeds the limit of %d %s at byte %d", e.Max, e.Limit, e.Offset)
}
