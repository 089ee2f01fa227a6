//go:build linux

package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"syscall"
	"time"
)

// The load without which a fault proves nothing: one of the two.
const (
	leastDecisions = 100 // a second
	leastInFlight  = 5
)

// inject breaks something under load, mends it, and waits until all is well.
func (r *report) inject(ctx context.Context, w *world, f fault, o options) {
	p, m := w.place, w.meter
	pause(ctx, f.after)
	if ctx.Err() != nil {
		return
	}
	if (f.kind == freezeAndDown || f.kind == fillAndDown) && !p.replicas[f.target].disk.mounted {
		r.skipped = append(r.skipped, f.kind)
		return
	}
	hit := strike{fault: f, began: time.Now(), replica: p.replicas[f.target].name}
	hit.decisions, hit.inFlight = m.load()
	if hit.decisions < leastDecisions && hit.inFlight < leastInFlight {
		r.violate("meaningless", "%s hit with %d decisions/s and %d calls in flight: no load, no proof", f, hit.decisions, hit.inFlight)
	}
	r.startJob(ctx, p.replicas[f.target])
	m.enter(f.kind)
	if err := breakIt(ctx, p, f); err != nil && ctx.Err() == nil {
		r.violate("harness", "%s: %v", f, err)
	}
	hit.lifted = time.Now()
	m.enter(settling)
	hit.recovered = recovered(ctx, w, hit.lifted, o.Recovery)
	if hit.recovered == 0 && ctx.Err() == nil {
		r.violate("no recovery", "%s after %s: not every replica decides, writes and has caught up", o.Recovery, f)
	}
	if time.Since(r.checked) > 10*r.checking { // it reads the whole log
		r.chains(ctx, p, "after "+f.String())
	}
	m.enter(calm)
	r.strikes = append(r.strikes, hit)
	fmt.Printf("%6.1fs  %-52s %-4s %5.1fs  load %d/s, %d in flight, well again after %s\n", hit.began.Sub(r.began).Seconds(), f.kind, hit.replica,
		hit.lifted.Sub(hit.began).Seconds(), hit.decisions, hit.inFlight, hit.recovered.Round(time.Millisecond))
}

// breakIt breaks something and mends it.
func breakIt(ctx context.Context, p *place, f fault) error {
	r := p.replicas[f.target]
	switch f.kind {
	case killReplica:
		return r.signal(syscall.SIGKILL)
	case termReplica:
		return r.turn(ctx)
	case migrateNext:
		return p.migrateNext(ctx)
	case turnToNext:
		return p.turnTo(ctx, r, p.next)
	case turnBack:
		return p.turnTo(ctx, r, p.program)
	case freezeReplica:
		return around(ctx, f.length, func() error { return r.signal(syscall.SIGSTOP) }, func() error { return r.signal(syscall.SIGCONT) })
	case killDatabase:
		return around(ctx, 0, p.pg.kill, p.pg.launch)
	case stopDatabase:
		return around(ctx, f.length, p.pg.halt, p.pg.launch)
	case freezeDatabase:
		return around(ctx, f.length, p.pg.freeze, p.pg.thaw)
	case cutLink, clogLink, cutAll:
		set := func(s linkState) func() error {
			return func() error {
				for i, each := range p.replicas {
					if i == f.target || f.kind == cutAll {
						each.link.set(s)
					}
				}
				return nil
			}
		}
		how := linkCut
		if f.kind == clogLink {
			how = linkClogged
		}
		return around(ctx, f.length, set(how), set(linkOpen))
	case flapLink:
		for end := time.Now().Add(f.length); time.Now().Before(end) && ctx.Err() == nil; {
			r.link.set(linkCut)
			r.link.set(linkOpen)
			pause(ctx, 50*time.Millisecond)
		}
		return nil
	case killAndDown, freezeAndDown, fillAndDown:
		return around(ctx, 0, p.pg.halt, p.pg.launch, func() error { return breakToo(ctx, r, f) })
	}
	pause(ctx, f.length)
	return nil
}

// breakToo is what happens to a replica while Postgres is down: first the spool
// fills for a while.
func breakToo(ctx context.Context, r *replica, f fault) error {
	pause(ctx, f.length/2)
	switch f.kind {
	case killAndDown:
		return around(ctx, f.length/2, func() error { return r.signal(syscall.SIGKILL) }, func() error { return nil })
	case freezeAndDown:
		return around(ctx, f.length/2, r.disk.freeze, r.disk.thaw)
	}
	return around(ctx, f.length/2, r.disk.fill, r.disk.empty)
}

// around breaks, does what is to be done meanwhile, waits, and mends whatever happened.
func around(ctx context.Context, length time.Duration, breaks, mends func() error, meanwhile ...func() error) error {
	err := breaks()
	for _, f := range meanwhile {
		if err == nil {
			err = f()
		}
	}
	if err == nil {
		pause(ctx, length)
	}
	if mendErr := mends(); err == nil {
		err = mendErr
	}
	return err
}

// turn ends a replica in order and waits for its successor.
func (r *replica) turn(ctx context.Context) error {
	r.mu.Lock()
	before := r.starts
	r.mu.Unlock()
	at := r.address()
	began := time.Now()
	if err := r.signal(syscall.SIGTERM); err != nil {
		return err
	}
	if slices.Contains(r.args, "--drain-delay") {
		if err := saysNotReady(ctx, at, began); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	for end := time.Now().Add(60 * time.Second); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
		r.mu.Lock()
		after, up := r.starts, r.url != ""
		r.mu.Unlock()
		if after > before && up {
			return nil
		}
	}
	return fmt.Errorf("%s does not come back after SIGTERM", r.name)
}

// saysNotReady wants /readyz to say no before the server stops to listen.
func saysNotReady(ctx context.Context, at string, began time.Time) error {
	for ctx.Err() == nil && at != "" {
		status, _, _, err := send(ctx, http.DefaultClient, at, http.MethodGet, "/readyz", nil)
		switch {
		case status == http.StatusServiceUnavailable:
			return nil
		case err != nil:
			return fmt.Errorf("it was gone %s after SIGTERM without having said that it is not ready: %w", time.Since(began).Round(time.Millisecond), err)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return nil
}

// recovered waits until every replica has answered a decision, an extender's call
// and a write that began after the moment, and has decided on what was known of
// every cluster at that moment. It describes how long that took; 0: it did not come to
// it.
func recovered(ctx context.Context, w *world, lifted time.Time, atMost time.Duration) time.Duration {
	known := w.known()
	for time.Since(lifted) < atMost && ctx.Err() == nil {
		well := true
		for i, r := range w.place.replicas {
			well = well && w.caughtUp(r.name, known)
			for _, class := range []string{classDecide, classExtender, classWrite} {
				well = well && w.meter.answeredSince(i, class, lifted)
			}
		}
		if well {
			return time.Since(lifted)
		}
		time.Sleep(5 * time.Millisecond)
	}
	return 0
}
