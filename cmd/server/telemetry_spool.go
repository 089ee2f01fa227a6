package main

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/metric"

	"berth/internal/store/spool"
)

// watchSpool shows what waits for the database; nothing without a spool.
func (t *telemetry) watchSpool(w *spool.Writer) error {
	if w == nil {
		return nil
	}
	var errs []error
	gauge := func(name, what string) metric.Int64ObservableGauge {
		g, err := t.meter.Int64ObservableGauge(name, metric.WithDescription(what))
		errs = append(errs, err)
		return g
	}
	counter := func(name, what string) metric.Int64ObservableCounter {
		c, err := t.meter.Int64ObservableCounter(name, metric.WithDescription(what))
		errs = append(errs, err)
		return c
	}
	up := gauge("berth.database.up", "1 while the database answers, 0 while it is away.")
	records := gauge("berth.spool.records", "Records in the spool that wait for the database.")
	bytes := gauge("berth.spool.bytes", "Bytes of the spool on disk.")
	limit := gauge("berth.spool.limit_bytes", "The most bytes that the spool may hold.")
	age, err := t.meter.Float64ObservableGauge("berth.spool.oldest.age", metric.WithUnit("s"), metric.WithDescription("Age of the oldest record that waits for the database; 0 without any."))
	errs = append(errs, err)
	drained := counter("berth.spool.drained", "Records that the spool has handed over to the database.")
	kept := gauge("berth.spool.quarantine.records", "Records in quarantine: the database refused them for good, or they could not be read.")
	parked := counter("berth.spool.quarantined", "Records that the database refused for good, or that could not be read, ever.")
	if err := errors.Join(errs...); err != nil {
		return err
	}
	_, err = t.meter.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		s := w.Status()
		isUp, seconds := int64(1), 0.0
		if s.Away {
			isUp = 0
		}
		if !s.Oldest.IsZero() {
			seconds = max(0, time.Since(s.Oldest).Seconds())
		}
		o.ObserveInt64(up, isUp)
		o.ObserveInt64(records, s.Records)
		o.ObserveInt64(bytes, s.Bytes)
		o.ObserveInt64(limit, s.Limit)
		o.ObserveFloat64(age, seconds)
		o.ObserveInt64(drained, s.Drained)
		o.ObserveInt64(kept, s.Quarantined)
		o.ObserveInt64(parked, s.EverQuarantined)
		return nil
	}, up, records, bytes, limit, age, drained, kept, parked)
	return err
}
