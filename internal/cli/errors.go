package cli

import (
	"errors"
	"fmt"
)

// The codes that a command ends with.
const (
	exitYes    = 0
	exitBroken = 1
	exitNo     = 2
)

// errNo ends a command whose answer was shown and is no.
var errNo = errors.New("the answer is no")

// errWarned ends a command that has shown warnings, and is no failure to report.
var errWarned = errors.New("there are warnings")

// problem is an error for people: what is wrong, why, and what to do next.
type problem struct {
	what string
	why  error  // may be nil
	next string // a command or a sentence; may be empty
}

// Error returns the action and the cause in one line.
func (p *problem) Error() string {
	if p.why == nil {
		return p.what
	}
	return fmt.Sprintf("%s: %v", p.what, p.why)
}

// Unwrap returns the cause.
func (p *problem) Unwrap() error { return p.why }
