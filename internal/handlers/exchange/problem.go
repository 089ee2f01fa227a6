package exchange

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"berth/internal/decision"
	ledger "berth/internal/decision/admit"
	"berth/internal/handlers/extender/wire"
	"berth/internal/steps"
)

// problemType is the media type of RFC 9457.
const problemType = "application/problem+json"

// Problem is an error as clients see it (RFC 9457).
type Problem struct {
	// Type tells kinds of problems apart: urn:berth:problem:…
	Type string `json:"type" example:"urn:berth:problem:limit"`
	// Title is the kind of problem in words, the same for all of its type.
	Title string `json:"title" example:"A limit was exceeded"`
	// Status is the HTTP status.
	Status int `json:"status" example:"413"`
	// Detail is what is wrong with this request.
	Detail string `json:"detail"`
	// Errors names the fields at fault.
	Errors []FieldError `json:"errors,omitempty"`
	// Limit is the setting that the request exceeded.
	Limit string `json:"limit,omitempty" example:"decision-max-bytes"`
	// Conflict describes what is there, where the request collides with it.
	Conflict *Conflict `json:"conflict,omitempty"`
	// Location is the path of what the first call with the request's Idempotency-Key has written.
	Location string `json:"location,omitempty" example:"/v1/snapshots/prod@1042"`
	// Newest is the id of the newest event, where the one to go on from is too old.
	Newest string `json:"newest,omitempty" example:"000000001042-9999999-5f3a2b1c"`
	// RequestID is the value of the X-Request-Id header.
	RequestID string `json:"requestId,omitempty"`
} // @name Problem

// Conflict is what a request collides with.
type Conflict struct {
	// Node is the node that the pod is bound to; absent where that is not what is in the way.
	Node string `json:"node,omitempty" example:"n1"`
	// Revision is the newest of the cluster when the request was judged.
	Revision int64 `json:"revision" example:"1042"`
	// StoredUID is that of the pod that the snapshot holds under the name, RequestUID that of the
	// request's pod; absent where no other pod is in the way.
	StoredUID  string `json:"storedUID,omitempty"`
	RequestUID string `json:"requestUID,omitempty"`
	// State is that of the hold, which has ended otherwise.
	State string `json:"state,omitempty" enums:"committed,released,expired"`
	// Changes is the body of POST /v1/snapshots/{id}/changes that makes the stored pod equal to the
	// request's; absent where that would be refused.
	Changes *ConflictChanges `json:"changes,omitempty"`
	// Refused is why an API server would refuse an update that makes the stored pod equal.
	Refused []FieldError `json:"refused,omitempty"`
} // @name Conflict

// ConflictChanges are changes that end a conflict.
type ConflictChanges struct {
	Patch []ledger.Patch `json:"patch"`
} // @name ConflictChanges

// FieldError is what is wrong with one field.
type FieldError struct {
	// Field is the path from the body's root, or the name of a parameter.
	Field string `json:"field" example:"pod.spec.containers[0].name"`
	// Type is the kind of error, as an apiserver names its causes.
	Type string `json:"type" example:"FieldValueInvalid"`
	// Message describes what is wrong, in words.
	Message string `json:"message"`
} // @name FieldError

// titles are the kinds of problems: the last part of a type and its title.
var titles = map[string]string{
	"followed":        "The cluster is followed, and changes come from it alone",
	"malformed":       "The request is malformed",
	"unknown-field":   "The request has a field that is not known",
	"invalid":         "The request is invalid",
	"not-found":       "Not found",
	"forbidden":       "Forbidden",
	"not-admitted":    "An admission plugin forbids it",
	"unauthenticated": "An identity is needed",
	"method":          "The method is not allowed here",
	"conflict":        "The request conflicts with what is there",
	"other-pod":       "The snapshot holds another pod of that name",
	"pod-differs":     "The snapshot holds the pod, and it differs from the request's",
	"key-reused":      "The Idempotency-Key was used for another request",
	"written":         "The first call with this key has written, and its answer is not kept",
	"gone":            "It is not stored any more",
	"in-use":          "It is in use",
	"media-type":      "The body's form is not supported",
	"limit":           "A limit was exceeded",
	"overload":        "Too busy",
	"deadline":        "The answer took too long",
	"unavailable":     "Not available now",
	"behind":          "What is known of the cluster may be older than the call",

	"store-unavailable": "The store cannot be reached",
	"internal":          "Internal error",
}

// Bounds of what an error tells. Its words may quote the request, whose values can be megabytes.
const (
	MaxDetail  = 2000 // bytes
	maxMessage = 1000 // bytes of one field's message or path
	MaxFields  = 100  // fields that are listed
)

// Clipped cuts a text for people at a bound.
func Clipped(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + fmt.Sprintf("… (%d bytes)", len(s))
}

// problem returns an error's public face.
func (e *Error) problem(requestID string) Problem {
	detail := Clipped(e.Detail, MaxDetail)
	if n := max(len(e.Fields)-MaxFields, 0) + e.Unlisted; n > 0 {
		detail += fmt.Sprintf(" (%d fields are not listed)", n)
	}
	fields := make([]FieldError, 0, min(len(e.Fields), MaxFields))
	for _, f := range e.Fields[:cap(fields)] {
		fields = append(fields, FieldError{Clipped(f.Field, maxMessage), f.Type, Clipped(f.Message, maxMessage)})
	}
	return Problem{
		Type: "urn:berth:problem:" + e.Kind, Title: titles[e.Kind], Status: e.Status, Detail: detail,
		Errors: fields, Limit: e.Limit, Conflict: e.Conflict, Location: e.Location, Newest: e.Newest, RequestID: requestID,
	}
}

// WriteProblem sends an error as problem+json.
func WriteProblem(w http.ResponseWriter, e *Error, requestID string) {
	body, err := json.Marshal(e.problem(requestID))
	if err != nil { // strings and ints always marshal
		body = []byte(`{}`)
	}
	h := w.Header()
	h.Set("Content-Type", problemType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("X-Content-Type-Options", "nosniff")
	if e.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(e.RetryAfter))
	}
	if e.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="berth"`)
	}
	if e.Status == http.StatusRequestTimeout {
		h.Set("Connection", "close") // else net/http waits for up to 256 KiB of the body before it answers
	}
	part := Encoding(w)
	defer part.End(nil)
	w.WriteHeader(e.Status)
	_, _ = w.Write(body) // a client that is gone needs no answer
}

// WriteJSON sends v. It is buffered whole, so that its length is known and a failure to encode can
// still be told.
func WriteJSON(w http.ResponseWriter, status int, v any) error {
	part := Encoding(w)
	defer part.End(nil)
	buf := answers.Get().(*bytes.Buffer)
	buf.Reset()
	if err := json.NewEncoder(buf).Encode(v); err != nil {
		return fmt.Errorf("marshal the answer: %w", err)
	}
	sendJSON(w, status, buf.Bytes())
	if buf.Cap() <= wire.MaxPooledBuffer {
		answers.Put(buf)
	}
	return nil
}

// WriteAnswer is WriteJSON of a decision, whose JSON is not made by reflection.
func WriteAnswer(w http.ResponseWriter, status int, ans *decision.Answer) error {
	buf := wire.GetBuffer()
	defer wire.PutBuffer(buf)
	js, err := ans.AppendJSON(*buf)
	if err != nil {
		return err
	}
	*buf = append(js, '\n')
	return WriteBytes(w, status, *buf)
}

// answers are buffers for later answers.
var answers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// WriteLong is WriteJSON for an answer with lists that a caller can make long.
func WriteLong(w http.ResponseWriter, r *http.Request, v any) error {
	part := Encoding(w)
	body, err := steps.Marshal(r.Context(), v)
	defer func() { part.End(err) }()
	if err != nil {
		return err
	}
	sendJSON(w, http.StatusOK, append(body, '\n'))
	return nil
}

// WriteBytes sends JSON that is there already.
func WriteBytes(w http.ResponseWriter, status int, body []byte) error {
	part := Encoding(w)
	defer part.End(nil)
	sendJSON(w, status, body)
	return nil
}

// JSONType is the value of a header that most answers have. Headers are replaced, never written to.
var JSONType = []string{"application/json"}

func sendJSON(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h["Content-Type"] = JSONType
	SetHeader(w, "Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if x, ok := w.(*Exchange); ok && len(body) >= joinedBytes {
		x.join()
	}
	_, _ = w.Write(body)
}
