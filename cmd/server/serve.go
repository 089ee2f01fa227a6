package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"berth/internal/access"
	"berth/internal/config"
	"berth/internal/handlers"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/web"
	"berth/internal/jobs/simulations"
	"berth/internal/kube/follow"
	"berth/internal/ops/admin"
	"berth/internal/ops/doctor"
	"berth/internal/store/postgres"
	"berth/internal/store/rollup"
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

// startup is a server as it starts: each step adds what later ones need, and what ends it.
type startup struct {
	*serveCmd
	conf   *config.Config
	began  time.Time
	log    *slog.Logger
	lines  *admin.Log
	few    *sample
	admin  net.Listener // nil: none
	places []*place
	// ending is for what is done after the server was told to end.
	ending    context.Context
	tel       *telemetry
	up        *serving
	deps      *dependencies
	chains    *chainsLook
	following []*follow.Follower
	callers   *access.Authenticator
	sims      *simulations.Jobs
	api       *handlers.API
	closers   []func() error
}

// errToldToEnd ends a server that was told to before its store could be reached.
var errToldToEnd = errors.New("told to end")

// serve runs a server until ctx ends, then shuts it down in order.
func (c *serveCmd) serve(ctx context.Context, log *slog.Logger) (err error) {
	if err := c.validate(); err != nil {
		return err
	}
	p := &startup{serveCmd: c, began: time.Now(), lines: &admin.Log{}, few: newSample(c.LogSample), up: &serving{}, chains: &chainsLook{}}
	if p.conf, err = c.profiles(); err != nil {
		return err
	}
	p.log = c.logger(log.Handler(), p.lines, p.few)
	var cancel context.CancelFunc
	p.ending, cancel = context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	defer func() { err = errors.Join(err, p.close()) }()
	for _, step := range []func(context.Context) error{p.listen, p.measure, p.open, p.keep, p.follow, p.work, p.makeAPI, p.serveAdmin} {
		switch err := step(ctx); {
		case errors.Is(err, errToldToEnd):
			return nil
		case err != nil:
			return err
		}
	}
	return c.answer(ctx, p.ending, p.api, p.up, p.places, p.log)
}

// onClose has f called at the end, before what was given earlier.
func (p *startup) onClose(f func() error) { p.closers = append(p.closers, f) }

func (p *startup) close() error {
	var errs []error
	for _, f := range slices.Backward(p.closers) {
		errs = append(errs, f())
	}
	return errors.Join(errs...)
}

// background runs f until ctx ends, and at the end waits for it to return.
func (p *startup) background(ctx context.Context, f func(context.Context)) {
	stop := background(ctx, f)
	p.onClose(func() error {
		stop()
		return nil
	})
}

// listen opens the listeners, so that an address that is taken is told before anything is done.
func (p *startup) listen(context.Context) (err error) {
	if p.admin, err = listenAdmin(p.AdminListen); err != nil {
		return err
	}
	if p.admin != nil {
		p.onClose(func() error {
			_ = p.admin.Close()
			return nil
		})
	}
	if p.places, err = p.listeners(p.log); err != nil {
		return err
	}
	p.onClose(func() error {
		for _, at := range p.places {
			_ = at.listener.Close() // Shutdown has closed it by then, unless starting failed
		}
		return nil
	})
	for _, f := range doctor.Files(len(p.places), p.Limits.MaxConnections) {
		p.log.Warn("files are fewer than connections", slog.String("found", f.Text), slog.String("remedy", f.Remedy))
	}
	for _, line := range p.conf.Ignored {
		p.log.Warn("a setting of the configuration is not used", slog.String("ignored", line))
	}
	return p.Limits.CheckMemory(0)
}

// measure opens metrics and traces.
func (p *startup) measure(ctx context.Context) (err error) {
	if p.tel, err = newTelemetry(ctx, p.OTLPEndpoint, p.Semantics.value(), p.log); err != nil {
		return err
	}
	p.onClose(func() error { return named("send telemetry", p.tel.close(p.ending)) })
	return p.tel.watchLog(p.few)
}

// open opens the store and what stands on it. While the database is away it answers that it waits.
func (p *startup) open(ctx context.Context) error {
	observe, err := p.tel.observeBatches(p.backend().name())
	if err != nil {
		return err
	}
	p.onClose(p.up.end)
	opened := func() (*dependencies, error) {
		return openDependencies(p.ending, &p.settings, p.conf, observe, true, p.log)
	}
	p.deps, err = opened()
	if postgres.Away(err) {
		p.up.start(ctx, p.ending, p.places, &p.Limits, p.log)
		if p.deps, err = p.await(ctx, p.up, p.tel, err, opened, p.log); p.deps == nil && err == nil {
			return errToldToEnd
		}
	}
	if err == nil {
		p.onClose(func() error { return p.deps.close(p.ending) })
	}
	return err
}

// keep looks after what is stored.
func (p *startup) keep(ctx context.Context) error {
	if err := p.chains.watch(p.tel.meter); err != nil {
		return err
	}
	p.background(ctx, func(ctx context.Context) { p.chains.run(ctx, p.deps.store, p.log) })
	keeper, err := newKeeper(p.deps.store, &p.settings, p.tel.meter, p.log)
	if err != nil {
		return err
	}
	p.background(ctx, keeper.run)
	// Before anything is answered; each answer looks at its own cluster, too.
	if err := p.deps.clusters.ExpireDue(ctx); err != nil && ctx.Err() == nil {
		p.log.Warn("holds whose time is over cannot be ended", slog.Any("error", err))
	}
	p.background(ctx, p.deps.clusters.KeepHolds)
	if err := p.tel.watchHolds(p.deps.store); err != nil {
		return err
	}
	sums := rollup.NewWorker(p.deps.store, p.log)
	p.background(ctx, sums.Run)
	return watchRollups(p.tel.meter, sums)
}

// follow follows the clusters' apiservers, and reads the newest states.
func (p *startup) follow(ctx context.Context) (err error) {
	if err := watchFollowing(p.tel.meter, p.deps.clusters, p.poll() > 0); err != nil {
		return err
	}
	if p.following, err = p.deps.follow(&p.settings, p.log); err != nil {
		return err
	}
	for _, f := range p.following {
		// Until the last call is answered: no answer may come from a copy that has stopped.
		p.background(p.ending, f.Run)
	}
	if err := watchKube(p.tel.meter, p.following); err != nil {
		return err
	}
	p.background(ctx, func(ctx context.Context) { warm(ctx, p.deps.clusters, p.log) })
	return errors.Join(p.tel.watchQueue(p.deps.group, queueCapacity), p.tel.watchSpool(p.deps.spool), p.tel.watchEpochs(p.deps.epochs))
}

// work begins the jobs, and reads who may call.
func (p *startup) work(ctx context.Context) error {
	replayed, err := p.tel.watchReplays(p.deps.store)
	if err != nil {
		return err
	}
	p.deps.newReplays(&p.settings, replayed, p.log)
	p.background(ctx, p.deps.replays.Work)
	callers, keepCallers, err := p.deps.callers(p.ending, &p.settings, p.log)
	if err != nil {
		return err
	}
	p.callers = callers
	p.background(ctx, keepCallers)
	p.recordStart(p.ending, callers)
	p.sims = p.deps.newSimulations(&p.Limits, p.log)
	return nil
}

// makeAPI puts the handlers over all of it.
func (p *startup) makeAPI(ctx context.Context) error {
	deps := p.deps
	cursorKey, err := deps.cursorKey(ctx)
	if err != nil {
		return err
	}
	p.api, err = handlers.New(admit.Options{
		Clusters: deps.clusters, Decisions: deps.log, Binder: deps.binder, Replays: deps.replays, Simulations: p.sims,
		Capacities: deps.store, Queries: deps.store, Seals: deps.store, Calls: deps.store, Events: deps.store, CursorKey: cursorKey,
		PriorityClasses: deps.classes, ParseProfiles: config.Parse,
		TolerationSeconds: p.TolerationSeconds,
		Configuration:     deps.configured,
		Checks:            append([]admit.Check{{Name: "store", Probe: deps.ready}, {Name: "clusters", Probe: undamaged(deps.clusters), Warn: true}}, followChecks(p.following, p.Kube.MaxStaleness, time.Now)...),
		Notes:             append(append(deps.notes(), admit.Note{Name: "audit chains", Text: p.chains.note}), followNotes(p.following)...),
		Followed:          deps.followed, Hold: deps.hold,
		Callers: p.callers, AccessLog: deps.store,
		Denials: deps.store, Instance: instance() + " " + p.began.UTC().Format(time.RFC3339),
		Hosts: p.AllowedHosts, Origins: p.CORSOrigin, Pages: p.Pages != pagesOff,
		Limits: p.Limits, Budget: deps.budget, Log: p.log, Meter: p.tel.meter, Tracer: p.tel.tracer, Metrics: p.tel.handler,
	})
	if err != nil {
		return err
	}
	p.background(p.ending, p.api.KeepDenials) // until the last call is answered
	p.background(ctx, func(ctx context.Context) { p.sims.Work(ctx, p.api.RunSimulation) })
	return p.tel.watchCerts(p.places)
}

// serveAdmin answers on the admin listener, if there is one.
func (p *startup) serveAdmin(context.Context) error {
	if p.admin == nil {
		return nil
	}
	h := admin.Handler(admin.Options{
		Status: func(ctx context.Context) *admin.Status {
			return statusOf(ctx, p.began, &p.settings, p.deps, p.api, p.following)
		},
		Flags:  adminFlags(p.inEffect),
		Doctor: func(ctx context.Context) []doctor.Finding { return p.examine(ctx, nil) },
		Log:    p.lines, Metrics: p.tel.metrics,
	})
	// Until the last call is answered: what hangs at the end is looked for, too.
	p.background(p.ending, func(ctx context.Context) { serveAdmin(ctx, p.admin, h, p.log) })
	return nil
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
