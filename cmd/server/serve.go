package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"golang.org/x/net/netutil"

	"berth/internal/engine"
	"berth/internal/handlers"
	"berth/internal/profiles"
)

type serveCmd struct {
	settings
}

// Run serves until it is told to end: once to end in order, twice to end at once.
func (c *serveCmd) Run(ctx context.Context, s streams) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(signals)
	go func() {
		select {
		case <-signals:
			stop()
		case <-ctx.Done():
			return
		}
		if _, again := <-signals; again {
			os.Exit(1)
		}
	}()
	return c.serve(ctx, newLogger(s.err, c.LogFormat, c.LogLevel))
}

// serve runs a server until ctx ends, and then ends it in order.
func (c *serveCmd) serve(ctx context.Context, log *slog.Logger) (err error) {
	if err := c.validate(); err != nil {
		return err
	}
	schedulers, ignored, err := c.profiles()
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("--listen %s: %w", c.Listen, err)
	}
	defer func() { _ = listener.Close() }() // Shutdown has closed it by then, unless starting failed
	address := listener.Addr().String()
	log.Info("berth listens on http://"+address, slog.String("address", address), slog.String("docs", "http://"+address+"/docs"), slog.String("dataDir", c.DataDir))
	for _, line := range ignored {
		log.Warn("the configuration has what berth does not use", slog.String("ignored", line))
	}
	if c.AutoMemory {
		limitMemory(log)
	}
	if err := c.Limits.CheckMemory(0); err != nil {
		return err
	}

	tel, err := newTelemetry(ctx, c.OTLPEndpoint)
	if err != nil {
		return err
	}
	// What is left to be done is done even though ctx has ended.
	ending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer func() { err = errors.Join(err, named("send telemetry", tel.close(ending))) }()
	observe, err := tel.observeBatches(c.backend().name())
	if err != nil {
		return err
	}
	rooms, err := openHouse(ending, &c.settings, schedulers, observe, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rooms.close(ending)) }()
	keeper, err := newKeeper(rooms.store, &c.settings, tel.meter, log)
	if err != nil {
		return err
	}
	defer background(ctx, keeper.run)()
	if err := watchFollowing(tel.meter, rooms.clusters, c.poll() > 0); err != nil {
		return err
	}
	defer background(ctx, func(ctx context.Context) { warm(ctx, rooms.clusters, log) })()
	if err := tel.watchQueue(rooms.group, queueCapacity); err != nil {
		return err
	}
	replayed, err := tel.watchReplays(rooms.store)
	if err != nil {
		return err
	}
	rooms.employ(&c.settings, schedulers, replayed, log)
	defer background(ctx, rooms.replays.Work)()
	api, err := handlers.New(handlers.Options{
		Clusters: rooms.clusters, Decisions: rooms.log, Replays: rooms.replays, PriorityClasses: rooms.classes, ParseProfiles: profiles.Parse,
		Schedulers: schedulerNames(schedulers),
		Checks:     []handlers.Check{{Name: "store", Probe: rooms.store.Ping}, {Name: "clusters", Probe: undamaged(rooms.clusters), Warn: true}},
		Limits:     c.Limits, Log: log, Meter: tel.meter, Tracer: tel.tracer, Metrics: tel.handler,
	})
	if err != nil {
		return err
	}
	return c.answer(ctx, ending, api, listener, log)
}

// background runs f until the function that it gives back is called, which
// waits for f.
func background(ctx context.Context, f func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(ctx)
	}()
	return func() {
		cancel()
		<-done
	}
}

// answer serves the API on a listener until ctx ends.
func (c *serveCmd) answer(ctx, ending context.Context, api *handlers.API, listener net.Listener, log *slog.Logger) error {
	readHeader, read, write, idle := c.Limits.Timeouts()
	server := &http.Server{
		Handler: api.Handler(), ReadHeaderTimeout: readHeader, ReadTimeout: read, WriteTimeout: write, IdleTimeout: idle,
		MaxHeaderBytes: int(c.Limits.MaxHeaderBytes), ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context { return ending },
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(netutil.LimitListener(listener, c.Limits.MaxConnections)) }()
	if c.ReadyFile != "" {
		if err := writeReady(c.ReadyFile, listener.Addr().String()); err != nil {
			return errors.Join(fmt.Errorf("--ready-file: %w", err), server.Close())
		}
		defer func() { _ = os.Remove(c.ReadyFile) }()
	}
	log.Info("ready")
	select {
	case err := <-failed:
		return fmt.Errorf("serve: %w", err)
	case <-ctx.Done():
	}
	api.Drain()
	log.Info("ending: calls on their way are answered first", slog.Duration("atMost", c.ShutdownTimeout))
	limited, cancel := context.WithTimeout(ending, c.ShutdownTimeout)
	defer cancel()
	began := time.Now()
	if err := server.Shutdown(limited); err != nil {
		return errors.Join(fmt.Errorf("calls were still on their way after %s: %w", c.ShutdownTimeout, err), server.Close())
	}
	log.Info("ended", slog.Duration("took", time.Since(began)))
	return nil
}

// writeReady writes the address whole or not at all: whoever waits for the file never reads half of it.
func writeReady(path, address string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".ready-*")
	if err != nil {
		return err
	}
	_, err = f.WriteString(address)
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// limitMemory makes the garbage collector heed the container's memory.
func limitMemory(log *slog.Logger) {
	limit, err := memlimit.Set(memlimit.WithRatio(0.9))
	switch {
	case err != nil:
		log.Debug("no memory limit was found", slog.Any("error", err))
	case limit > 0 && limit < math.MaxInt64: // the runtime calls no limit so
		log.Info("memory is limited", slog.String("limit", handlers.Bytes(limit).String()))
	}
}

// schedulerNames are those whose pods are for this server to place.
func schedulerNames(profiles []*engine.Profile) []string {
	names := make([]string, len(profiles))
	for i, p := range profiles {
		names[i] = p.Name
	}
	return names
}
