package jsonscan

import (
	"errors"
	"fmt"
	"io"
)

// The errors never quote the text: a Pod may carry secrets, and errors end in logs.

// SyntaxError is the error when a text stops being JSON.
type SyntaxError struct {
	// Offset is the byte at which it stops, counted from 0; the text's length if it ends too early.
	Offset int
	// Reason is a fixed phrase.
	Reason string
	// Found is the byte at Offset; 0 if Ends is set.
	Found byte
	// Ends reports that the text ends too early.
	Ends bool
}

// Error implements error.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("malformed JSON at byte %d: %s", e.Offset, e.Reason)
}

// LimitError is the error when a text exceeds a limit.
type LimitError struct {
	// Limit is the name of the limit, such as "depth" or "tokens".
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

// ReadError is the error when a stream fails before its end.
type ReadError struct{ err error }

// Error implements error.
func (e *ReadError) Error() string { return "read body: " + e.err.Error() }

// Unwrap returns the stream's own error.
func (e *ReadError) Unwrap() error { return e.err }

// ErrHeld is the error when more than Limits.Held bytes would have to be held.
var ErrHeld = errors.New("more bytes have to be held than the limit allows")

// Fail is the error for a text that stops being JSON at the next byte, or the stream's own failure.
func (s *Scanner) Fail(reason string) error {
	if s.err != nil && !errors.Is(s.err, io.EOF) {
		return s.err
	}
	e := &SyntaxError{Offset: s.Offset(), Reason: reason, Ends: s.pos >= len(s.buf)}
	if !e.Ends {
		e.Found = s.buf[s.pos]
	}
	return e
}
