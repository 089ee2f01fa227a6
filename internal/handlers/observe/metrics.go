package observe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"

	"berth/internal/engine"
	"berth/internal/revision"
)

// Metrics are the figures the API keeps. No pod's or node's name is ever a label: there would be as
// many series.
type Metrics struct {
	requests    metric.Float64Histogram
	decisions   metric.Int64Counter
	took        metric.Float64Histogram
	rejections  metric.Int64Counter
	nodes       metric.Int64Histogram
	abstentions metric.Int64Counter
	sheds       metric.Int64Counter
	prioritize  metric.Int64Counter
	fallbacks   metric.Int64Counter
	replays     metric.Int64Counter
	unrecorded  metric.Int64Counter
	holds       metric.Float64Histogram
	simulations metric.Int64Counter
	unanswered  metric.Int64Counter
	inProgress  metric.Int64UpDownCounter

	labels metricLabels

	mu sync.Mutex
	// snapshots is guarded by mu: what came in last, by cluster.
	snapshots map[string]snapshotFigures
}

type snapshotFigures struct{ at, nodes, pods int64 }

// seconds are the buckets of durations, from a fast decision to a slow upload.
var seconds = metric.WithExplicitBucketBoundaries(1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 5e-2, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 300)

func newMetrics(meter metric.Meter) (*Metrics, error) {
	if meter == nil {
		meter = noop.NewMeterProvider().Meter("")
	}
	m := &Metrics{snapshots: map[string]snapshotFigures{}, labels: newMetricLabels()}
	var errs [19]error
	m.requests, errs[0] = meter.Float64Histogram("http.server.request.duration", metric.WithUnit("s"), seconds, metric.WithDescription("Time to answer a request."))
	m.decisions, errs[1] = meter.Int64Counter("berth.decisions", metric.WithDescription("Decisions answered."))
	m.took, errs[2] = meter.Float64Histogram("berth.decision.duration", metric.WithUnit("s"), seconds, metric.WithDescription("Time to decide and record."))
	m.rejections, errs[3] = meter.Int64Counter("berth.node_rejections", metric.WithDescription("Nodes rejected, by the first rule that did."))
	m.nodes, errs[4] = meter.Int64Histogram("berth.decision.nodes", metric.WithExplicitBucketBoundaries(1, 5, 10, 50, 100, 500, 1000, 5000, 10000, 50000), metric.WithDescription("Nodes of a decision."))
	m.abstentions, errs[5] = meter.Int64Counter("berth.not_evaluated", metric.WithDescription("Rules that could not be judged."))
	m.sheds, errs[6] = meter.Int64Counter("berth.shed", metric.WithDescription("Calls refused for overload."))
	m.prioritize, errs[7] = meter.Int64Counter("berth.prioritize_failures", metric.WithDescription("Calls of /prioritize without scores. kube-scheduler tells nobody of them."))
	m.replays, errs[8] = meter.Int64Counter("berth.replays", metric.WithDescription("Replays."))
	m.unrecorded, errs[13] = meter.Int64Counter("berth.shadow_missed", metric.WithDescription("Shadow calls that were let pass and not recorded."))
	m.holds, errs[14] = meter.Float64Histogram("berth.hold.duration", metric.WithUnit("s"), seconds, metric.WithDescription("For how long calls were held that would have been rejected, until the state was as new as the call."))
	m.simulations, errs[15] = meter.Int64Counter("berth.simulations", metric.WithDescription("Questions about what comes next that this server answered, failed to or was interrupted in, in calls and as jobs."))
	m.inProgress, errs[16] = meter.Int64UpDownCounter("berth.simulations.in_progress", metric.WithDescription("Questions about what comes next that this server is answering."))
	m.fallbacks, errs[17] = meter.Int64Counter("berth.profile_fallbacks", metric.WithDescription("Decisions about pods whose schedulerName no profile has, by the profile that judged them."))
	m.unanswered, errs[18] = meter.Int64Counter("berth.extender.failures", metric.WithDescription("Calls of kube-scheduler that were answered with 5xx, by verb."))
	at, err := meter.Int64ObservableGauge("berth.snapshot.received.timestamp", metric.WithUnit("s"), metric.WithDescription("When a cluster's newest state came in, Unix time."))
	errs[9] = err
	nodes, err := meter.Int64ObservableGauge("berth.snapshot.nodes", metric.WithDescription("Nodes of a cluster's newest state."))
	errs[10] = err
	pods, err := meter.Int64ObservableGauge("berth.snapshot.pods", metric.WithDescription("Pods of a cluster's newest state."))
	errs[11] = err
	_, errs[12] = meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		m.mu.Lock()
		defer m.mu.Unlock()
		for name, f := range m.snapshots {
			in := metric.WithAttributes(attribute.String("cluster", name))
			o.ObserveInt64(at, f.at, in)
			o.ObserveInt64(nodes, f.nodes, in)
			o.ObserveInt64(pods, f.pods, in)
		}
		return nil
	}, at, nodes, pods)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, fmt.Errorf("make metrics: %w", err)
	}
	m.begin()
	return m, nil
}

// causes are the kinds of errors that calls of kube-scheduler end with.
var causes = []string{
	"behind", "conflict", "deadline", "forbidden", "internal", "invalid", "limit", "malformed", "media-type",
	"not-found", "overload", "store-unavailable", "unauthenticated", "unavailable", "unknown-field",
}

// begin has the counters that alerts read be there as 0: an increase from nothing to 1 is none for
// Prometheus, so that an alert would miss the first event.
func (m *Metrics) begin() {
	ctx := context.Background()
	add := func(c metric.Int64Counter, label string, values ...string) {
		for _, value := range values {
			c.Add(ctx, 0, metric.WithAttributes(attribute.String(label, value)))
		}
	}
	add(m.prioritize, "cause", causes...)
	add(m.unrecorded, "cause", causes...)
	for _, verb := range []string{"filter", "prioritize", "preempt", "bind"} {
		add(m.unanswered, "verb", verb)
		for _, route := range []string{"/" + verb, "/clusters/{cluster}/" + verb} {
			m.sheds.Add(ctx, 0, metric.WithAttributes(attribute.String("route", route), attribute.String("cause", "memory-budget")))
		}
	}
}

// extenderVerb returns the verb of a route of kube-scheduler's, empty for another.
func extenderVerb(route string) string {
	switch verb := route[strings.LastIndexByte(route, '/')+1:]; verb {
	case "filter", "prioritize", "preempt", "bind":
		return verb
	}
	return ""
}

// OtherLabel stands for what a caller may name as it likes.
const OtherLabel = "_OTHER"

// known keeps a client from making up labels.
var known = map[string]bool{http.MethodGet: true, http.MethodPost: true, http.MethodDelete: true, http.MethodHead: true, http.MethodPut: true, http.MethodOptions: true, http.MethodPatch: true}

// Request counts an answered request.
func (m *Metrics) Request(ctx context.Context, route, method string, status int, took time.Duration) {
	if !known[method] {
		method = OtherLabel
	}
	if status >= http.StatusInternalServerError {
		if verb := extenderVerb(route); verb != "" {
			m.unanswered.Add(ctx, 1, metric.WithAttributes(attribute.String("verb", verb)))
		}
	}
	m.requests.Record(ctx, took.Seconds(), m.labels.requests.of(requestLabels{route, method, status}).record...)
}

// Decided counts a decision.
func (m *Metrics) Decided(ctx context.Context, verb, profile string, outcome engine.Outcome, counts engine.Counts, failures []engine.FailureCount, abstained []engine.NotEvaluated, took time.Duration) {
	l := &m.labels
	m.decisions.Add(ctx, 1, l.decisions.of(decisionLabels{verb, string(outcome), profile}).add...)
	m.took.Record(ctx, took.Seconds(), l.took.of(decisionLabels{verb: verb, profile: profile}).record...)
	m.nodes.Record(ctx, int64(counts.Nodes), l.stages.of("offered").record...)
	m.nodes.Record(ctx, int64(counts.Feasible), l.stages.of("feasible").record...)
	for _, f := range failures {
		// Reasons may hold names of resources or plugins, so the rule alone is the label.
		m.rejections.Add(ctx, int64(f.Nodes), l.rejections.of(rejectionLabels{f.Plugin, f.Code}).add...)
	}
	for _, n := range abstained {
		m.abstentions.Add(ctx, 1, metric.WithAttributes(attribute.String("rule", n.Plugin)))
	}
}

// Shed counts a call that a limit refused.
func (m *Metrics) Shed(ctx context.Context, route, limit string) {
	m.sheds.Add(ctx, 1, metric.WithAttributes(attribute.String("route", route), attribute.String("cause", limit)))
}

// PrioritizeFailed counts a call of /prioritize without scores.
func (m *Metrics) PrioritizeFailed(ctx context.Context, cause string) {
	m.prioritize.Add(ctx, 1, metric.WithAttributes(attribute.String("cause", cause)))
}

// FellBack counts a decision of the first profile about a pod of none.
func (m *Metrics) fellBack(ctx context.Context, verb, profile string) {
	m.fallbacks.Add(ctx, 1, metric.WithAttributes(attribute.String("verb", verb), attribute.String("profile", profile)))
}

// Missed counts a call that a shadow has no record of.
func (m *Metrics) Missed(ctx context.Context, cause string) {
	m.unrecorded.Add(ctx, 1, metric.WithAttributes(attribute.String("cause", cause)))
}

// Held counts a call that was held: it passed, was rejected, or the state stayed behind.
func (m *Metrics) Held(ctx context.Context, verb, outcome string, took time.Duration) {
	m.holds.Record(ctx, took.Seconds(), metric.WithAttributes(attribute.String("verb", verb), attribute.String("outcome", outcome)))
}

// Replayed counts a replay.
func (m *Metrics) Replayed(ctx context.Context, identical bool) {
	result := "different"
	if identical {
		result = "identical"
	}
	m.replays.Add(ctx, 1, metric.WithAttributes(attribute.String("result", result)))
}

// Simulating counts a question that is being answered, until done is called with what came of it.
func (m *Metrics) Simulating(ctx context.Context) (done func(result string)) {
	ctx = context.WithoutCancel(ctx)
	m.inProgress.Add(ctx, 1)
	return func(result string) {
		m.inProgress.Add(ctx, -1)
		m.simulations.Add(ctx, 1, metric.WithAttributes(attribute.String("result", result)))
	}
}

// Received notes the newest state of a cluster.
func (m *Metrics) Received(v *revision.View) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.snapshots[v.Cluster] = snapshotFigures{v.CreatedAt.Unix(), int64(v.Summary.Objects["Node"]), int64(v.Summary.Objects["Pod"])}
}

// Gone forgets a cluster.
func (m *Metrics) Gone(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.snapshots, name)
}
