package main

import (
	"context"
	"time"
)

// upgrade replaces an earlier release by this one over the same data, while pods come.
func upgrade(ctx context.Context, e *env) error {
	if err := e.nodes(ctx, 12, 3, "16", "64Gi", mixed); err != nil {
		return err
	}
	s, err := newServer(e.control, e.options.older, e.dir, "berth", e.address)
	if err != nil {
		return err
	}
	if err := e.start(s); err != nil {
		return err
	}
	t, err := e.enforced(full, "", s)
	if err != nil {
		return err
	}
	before := 0
	err = e.stream(ctx, 200*time.Millisecond, func(w int) error {
		if w != 8 {
			return nil
		}
		s.proc.stop()
		began := time.Now()
		s.program = e.options.server
		if err := s.start(); err != nil { // which migrates, and is ready once it has read the cluster
			return err
		}
		rows, err := s.records(ctx)
		before = len(rows)
		e.figure("ready again %.1f s after the older release had ended, with its %d records", time.Since(began).Seconds(), before)
		return err
	})
	if err != nil {
		return err
	}
	e.check(before > 8*wave, "the older release left %d records", before)
	return e.account(ctx, t)
}
