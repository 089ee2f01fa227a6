package client

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Error is an answer that is an error (application/problem+json, RFC 9457).
type Error struct {
	// Type names the problem, such as urn:berth:problem:pod-differs.
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	// Detail says what is wrong and what would be right.
	Detail string `json:"detail"`
	// Errors are the fields at fault, in an API server's words.
	Errors []FieldError `json:"errors,omitempty"`
	// Limit is the setting that was exceeded.
	Limit string `json:"limit,omitempty"`
	// Conflict is what stands there instead, with 409.
	Conflict *Conflict `json:"conflict,omitempty"`
	// Location is the path of what a call wrote whose answer is not known.
	Location string `json:"location,omitempty"`
	// Newest is the id of an event to go on behind, with 410, once the state was read.
	Newest    string `json:"newest,omitempty"`
	RequestID string `json:"requestId,omitempty"`
	// RetryAfter is when to come again, as the server asks; zero where it does not.
	RetryAfter time.Duration `json:"-"`
}

// FieldError is one field at fault.
type FieldError struct {
	Field   string `json:"field"`
	Type    string `json:"type"`
	Message string `json:"message"`
}

// Conflict is what stands in the way of a call.
type Conflict struct {
	Node       string       `json:"node,omitempty"`
	Revision   int64        `json:"revision"`
	StoredUID  string       `json:"storedUID,omitempty"`
	RequestUID string       `json:"requestUID,omitempty"`
	State      string       `json:"state,omitempty"`
	Refused    []FieldError `json:"refused,omitempty"`
}

// Error returns the status, the detail and the fields at fault.
func (e *Error) Error() string {
	text := fmt.Sprintf("%d: %s", e.Status, cmp.Or(e.Detail, http.StatusText(e.Status)))
	for _, f := range e.Errors {
		if !strings.Contains(text, f.Message) {
			text += fmt.Sprintf("; %s: %s", f.Field, f.Message)
		}
	}
	return text
}

// passing reports whether the same call may be answered later.
func (e *Error) passing() bool {
	return e.Status == http.StatusTooManyRequests || e.Status >= http.StatusInternalServerError
}
