package handlers

import (
	"cmp"
	"errors"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"time"

	"berth/internal/span"
)

// callClass is the bounds that some endpoints share.
type callClass struct {
	gate      *gate
	deadline  time.Duration
	style     style
	byCluster bool // the lane of a call is its cluster; else there is one for all
	// patient calls leave the reserve of the memory budget to the others.
	patient bool
}

// admit waits for a call's turn, before its body is read. The call goes on with the request that is
// returned, whose context ends at the deadline, and is to be ended.
func (a *admission) admit(w http.ResponseWriter, r *http.Request, c *callClass, lane string) (on *http.Request, end func(), err error) {
	rc := http.NewResponseController(w)
	until := time.Now().Add(c.deadline)
	readBy := until.Add(writeMargin)
	if c.deadline <= a.limits.BodyGrace { // a body that stalls ends with the call
		readBy = until.Add(writeMargin / 20)
	}
	// A recorder in a test has no connection whose deadlines could be set.
	if err := errors.Join(rc.SetReadDeadline(readBy), rc.SetWriteDeadline(until.Add(writeMargin))); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return nil, nil, internal(err)
	}
	ctx, cancel := a.withDeadline(r.Context(), until)
	_, wait := span.Start(ctx, span.Wait)
	by := callerOf(r)
	at, err := c.gate.enter(ctx, lane, by)
	wait.End(err)
	if err != nil {
		cancel()
		return nil, nil, a.shed(r, c.style, err)
	}
	x := exchangeOf(ctx)
	x.by = by
	mem := a.budget.Claim()
	if !c.patient {
		mem = a.budget.UrgentClaim(x)
	}
	x.claim, x.place = mem, at
	r = r.WithContext(ctx)
	if r.ContentLength != 0 && c.deadline > a.limits.BodyGrace {
		r.Body = &paced{ReadCloser: r.Body, conn: w, until: until.Add(writeMargin), limits: &a.limits}
	}
	return r, func() {
		mem.End()
		at.end()
		cancel()
	}, nil
}

// shed counts a refusal and words it for the kind of client.
func (a *admission) shed(r *http.Request, s style, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	a.metrics.shed(r.Context(), routePattern(r), e.Limit)
	if s == extenderStyle {
		e.Status = http.StatusServiceUnavailable
		if isPrioritize(r) {
			a.metrics.prioritizeFailed(r.Context(), "overload")
		}
	}
	if a.seldom.allow(routePattern(r) + e.Limit) {
		a.log.LogAttrs(r.Context(), slog.LevelWarn, "overloaded", slog.String("route", routePattern(r)), slog.String("limit", e.Limit), slog.Int("status", e.Status))
	}
	return e
}

func isPrioritize(r *http.Request) bool {
	return strings.HasSuffix(routePattern(r), "/prioritize")
}

// classes makes the gates of a server.
func (a *admission) classes() {
	l := &a.limits
	cpu := func(name string, inFlight, queue int, deadline time.Duration) *callClass {
		c := &callClass{gate: newGate(name, inFlight, 0, queue, deadline), deadline: deadline}
		c.gate.perCaller = cmp.Or(l.CallerSlots, max(2, runtime.GOMAXPROCS(0)))
		return c
	}
	extender := func(name string, inFlight, total, queue int) *callClass {
		return &callClass{gate: newGate(name, inFlight, total, queue, l.ExtenderQueueWait), deadline: l.ExtenderDeadline, style: extenderStyle, byCluster: true}
	}
	a.filterCalls = extender("filter", l.FilterInFlight, l.FilterTotal, l.FilterQueue)
	a.nodesCalls = extender("nodes", l.NodesInFlight, l.NodesTotal, l.NodesQueue)
	a.bindCalls = extender("bind", l.BindInFlight, l.BindTotal, l.BindQueue)
	a.snapshotCalls = &callClass{
		gate:     newGate("snapshot", l.SnapshotInFlight, l.SnapshotTotal, l.SnapshotQueue, l.SnapshotDeadline),
		deadline: l.SnapshotDeadline, byCluster: true, patient: true,
	}
	a.snapshotCalls.gate.shared = true
	a.passCalls = &callClass{gate: newGate("filter", l.FilterTotal, 0, l.FilterTotal, l.ExtenderQueueWait), deadline: l.ExtenderDeadline, style: extenderStyle}
	a.decisionCalls = cpu("decision", l.DecisionInFlight, l.DecisionQueue, l.DecisionDeadline)
	a.replayCalls = cpu("replay", l.ReplayInFlight, l.ReplayQueue, l.ReplayDeadline)
	a.scenarioCalls = cpu("scenario", l.ScenarioInFlight, l.ScenarioQueue, l.ScenarioDeadline)
	a.readCalls = cpu("read", l.ReadInFlight, l.ReadQueue, l.ReadDeadline)
	a.replayCalls.patient, a.scenarioCalls.patient = true, true
	a.queryCalls = cpu("query", l.QueryInFlight, l.QueryQueue, l.QueryDeadline)
}
