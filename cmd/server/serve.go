package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"berth/internal/config"
	"berth/internal/handlers"
	"berth/internal/ops/admin"
	"berth/internal/ops/doctor"
	"berth/internal/store/postgres"
	"berth/internal/web"
)

type serveCmd struct {
	settings
	// inEffect are the settings as they came out, for people.
	inEffect []web.Setting
}

// Run serves until SIGINT or SIGTERM. A second signal ends the process at once.
func (c *serveCmd) Run(ctx context.Context, k *kong.Context, s streams) error {
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
		if _, second := <-signals; second {
			os.Exit(1)
		}
	}()
	log := newLogger(s.err, c.LogFormat, c.LogLevel)
	c.inEffect = c.inForce(k, log)
	return c.serve(ctx, log)
}

// serve runs a server until ctx ends, then shuts it down in order.
func (c *serveCmd) serve(ctx context.Context, log *slog.Logger) (err error) {
	if err := c.validate(); err != nil {
		return err
	}
	conf, err := c.profiles()
	if err != nil {
		return err
	}
	began := time.Now()
	lines, few := &admin.Log{}, newSample(c.LogSample)
	log = c.logger(log.Handler(), lines, few)
	adminListener, err := listenAdmin(c.AdminListen)
	if err != nil {
		return err
	}
	if adminListener != nil {
		defer func() { _ = adminListener.Close() }()
	}
	places, err := c.listeners(log)
	if err != nil {
		return err
	}
	for _, p := range places {
		defer func() { _ = p.listener.Close() }() // Shutdown has closed it by then, unless starting failed
	}
	for _, f := range doctor.Files(len(places), c.Limits.MaxConnections) {
		log.Warn("files are fewer than connections", slog.String("found", f.Text), slog.String("remedy", f.Remedy))
	}
	for _, line := range conf.Ignored {
		log.Warn("a setting of the configuration is not used", slog.String("ignored", line))
	}
	if err := c.Limits.CheckMemory(0); err != nil {
		return err
	}

	tel, err := newTelemetry(ctx, c.OTLPEndpoint, log)
	if err != nil {
		return err
	}
	// What shutting down takes is done after ctx has ended.
	ending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer func() { err = errors.Join(err, named("send telemetry", tel.close(ending))) }()
	if err := tel.watchLog(few); err != nil {
		return err
	}
	observe, err := tel.observeBatches(c.backend().name())
	if err != nil {
		return err
	}
	up := &serving{}
	defer func() { err = errors.Join(err, up.end()) }()
	opened := func() (*dependencies, error) { return openDependencies(ending, &c.settings, conf, observe, true, log) }
	deps, err := opened()
	if postgres.Away(err) {
		up.start(ctx, ending, places, &c.Limits, log)
		if deps, err = c.await(ctx, up, tel, err, opened, log); deps == nil && err == nil {
			return nil // it was told to end
		}
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, deps.close(ending)) }()
	chains := &chainsLook{}
	if err := chains.watch(tel.meter); err != nil {
		return err
	}
	defer background(ctx, func(ctx context.Context) { chains.run(ctx, deps.store, log) })()
	keeper, err := newKeeper(deps.store, &c.settings, tel.meter, log)
	if err != nil {
		return err
	}
	defer background(ctx, keeper.run)()
	if err := watchFollowing(tel.meter, deps.clusters, c.poll() > 0); err != nil {
		return err
	}
	following, err := deps.follow(&c.settings, log)
	if err != nil {
		return err
	}
	for _, f := range following {
		// Until the last call is answered: no answer may come from a copy that has stopped.
		defer background(ending, f.Run)()
	}
	if err := watchKube(tel.meter, following); err != nil {
		return err
	}
	defer background(ctx, func(ctx context.Context) { warm(ctx, deps.clusters, log) })()
	if err := tel.watchQueue(deps.group, queueCapacity); err != nil {
		return err
	}
	if err := errors.Join(tel.watchSpool(deps.spool), tel.watchEpochs(deps.epochs)); err != nil {
		return err
	}
	replayed, err := tel.watchReplays(deps.store)
	if err != nil {
		return err
	}
	deps.newReplays(&c.settings, conf.Profiles, replayed, log)
	defer background(ctx, deps.replays.Work)()
	callers, keepCallers, err := deps.callers(ending, &c.settings, log)
	if err != nil {
		return err
	}
	defer background(ctx, keepCallers)()
	c.recordStart(ending, deps.store, callers, log)
	sims := deps.newSimulations(&c.Limits, log)
	cursorKey, err := deps.cursorKey(ctx)
	if err != nil {
		return err
	}
	api, err := handlers.New(handlers.Options{
		Clusters: deps.clusters, Decisions: deps.log, Binder: deps.binder, Replays: deps.replays, Simulations: sims, Capacities: deps.store, Queries: deps.store, Seals: deps.store, CursorKey: cursorKey, PriorityClasses: deps.classes, ParseProfiles: config.Parse,
		TolerationSeconds: c.TolerationSeconds,
		Profiles:          conf.Profiles,
		Checks:            append([]handlers.Check{{Name: "store", Probe: deps.ready}, {Name: "clusters", Probe: undamaged(deps.clusters), Warn: true}}, followChecks(following, c.Kube.MaxStaleness, time.Now)...),
		Notes:             append(append(deps.notes(), handlers.Note{Name: "audit chains", Text: chains.note}), followNotes(following)...),
		Followed:          deps.followed, Hold: deps.hold,
		Callers: callers, AccessLog: deps.store,
		Hosts: c.AllowedHosts, Origins: c.CORSOrigin, Pages: c.Pages != pagesOff,
		Limits: c.Limits, Budget: deps.budget, Log: log, Meter: tel.meter, Tracer: tel.tracer, Metrics: tel.handler,
	})
	if err != nil {
		return err
	}
	defer background(ctx, func(ctx context.Context) { sims.Work(ctx, api.RunSimulation) })()
	if err := tel.watchCerts(places); err != nil {
		return err
	}
	if adminListener != nil {
		h := admin.Handler(admin.Options{
			Status: func(ctx context.Context) *admin.Status {
				return statusOf(ctx, began, &c.settings, deps, api, following)
			},
			Flags:  adminFlags(c.inEffect),
			Doctor: func(ctx context.Context) []doctor.Finding { return c.examine(ctx, nil) },
			Log:    lines, Metrics: tel.metrics,
		})
		// Until the last call is answered: what hangs at the end is looked for, too.
		defer background(ending, func(ctx context.Context) { serveAdmin(ctx, adminListener, h, log) })()
	}
	return c.answer(ctx, ending, api, up, places, log)
}

// background runs f until the returned function is called, which waits for f to return.
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

// announce writes the ready file. done removes it.
func (c *serveCmd) announce(list []*place) (done func(), err error) {
	if c.ReadyFile == "" {
		return func() {}, nil
	}
	text := list[0].listener.Addr().String()
	for _, p := range list[1:] {
		text += "\n" + p.listener.Addr().String()
	}
	if err := writeReady(c.ReadyFile, text); err != nil {
		return nil, fmt.Errorf("--ready-file: %w", err)
	}
	return func() { _ = os.Remove(c.ReadyFile) }, nil
}

// writeReady writes the address whole or not at all: a process that waits for the file never reads
// half of it.
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
