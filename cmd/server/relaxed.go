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

// relaxedNote is what the log at the start and /readyz say of --audit=relaxed.
const relaxedNote = "--audit=relaxed: answers do not wait for their record, so the promise that every answer is on record is off"

// relax sets the relaxed mode up where it is asked for. What a killed process
// may have lost is written into the log first, in every mode.
func (h *house) relax(ctx context.Context, s *settings, lost func(cause string), log *slog.Logger) error {
	path := filepath.Join(s.DataDir, "relaxed")
	if err := h.mournKilled(ctx, path, log); err != nil {
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
	h.marker = marker
	h.relaxed = commit.NewRelaxed(h.group, commit.RelaxedOptions{
		Instance: name, LostFunc: lost,
		CleanFunc: func(at time.Time) {
			if err := marker.Refresh(at); err != nil {
				log.LogAttrs(context.Background(), slog.LevelError, "the marker is not moved on: a kill would leave a gap that is too long", slog.Any("error", err))
			}
		},
	})
	return nil
}

// mournKilled writes a gap for each cluster where a relaxed process was killed:
// what it had answered and not written is lost, and nobody knows how much.
func (h *house) mournKilled(ctx context.Context, path string, log *slog.Logger) error {
	mark, err := commit.ReadMarker(path)
	if err != nil || mark == nil {
		return err
	}
	clusters, err := h.store.Clusters(ctx)
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
			// The same marker makes the same gaps, however often this is begun.
			ID:      uuid.NewSHA1(uuid.NameSpaceOID, []byte(mark.Instance+mark.Clean.String()+c.Name)).String(),
			Cluster: c.Name, Since: since, Until: until, Lost: store.UnknownLoss, Cause: commit.CauseKilled, Instance: mark.Instance,
		}
		if err := commit.WriteGap(ctx, h.group, gap); err != nil {
			return err
		}
	}
	log.LogAttrs(ctx, slog.LevelError, "a relaxed server was killed: the log has a gap of unknown size", slog.Time("since", since), slog.Time("until", until), slog.Int("clusters", len(clusters)))
	return commit.ClearMarker(path)
}

// endRelaxed writes what is on its way, and takes the marker down only if the
// log has everything or says what it lacks.
func (h *house) endRelaxed(ctx context.Context) error {
	if h.relaxed == nil {
		return nil
	}
	err := h.relaxed.Close(ctx)
	if err == nil {
		err = h.marker.Clear()
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
func (h *house) committer() commit.Submitter {
	if h.relaxed != nil {
		return h.relaxed
	}
	return h.group
}

// countLost counts what --audit=relaxed loses.
func (t *telemetry) countLost() (func(cause string), error) {
	c, err := t.meter.Int64Counter("berth.audit.lost", metric.WithDescription("Decisions that were answered and are not on record, by cause; only with --audit=relaxed."))
	if err != nil {
		return nil, err
	}
	return func(cause string) {
		c.Add(context.Background(), 1, metric.WithAttributes(attribute.String("cause", cause)))
	}, nil
}
