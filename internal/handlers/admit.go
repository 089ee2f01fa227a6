package handlers

import (
	"cmp"
	"errors"
	"log/slog"
	"net/http"
	"runtime"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"

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

// writeMargin is what a connection's own time-outs leave beyond a class's deadline, so that a late
// answer is still ours.
const writeMargin = 5 * time.Second

// admit waits for a call's turn, before its body is read. The call goes on with the request that is
// returned, whose context ends at the deadline, and is to be ended.
func (a *API) admit(w http.ResponseWriter, r *http.Request, c *callClass, lane string) (on *http.Request, end func(), err error) {
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
func (a *API) shed(r *http.Request, s style, err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	a.metrics.shed(r.Context(), routePattern(r), e.Limit)
	if s == extenderStyle {
		e.Status = http.StatusServiceUnavailable
		if a.isPrioritize(r) {
			a.metrics.prioritizeFailed(r.Context(), "overload")
		}
	}
	if a.seldom.allow(routePattern(r) + e.Limit) {
		a.log.LogAttrs(r.Context(), slog.LevelWarn, "overloaded", slog.String("route", routePattern(r)), slog.String("limit", e.Limit), slog.Int("status", e.Status))
	}
	return e
}

// seldom lets one log line through in a while for each cause.
type seldom struct {
	every time.Duration
	mu    sync.Mutex
	last  map[string]time.Time // guarded by mu; the causes are routes and settings, so they are few
}

func (s *seldom) allow(cause string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := time.Now(); now.Sub(s.last[cause]) >= s.every {
		s.last[cause] = now
		return true
	}
	return false
}

// byCluster is the lane of calls that name their cluster in the path or, for an upload, in the
// query.
func byCluster(r *http.Request) string {
	return cmp.Or(chi.URLParam(r, "cluster"), clusterInQuery(r), defaultCluster)
}

// defaultCluster is the cluster of calls that name none.
const defaultCluster = "default"

// classes makes the gates of a server.
func (a *API) classes() {
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

// Timeouts returns the time-outs of a server for connections that no class speaks for yet.
func (l *Limits) Timeouts() (readHeader, read, write, idle time.Duration) {
	longest := max(l.ExtenderDeadline, l.DecisionDeadline, l.ReadDeadline)
	return 5 * time.Second, longest + writeMargin, longest + writeMargin, 120 * time.Second
}
