package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"berth/internal/classes"
	"berth/internal/cluster"
	"berth/internal/decisionlog"
	"berth/internal/engine"
	"berth/internal/handlers"
	"berth/internal/kube"
	"berth/internal/profiles"
	"berth/internal/replays"
	"berth/internal/store"
	"berth/internal/store/commit"
	"berth/internal/store/spool"
)

// house is the rooms behind the API, open and wired.
type house struct {
	store    store.Store   // the spool where there is one, around the database
	spool    *spool.Writer // nil over the embedded store
	group    *commit.Group
	relaxed  *commit.Relaxed // nil: no answer without its record
	marker   *commit.Marker  // with relaxed
	clusters *cluster.Manager
	classes  *classes.Book
	log      *decisionlog.Log
	replays  *replays.Jobs
	kube     map[string]*followed // by cluster
	holder   *kube.Holder
}

// queueCapacity is how many records may wait for the disk.
const queueCapacity = 4096

// openHouse opens the rooms. lost is told of records that --audit=relaxed loses;
// without it nothing is to be recorded, and the spool, which belongs to one
// server, stays with that.
func openHouse(ctx context.Context, s *settings, conf *profiles.Config, observe func(int, time.Duration, error), lost func(string), log *slog.Logger) (*house, error) {
	st, err := s.backend().open(ctx, log)
	if err != nil {
		return nil, err
	}
	h := &house{store: st}
	if s.DatabaseURL != "" && lost != nil {
		if h.spool, err = openSpool(st, s, log); err != nil {
			return nil, errors.Join(err, named("close store", st.Close()))
		}
		h.store = h.spool
	}
	st = h.store
	h.group = commit.NewGroup(st, commit.Options{Queue: queueCapacity, ObserveFunc: observe})
	if lost != nil {
		if err := h.relax(ctx, s, lost, log); err != nil {
			return nil, errors.Join(err, h.close(ctx))
		}
	}
	h.clusters, err = cluster.Open(ctx, st, h.committer(), cluster.Options{CheckpointEvery: s.CheckpointEvery, KeepObjects: keepObjects(debug.SetMemoryLimit(-1)), Poll: s.poll(), Log: log})
	if err != nil {
		return nil, errors.Join(err, h.close(ctx))
	}
	if h.classes, err = classes.Open(ctx, st, classes.Options{Log: log}); err != nil {
		return nil, errors.Join(err, h.close(ctx))
	}
	checked, err := s.Kube.profiles(conf.Profiles)
	if err != nil {
		return nil, errors.Join(err, h.close(ctx))
	}
	h.kube = map[string]*followed{}
	h.holder = &kube.Holder{Newer: h.clusters.Newer, Follower: h.follower, Atmost: s.Kube.HoldRejections}
	h.log = decisionlog.New(h.clusters, st, conf.Profiles, decisionlog.Options{
		Log: log, MaxSteps: int64(s.Limits.MaxSteps), Classes: h.classes, Stale: h.stale, Binder: h.binder, BindProfiles: checked, BindUnasked: s.Kube.BindUnasked, Hold: h.hold,
		TolerationSeconds: s.TolerationSeconds,
		Backoff:           conf.Backoff,
	})
	h.employ(s, conf.Profiles, nil, log)
	return h, nil
}

// employ makes the batch replays; observe is told of their progress.
func (h *house) employ(s *settings, schedulers []*engine.Profile, observe func(identical, different, errors int64), log *slog.Logger) {
	h.replays = replays.New(h.store, h.log, replays.Options{
		ParseProfiles: profiles.Parse, Profiles: schedulers, Unfinished: s.Limits.ReplayJobs, Observe: observe, Log: log,
	})
}

func openSpool(st store.Store, s *settings, log *slog.Logger) (*spool.Writer, error) {
	dir, err := spool.Directory(s.spoolDir())
	if err != nil {
		return nil, fmt.Errorf("--spool-dir %s: %w", s.spoolDir(), err)
	}
	w, err := spool.Open(st, dir, spool.Options{Limits: spool.Limits{Total: s.SpoolLimit}, Log: log})
	if err != nil {
		return nil, fmt.Errorf("--spool-dir %s: %w", s.spoolDir(), err)
	}
	return w, nil
}

// ready says whether decisions can be recorded. With a spool a database that is
// away does not make a server unready.
func (h *house) ready(ctx context.Context) error {
	if h.spool == nil {
		return h.store.Ping(ctx)
	}
	_, err := h.spool.Ready()
	return err
}

// notes are what people should know of a server that is ready.
func (h *house) notes() []handlers.Note {
	var notes []handlers.Note
	if h.spool != nil {
		notes = append(notes, handlers.Note{Name: "spool", Text: func() string {
			note, _ := h.spool.Ready()
			return note
		}})
	}
	if h.relaxed != nil {
		notes = append(notes, handlers.Note{Name: "audit", Text: func() string { return relaxedNote }})
	}
	return notes
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
	errs = append(errs, h.endRelaxed(ctx), named("flush records", h.group.Close(ctx)), named("close store", h.store.Close()))
	return errors.Join(errs...)
}

func named(what string, err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// keepObjects is how many objects the states in memory may have under a memory limit: a quarter of it at 2 KiB each. The
// state that was used last stays in any case. 0 leaves it to the default, which is the most.
func keepObjects(limit int64) int {
	if n := limit / 4 / 2048; n > 0 && n < 1_000_000 {
		return int(n)
	}
	return 0
}
