package admit

import (
	"cmp"
	"errors"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"time"

	"berth/internal/handlers/exchange"
	"berth/internal/handlers/limits"
	"berth/internal/span"
)

// CallClass is the bounds that some endpoints share.
type CallClass struct {
	gate      *gate
	deadline  time.Duration
	style     style
	byCluster bool // the lane of a call is its cluster; else there is one for all
	// patient calls leave the reserve of the memory budget to the others.
	patient bool
}

// Admit waits for a call's turn, before its body is read. The call goes on with the request that is
// returned, whose context ends at the deadline, and is to be ended.
func (a *Admission) Admit(w http.ResponseWriter, r *http.Request, c *CallClass, lane string) (on *http.Request, end func(), err error) {
	rc := http.NewResponseController(w)
	until := time.Now().Add(c.deadline)
	readBy := until.Add(limits.WriteMargin)
	if c.deadline <= a.Limits.BodyGrace { // a body that stalls ends with the call
		readBy = until.Add(limits.WriteMargin / 20)
	}
	// A recorder in a test has no connection whose deadlines could be set.
	if err := errors.Join(rc.SetReadDeadline(readBy), rc.SetWriteDeadline(until.Add(limits.WriteMargin))); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return nil, nil, exchange.Internal(err)
	}
	ctx, cancel := a.WithDeadline(r.Context(), until)
	_, wait := span.Start(ctx, span.Wait)
	by := exchange.CallerOf(r)
	at, err := c.gate.enter(ctx, lane, by)
	wait.End(err)
	if err != nil {
		cancel()
		return nil, nil, a.shed(r, c.style, err)
	}
	x := exchange.Of(ctx)
	x.By = by
	mem := a.Budget.Claim()
	if !c.patient {
		mem = a.Budget.UrgentClaim(x)
	}
	x.Claim, x.Place = mem, at
	r = r.WithContext(ctx)
	if r.ContentLength != 0 && c.deadline > a.Limits.BodyGrace {
		r.Body = &paced{ReadCloser: r.Body, conn: w, until: until.Add(limits.WriteMargin), limits: &a.Limits}
	}
	return r, func() {
		mem.End()
		at.end()
		cancel()
	}, nil
}

// shed counts a refusal and words it for the kind of client.
func (a *Admission) shed(r *http.Request, s style, err error) error {
	var e *exchange.Error
	if !errors.As(err, &e) {
		return err
	}
	a.Metrics.Shed(r.Context(), exchange.RoutePattern(r), e.Limit)
	if s == ExtenderStyle {
		e.Status = http.StatusServiceUnavailable
		if isPrioritize(r) {
			a.Metrics.PrioritizeFailed(r.Context(), "overload")
		}
	}
	if a.Seldom.Allow(exchange.RoutePattern(r) + e.Limit) {
		a.Log.LogAttrs(r.Context(), slog.LevelWarn, "overloaded", slog.String("route", exchange.RoutePattern(r)), slog.String("limit", e.Limit), slog.Int("status", e.Status))
	}
	return e
}

func isPrioritize(r *http.Request) bool {
	return strings.HasSuffix(exchange.RoutePattern(r), "/prioritize")
}

// classes makes the gates of a server.
func (a *Admission) classes() {
	l := &a.Limits
	cpu := func(name string, inFlight, queue int, deadline time.Duration) *CallClass {
		c := &CallClass{gate: newGate(name, inFlight, 0, queue, deadline), deadline: deadline}
		c.gate.perCaller = cmp.Or(l.CallerSlots, max(2, runtime.GOMAXPROCS(0)))
		return c
	}
	extender := func(name string, inFlight, total, queue int) *CallClass {
		return &CallClass{gate: newGate(name, inFlight, total, queue, l.ExtenderQueueWait), deadline: l.ExtenderDeadline, style: ExtenderStyle, byCluster: true}
	}
	a.FilterCalls = extender("filter", l.FilterInFlight, l.FilterTotal, l.FilterQueue)
	a.NodesCalls = extender("nodes", l.NodesInFlight, l.NodesTotal, l.NodesQueue)
	a.BindCalls = extender("bind", l.BindInFlight, l.BindTotal, l.BindQueue)
	a.SnapshotCalls = &CallClass{
		gate:     newGate("snapshot", l.SnapshotInFlight, l.SnapshotTotal, l.SnapshotQueue, l.SnapshotDeadline),
		deadline: l.SnapshotDeadline, byCluster: true, patient: true,
	}
	a.SnapshotCalls.gate.shared = true
	a.PassCalls = &CallClass{gate: newGate("filter", l.FilterTotal, 0, l.FilterTotal, l.ExtenderQueueWait), deadline: l.ExtenderDeadline, style: ExtenderStyle}
	a.DecisionCalls = cpu("decision", l.DecisionInFlight, l.DecisionQueue, l.DecisionDeadline)
	a.ReplayCalls = cpu("replay", l.ReplayInFlight, l.ReplayQueue, l.ReplayDeadline)
	a.ScenarioCalls = cpu("scenario", l.ScenarioInFlight, l.ScenarioQueue, l.ScenarioDeadline)
	a.ReadCalls = cpu("read", l.ReadInFlight, l.ReadQueue, l.ReadDeadline)
	a.ReplayCalls.patient, a.ScenarioCalls.patient = true, true
	a.QueryCalls = cpu("query", l.QueryInFlight, l.QueryQueue, l.QueryDeadline)
}
