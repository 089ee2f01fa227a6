package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"berth/internal/engine"
	"berth/internal/semantics"
	"berth/internal/store"
)

// telemetry holds the exporters of metrics and traces.
type telemetry struct {
	meter   metric.Meter
	tracer  trace.TracerProvider // nil: traces go nowhere
	metrics prometheus.Gatherer
	handler http.Handler
	closers []func(context.Context) error
}

func newTelemetry(ctx context.Context, otlp string, decides *semantics.Release, log *slog.Logger) (*telemetry, error) {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	exporter, err := otelprom.New(otelprom.WithRegisterer(registry), otelprom.WithoutScopeInfo(), otelprom.WithoutTargetInfo())
	if err != nil {
		return nil, fmt.Errorf("make metrics: %w", err)
	}
	about := resource.NewSchemaless(attribute.String("service.name", "berth"), attribute.String("service.version", engine.Version))
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter), sdkmetric.WithResource(about))
	t := &telemetry{
		meter: provider.Meter("berth"), metrics: registry,
		// OpenMetrics has exemplars: the traces of single measurements.
		handler: promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true}),
		closers: []func(context.Context) error{provider.Shutdown},
	}
	v := buildVersion()
	_, err = t.meter.Int64ObservableGauge("berth.build_info", metric.WithDescription("What runs here; always 1."),
		metric.WithInt64Callback(func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(1, metric.WithAttributes(attribute.String("version", v.Version), attribute.String("revision", v.Commit),
				attribute.String("goversion", runtime.Version()), attribute.String("semantics", decides.Stamp())))
			return nil
		}))
	if err != nil {
		return nil, fmt.Errorf("make metrics: %w", err)
	}
	if otlp == "" {
		return t, nil
	}
	otel.SetLogger(logr.New(&exporterLog{log: log}))
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("traces are not sent", slog.Any("error", err)) }))
	spans, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(otlp))
	if err != nil {
		return nil, fmt.Errorf("--otlp-endpoint: %w", err)
	}
	traces := sdktrace.NewTracerProvider(sdktrace.WithBatcher(spans), sdktrace.WithResource(about))
	t.tracer, t.closers = traces, append(t.closers, traces.Shutdown)
	return t, nil
}

// exporterLog has the exporter's own complaints without the values that they are about, which may
// be secrets: it would print headers and addresses that it cannot read.
type exporterLog struct {
	log *slog.Logger
}

// Init implements logr.LogSink.
func (*exporterLog) Init(logr.RuntimeInfo) {}

// Enabled implements logr.LogSink.
func (*exporterLog) Enabled(int) bool { return false }

// Info implements logr.LogSink.
func (*exporterLog) Info(int, string, ...any) {}

// Error implements logr.LogSink.
func (l *exporterLog) Error(_ error, msg string, _ ...any) {
	l.log.Warn("a setting of traces in the environment (OTEL_EXPORTER_OTLP_…) cannot be read", slog.String("at", msg))
}

// WithValues implements logr.LogSink.
func (l *exporterLog) WithValues(...any) logr.LogSink { return l }

// WithName implements logr.LogSink.
func (l *exporterLog) WithName(string) logr.LogSink { return l }

// close sends what is buffered.
func (t *telemetry) close(ctx context.Context) error {
	var errs []error
	for _, f := range t.closers {
		errs = append(errs, f(ctx))
	}
	return errors.Join(errs...)
}

// queue is the queue of records to be written.
type queue interface{ Depth() int }

// watchQueue registers the metrics of the queue.
func (t *telemetry) watchQueue(q queue, capacity int) error {
	length, err := t.meter.Int64ObservableGauge("berth.audit.queue.length", metric.WithDescription("Records that wait to be written."))
	if err != nil {
		return err
	}
	size, err := t.meter.Int64ObservableGauge("berth.audit.queue.capacity", metric.WithDescription("Records that may wait."))
	if err != nil {
		return err
	}
	_, err = t.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		o.ObserveInt64(length, int64(q.Depth()))
		o.ObserveInt64(size, int64(capacity))
		return nil
	}, length, size)
	return err
}

// observeBatches returns the function that counts what the store wrote.
func (t *telemetry) observeBatches(backend string) (func(entries int, took time.Duration, err error), error) {
	records, err1 := t.meter.Int64Counter("berth.audit.records", metric.WithDescription("Records written, by result."))
	took, err2 := t.meter.Float64Histogram("berth.store.operation.duration", metric.WithUnit("s"), metric.WithDescription("Time to write a batch of records."),
		metric.WithExplicitBucketBoundaries(1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 5e-2, 0.1, 0.25, 0.5, 1, 2.5))
	failures, err3 := t.meter.Int64Counter("berth.store.errors", metric.WithDescription("Batches that the store refused or failed."))
	appending := metric.WithAttributes(attribute.String("backend", backend), attribute.String("operation", "append"))
	written, failed := metric.WithAttributes(attribute.String("result", "written")), metric.WithAttributes(attribute.String("result", "failed"))
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	for _, result := range []metric.MeasurementOption{written, failed} { // there for alerts, as 0
		records.Add(context.Background(), 0, result)
	}
	failures.Add(context.Background(), 0, appending)
	return func(entries int, d time.Duration, err error) {
		result := written
		if err != nil {
			result = failed
			failures.Add(context.Background(), 1, appending)
		}
		records.Add(context.Background(), int64(entries), result)
		took.Record(context.Background(), d.Seconds(), appending)
	}, nil
}

// watchReplays registers the metrics of batch replays. It returns the function that counts the
// decisions that this process replayed.
func (t *telemetry) watchReplays(st store.Jobs) (func(identical, different, errors int64), error) {
	decisions, err1 := t.meter.Int64Counter("berth.replay.decisions", metric.WithDescription("Decisions that batch replays answered again, by result."))
	_, err2 := t.meter.Int64ObservableGauge("berth.replay.jobs", metric.WithDescription("Batch replays that are stored, by state; those of all replicas."),
		metric.WithInt64Callback(func(ctx context.Context, o metric.Int64Observer) error {
			states, err := st.JobStates(ctx, store.Replays)
			if err != nil {
				return err
			}
			for _, state := range []string{store.JobQueued, store.JobRunning, store.JobDone, store.JobCancelled, store.JobFailed} {
				o.Observe(states[state], metric.WithAttributes(attribute.String("state", state)))
			}
			return nil
		}))
	count := func(n int64, result string) {
		if n > 0 {
			decisions.Add(context.Background(), n, metric.WithAttributes(attribute.String("result", result)))
		}
	}
	return func(identical, different, failed int64) {
		count(identical, "identical")
		count(different, "different")
		count(failed, "error")
	}, errors.Join(err1, err2)
}

// watchHolds has the holds that are stored, by state.
func (t *telemetry) watchHolds(st store.Holds) error {
	_, err := t.meter.Int64ObservableGauge("berth.holds", metric.WithDescription("Holds of placements that are stored, by state; those of all replicas."),
		metric.WithInt64Callback(func(ctx context.Context, o metric.Int64Observer) error {
			states, err := st.HoldStates(ctx)
			if err != nil {
				return err
			}
			for _, state := range []string{store.HoldHeld, store.HoldCommitted, store.HoldReleased, store.HoldExpired} {
				o.Observe(states[state], metric.WithAttributes(attribute.String("state", state)))
			}
			return nil
		}))
	return err
}
