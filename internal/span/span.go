// Package span begins the child spans of a request's trace: the parts in which its time passes.
package span

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// The names of the parts, in the order of a request.
const (
	Wait     = "wait for a slot"
	Read     = "read the body"
	Decode   = "decode"
	Load     = "load the snapshot"
	Evaluate = "evaluate"
	Record   = "write the record" // until it is durable
	Revision = "write the revision"
	Bind     = "bind through the apiserver"
	Post     = "apiserver: create pods/binding" // a part of Bind
	Get      = "apiserver: get pods"            // a part of Bind
	Encode   = "write the answer"
	Check    = "check" // of /readyz
)

// Spooled is an attribute of Record: the record is durable on the local disk, not in the database.
const Spooled = attribute.Key("berth.spooled")

// Span is a part that has begun. The zero Span records nothing.
type Span struct{ trace.Span }

// Start begins a child of the span in ctx. It costs nothing if that span is not recorded.
func Start(ctx context.Context, name string) (context.Context, Span) {
	parent := trace.SpanFromContext(ctx)
	if !parent.IsRecording() {
		return ctx, Span{}
	}
	ctx, s := parent.TracerProvider().Tracer("berth").Start(ctx, name)
	return ctx, Span{s}
}

// End ends the part, as failed if there is an error. Its text stays out of the trace: it may quote
// what the caller sent.
func (s Span) End(err error, attrs ...attribute.KeyValue) {
	if s.Span == nil {
		return
	}
	s.SetAttributes(attrs...)
	if err != nil {
		s.SetStatus(codes.Error, "")
	}
	s.Span.End()
}

// In runs f as a part.
func In[T any](ctx context.Context, name string, f func(context.Context) (T, error)) (T, error) {
	ctx, s := Start(ctx, name)
	v, err := f(ctx)
	s.End(err)
	return v, err
}

// Do is In for what returns nothing but an error.
func Do(ctx context.Context, name string, f func(context.Context) error) error {
	ctx, s := Start(ctx, name)
	err := f(ctx)
	s.End(err)
	return err
}
