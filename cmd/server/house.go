package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"berth/internal/audit"
	"berth/internal/classes"
	"berth/internal/cluster"
	"berth/internal/engine"
	"berth/internal/profiles"
	"berth/internal/replays"
	"berth/internal/store"
	"berth/internal/store/commit"
)

// house is the rooms behind the API, open and wired.
type house struct {
	store    store.Store
	group    *commit.Group
	clusters *cluster.Manager
	classes  *classes.Book
	log      *audit.Log
	replays  *replays.Jobs
}

// queueCapacity is how many records may wait for the disk.
const queueCapacity = 4096

func openHouse(ctx context.Context, s *settings, schedulers []*engine.Profile, observe func(int, time.Duration, error), log *slog.Logger) (*house, error) {
	st, err := s.backend().open(ctx, log)
	if err != nil {
		return nil, err
	}
	h := &house{store: st, group: commit.NewGroup(st, commit.Options{Queue: queueCapacity, ObserveFunc: observe})}
	h.clusters, err = cluster.Open(ctx, st, h.group, cluster.Options{CheckpointEvery: s.CheckpointEvery, Poll: s.poll(), Log: log})
	if err != nil {
		return nil, errors.Join(err, h.close(ctx))
	}
	if h.classes, err = classes.Open(ctx, st, classes.Options{Log: log}); err != nil {
		return nil, errors.Join(err, h.close(ctx))
	}
	h.log = audit.New(h.clusters, st, schedulers, audit.Options{Log: log, Classes: h.classes})
	h.employ(s, schedulers, nil, log)
	return h, nil
}

// employ makes the batch replays; observe is told of their progress.
func (h *house) employ(s *settings, schedulers []*engine.Profile, observe func(identical, different, errors int64), log *slog.Logger) {
	h.replays = replays.New(h.store, h.log, replays.Options{
		ParseProfiles: profiles.Parse, Profiles: schedulers, Unfinished: s.Limits.ReplayJobs, Observe: observe, Log: log,
	})
}

// close ends the rooms in the order in which they use each other: nothing that was accepted is lost.
func (h *house) close(ctx context.Context) error {
	var errs []error
	if h.classes != nil {
		errs = append(errs, named("stop following priority classes", h.classes.Close()))
	}
	if h.clusters != nil {
		errs = append(errs, named("end writes", h.clusters.Close()))
	}
	errs = append(errs, named("flush records", h.group.Close(ctx)), named("close store", h.store.Close()))
	return errors.Join(errs...)
}

func named(what string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}
