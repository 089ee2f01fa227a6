// Package admit is what each call passes before it is answered: where it comes from, who asks and
// what it may do, the limits of its caller, and its turn. The guarded types check each cluster that
// a body names. It is one handler that takes its steps in order.
package admit

import (
	"cmp"
	"context"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"

	"berth/internal/access"
	"berth/internal/handlers/keyed"
	"berth/internal/handlers/limits"
	"berth/internal/handlers/observe"
	"berth/internal/memory"
)

// Admission is what each call passes before it is answered: who asks, what it may do, its limits
// and its turn. It is safe for concurrent use.
type Admission struct {
	*observe.Observer
	Limits  limits.Limits
	Tracer  trace.TracerProvider
	Callers *access.Authenticator
	hosts   []string
	origins []string
	Budget  *memory.Budget

	FilterCalls, NodesCalls, BindCalls, SnapshotCalls *CallClass
	DecisionCalls, ReplayCalls, ReadCalls             *CallClass
	ScenarioCalls, QueryCalls                         *CallClass
	// PassCalls is for calls of shadows that were not admitted to be judged.
	PassCalls *CallClass

	callerLimits *callerLimits
	denials      denials
	deniedCalls  deniedCalls
	keyed        *keyed.Calls // nil: keys have no effect

	// WithDeadline is context.WithDeadline, but in tests of who looks at a context.
	WithDeadline func(parent context.Context, until time.Time) (context.Context, context.CancelFunc)
}

// New makes the admission of an API.
func New(o *Options) (*Admission, error) {
	a := &Admission{
		Limits: o.Limits, Tracer: o.Tracer, Callers: cmp.Or(o.Callers, &access.Authenticator{}), origins: o.Origins,
		Budget: o.Budget, WithDeadline: context.WithDeadline,
	}
	if a.Limits == (limits.Limits{}) {
		a.Limits = limits.Default()
	}
	if err := a.Limits.Validate(); err != nil {
		return nil, err
	}
	var err error
	if a.Observer, err = observe.New(o.Log, o.Meter, o.Pages); err != nil {
		return nil, err
	}
	for _, name := range o.Hosts {
		a.hosts = append(a.hosts, strings.ToLower(name))
	}
	a.deniedCalls = deniedCalls{st: o.Denials, instance: o.Instance, log: a.Log}
	if o.Calls != nil {
		a.keyed = keyed.New(o.Calls, a.Log)
	}
	a.classes()
	a.callerLimits = newCallerLimits(&a.Limits)
	if a.Budget == nil {
		a.Budget = memory.New(int64(a.Limits.MemoryBudget))
	}
	return a, nil
}
