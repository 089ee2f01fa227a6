package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"berth/internal/store"
	"berth/internal/store/commit"
)

// relaxedNote is the remark of the log and of /readyz on --audit=relaxed.
const relaxedNote = "--audit=relaxed: answers do not wait for their record, so the promise that every answer is on record is off"

// relax sets up the relaxed mode if --audit=relaxed is set. In every mode it first records what a
// killed process may have lost.
func (d *dependencies) relax(ctx context.Context, s *settings, lost func(cause string), log *slog.Logger) error {
	path := filepath.Join(s.DataDir, "relaxed")
	if err := d.recordKilled(ctx, path, log); err != nil {
		return err
	}
	if s.Audit != "relaxed" {
		return nil
	}
	log.LogAttrs(ctx, slog.LevelWarn, relaxedNote)
	if err := os.MkdirAll(s.DataDir, 0o700); err != nil {
		return fmt.Errorf("--data-dir: %w", err)
	}
	name := instance()
	marker, err := commit.SetMarker(path, commit.Mark{Clean: time.Now().UTC(), Instance: name})
	if err != nil {
		return fmt.Errorf("--data-dir: %w", err)
	}
	d.marker = marker
	d.relaxed = commit.NewRelaxed(d.group, commit.RelaxedOptions{
		Instance: name, LostFunc: lost,
		CleanFunc: func(at time.Time) {
			if err := marker.Refresh(at); err != nil {
				log.LogAttrs(context.Background(), slog.LevelError, "the marker is not moved on: a kill would leave a gap that is too long", slog.Any("error", err))
			}
		},
	})
	return nil
}

// recordKilled writes a gap of unknown size for each cluster if a relaxed process was killed: what
// it had answered and not written is lost.
func (d *dependencies) recordKilled(ctx context.Context, path string, log *slog.Logger) error {
	mark, err := commit.ReadMarker(path)
	if err != nil || mark == nil {
		return err
	}
	clusters, err := d.store.Clusters(ctx, store.ClusterFilter{})
	if err != nil {
		return fmt.Errorf("write the gaps of a killed process: %w", err)
	}
	until := time.Now().UTC().Truncate(time.Microsecond)
	since := mark.Clean.Truncate(time.Microsecond)
	if since.After(until) { // the clock was put back
		since = until
	}
	for _, c := range clusters {
		gap := &store.Gap{
			// The same marker makes the same gaps, so that a second attempt writes nothing new.
			ID:      uuid.NewSHA1(uuid.NameSpaceOID, []byte(mark.Instance+mark.Clean.String()+c.Name)).String(),
			Cluster: c.Name, Since: since, Until: until, Lost: store.UnknownLoss, Cause: commit.CauseKilled, Instance: mark.Instance,
		}
		if err := commit.WriteGap(ctx, d.group, gap); err != nil {
			return err
		}
	}
	log.LogAttrs(ctx, slog.LevelError, "a relaxed server was killed: the log has a gap of unknown size", slog.Time("since", since), slog.Time("until", until), slog.Int("clusters", len(clusters)))
	return commit.ClearMarker(path)
}

// endRelaxed writes what is in flight. It removes the marker only if the log then has every record
// or a gap for those it lacks.
func (d *dependencies) endRelaxed(ctx context.Context) error {
	if d.relaxed == nil {
		return nil
	}
	err := d.relaxed.Close(ctx)
	if err == nil {
		err = d.marker.Clear()
	}
	return named("end --audit=relaxed", err)
}

// instance names this process, in gaps and as the one that follows a cluster.
func instance() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s:%d", host, os.Getpid())
}

// committer is what writes entries in the chosen mode.
func (d *dependencies) committer() commit.Submitter {
	if d.relaxed != nil {
		return d.relaxed
	}
	return d.group
}

// countLost counts what --audit=relaxed loses.
func (t *telemetry) countLost() (func(cause string), error) {
	c, err := t.meter.Int64Counter("berth.audit.lost", metric.WithDescription("Decisions that were answered and are not on record, by cause; only with --audit=relaxed."))
	if err != nil {
		return nil, err
	}
	for _, cause := range []string{commit.CauseQueueFull, commit.CauseStore, commit.CauseKilled} { // there for an alert, as 0
		c.Add(context.Background(), 0, metric.WithAttributes(attribute.String("cause", cause)))
	}
	return func(cause string) {
		c.Add(context.Background(), 1, metric.WithAttributes(attribute.String("cause", cause)))
	}, nil
}
