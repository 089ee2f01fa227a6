package handlers

import (
	"cmp"
	"context"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"

	"berth/internal/access"
	"berth/internal/memory"
)

// admission is what each call passes before it is answered: who asks, what it may do, its limits and
// its turn. It is safe for concurrent use.
type admission struct {
	*observer
	limits  Limits
	tracer  trace.TracerProvider
	callers *access.Authenticator
	hosts   []string
	origins []string
	budget  *memory.Budget

	filterCalls, nodesCalls, bindCalls, snapshotCalls *callClass
	decisionCalls, replayCalls, readCalls             *callClass
	scenarioCalls, queryCalls                         *callClass
	// passCalls is for calls of shadows that were not admitted to be judged.
	passCalls *callClass

	callerLimits *callerLimits
	denials      denials

	// withDeadline is context.WithDeadline, but in tests of who looks at a context.
	withDeadline func(parent context.Context, until time.Time) (context.Context, context.CancelFunc)
}

// newAdmission makes the admission of an API.
func newAdmission(o *Options) (*admission, error) {
	a := &admission{
		limits: o.Limits, tracer: o.Tracer, callers: cmp.Or(o.Callers, &access.Authenticator{}), origins: o.Origins,
		budget: o.Budget, withDeadline: context.WithDeadline,
	}
	if a.limits == (Limits{}) {
		a.limits = DefaultLimits()
	}
	if err := a.limits.Validate(); err != nil {
		return nil, err
	}
	var err error
	if a.observer, err = newObserver(o.Log, o.Meter, o.Pages); err != nil {
		return nil, err
	}
	for _, name := range o.Hosts {
		a.hosts = append(a.hosts, strings.ToLower(name))
	}
	a.classes()
	a.callerLimits = newCallerLimits(&a.limits)
	if a.budget == nil {
		a.budget = memory.New(int64(a.limits.MemoryBudget))
	}
	return a, nil
}
