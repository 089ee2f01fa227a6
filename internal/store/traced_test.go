package store

import (
	"context"
	"reflect"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
)

// untraced are the methods without a span, and why.
var untraced = map[string]string{
	"Append": "span.Record of its callers", "Ping": "span.Check of /readyz", "Close": "no request calls it",

	"Retain": "worker", "Prune": "worker", "Sizes": "metrics", "Usage": "metrics", "ListGaps": "tests and tools",
	"PutCapacities": "worker", "UseTokens": "worker", "Key": "start", "PutCheckpoint": "worker", "PriorityClassVersions": "worker",
	"RenewCall": "beside the call", "PruneCalls": "worker", "ClaimJob": "worker", "AdvanceReplay": "worker", "ReleaseReplay": "worker", "ReplayChanges": "worker", "PruneJobs": "worker",
	"AdvanceSimulation": "worker", "PutDenials": "worker", "JobStates": "metrics",
	"RollUp": "worker", "RollupStates": "worker", "RebuildRollups": "a command",
	"Fillable": "a command", "BackfillRecords": "a command", "Inputs": "a command", "FillDecisions": "a command", "Unchanged": "a command",
	"FillObjects": "a command", "FactsSeen": "a command", "FillFacts": "a command",
	"HoldsDue": "worker", "HoldStates": "metrics",
	"Heads": "follower", "TryLock": "follower", "Lead": "follower", "Resign": "follower",
	"WantConfirmation": "follower", "Confirm": "follower", "Confirmation": "follower",
}

// TestTraced: each method of a store starts a span under the request's, or is named above.
func TestTraced(t *testing.T) {
	seen := tracetest.NewSpanRecorder()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(seen))
	ctx, root := provider.Tracer("test").Start(t.Context(), "request")
	defer root.End()
	s := reflect.ValueOf(Traced(nil))
	names := map[string]bool{}
	for m := range reflect.TypeFor[Store]().Methods() {
		names[m.Name] = true
		had := len(seen.Started())
		func() {
			defer func() { _ = recover() }() // there is no store behind it
			f := s.MethodByName(m.Name)
			args := make([]reflect.Value, f.Type().NumIn())
			for i := range args {
				args[i] = reflect.Zero(f.Type().In(i))
			}
			if len(args) > 0 && f.Type().In(0) == reflect.TypeFor[context.Context]() {
				args[0] = reflect.ValueOf(ctx)
			}
			f.Call(args)
		}()
		if started := len(seen.Started()) - had; started > 1 || (started == 1) == (untraced[m.Name] != "") {
			t.Errorf("%s starts %d spans", m.Name, started)
		}
	}
	for name := range untraced {
		if !names[name] {
			t.Errorf("there is no method %s", name)
		}
	}
}
