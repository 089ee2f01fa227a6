package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// A stream of pods, during which something breaks, comes in waves.
const (
	waves = 20
	wave  = 15
)

// stream makes the waves; at is called before each, and breaks things.
func (e *env) stream(ctx context.Context, pause time.Duration, at func(wave int) error) error {
	for w := range waves {
		if err := at(w); err != nil {
			return err
		}
		if err := e.pods(ctx, fmt.Sprintf("wave-%02d", w), wave, "100m", "128Mi", func(i int, p *corev1.Pod) { choosy(i, p) }); err != nil {
			return err
		}
		time.Sleep(pause)
	}
	return nil
}

// account waits for all pods and compares the books: none lost, none bound twice, and
// every answer on record.
func (e *env) account(ctx context.Context, t *trial) error {
	if err := e.allBound(ctx, waves*wave, 2*time.Minute); err != nil {
		return err
	}
	t.stop()
	if err := until(ctx, time.Minute, "the spool handed over", func() bool { return t.s.knows(ctx, t.f) }); err != nil {
		e.check(false, "%v", err) // the books say which are missing
	}
	if err := e.misplaced(ctx); err != nil {
		return err
	}
	e.allowed(t.f)
	b, err := e.books(ctx, t)
	if err != nil {
		return err
	}
	failed := map[int]int{}
	for _, x := range t.f.said("") {
		if x.status != 200 {
			failed[x.status]++
		}
	}
	unknown := 0
	for _, r := range b.records {
		if r.Verb == "bind-result" && r.Outcome == "Unknown" {
			unknown++
		}
	}
	e.figure("%d pods bound, each once, none lost; calls without an answer or with another status than 200: %v; %d binds refused; %d of unknown outcome; the longest time without a bind %.1f s",
		waves*wave, failed, refusals(t.f), unknown, e.stillness().Seconds())
	return nil
}

// stillness is the longest time between two binds.
func (e *env) stillness() (longest time.Duration) {
	var at []time.Time
	for _, l := range e.kubelets.of(e.namespace) {
		at = append(at, l.bound)
	}
	slices.SortFunc(at, time.Time.Compare)
	for i := 1; i < len(at); i++ {
		longest = max(longest, at[i].Sub(at[i-1]))
	}
	return longest
}

// knows reports whether every answer that was given is on record.
func (s *server) knows(ctx context.Context, f *frontend) bool {
	rows, err := s.records(ctx)
	if err != nil {
		return false
	}
	known := map[string]bool{"": true}
	for _, r := range rows {
		known[r.ID] = true
	}
	for _, x := range f.said("") {
		if !known[x.id] {
			return false
		}
	}
	return true
}

// killed ends berth as a crash would, twice.
func killed(ctx context.Context, e *env) error {
	if err := e.nodes(ctx, 12, 3, "16", "64Gi", mixed); err != nil {
		return err
	}
	s, err := e.berth(nil)
	if err != nil {
		return err
	}
	t, err := e.enforced(full, "", s)
	if err != nil {
		return err
	}
	err = e.stream(ctx, 200*time.Millisecond, func(w int) error {
		switch w {
		case 5, 12:
			s.proc.kill()
		case 8, 15:
			return s.start()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return e.account(ctx, t)
}

// severed cuts berth from the apiserver, both its watches and its binds.
func severed(ctx context.Context, e *env) error {
	if err := e.nodes(ctx, 12, 3, "16", "64Gi", mixed); err != nil {
		return err
	}
	w, err := newWire(e.address, 0)
	if err != nil {
		return err
	}
	e.later(w.close)
	s, err := e.berth(w)
	if err != nil {
		return err
	}
	t, err := e.enforced(full, "", s)
	if err != nil {
		return err
	}
	err = e.stream(ctx, 300*time.Millisecond, func(n int) error {
		switch n {
		case 4, 13:
			time.AfterFunc(100*time.Millisecond, w.sever) // with binds on their way
		case 10, 14:
			w.mend()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return e.account(ctx, t)
}

// outage stops the database under one berth.
func outage(ctx context.Context, e *env) error {
	if err := e.nodes(ctx, 12, 3, "16", "64Gi", mixed); err != nil {
		return err
	}
	db, err := e.postgres()
	if err != nil {
		return err
	}
	s, err := e.berth(nil, "--database-url", db.url)
	if err != nil {
		return err
	}
	t, err := e.enforced(full, db.url, s)
	if err != nil {
		return err
	}
	var away time.Time
	err = e.stream(ctx, 200*time.Millisecond, func(n int) error {
		switch n {
		case 5:
			away = time.Now()
			return db.do("halt")
		case 12:
			time.Sleep(time.Until(away.Add(e.options.outage)))
			return db.do("launch")
		}
		return nil
	})
	if err != nil {
		return err
	}
	e.figure("the database was away for %s", e.options.outage)
	return e.account(ctx, t)
}

// replicas kills one of two, the one that follows the cluster.
func replicas(ctx context.Context, e *env) error {
	if err := e.nodes(ctx, 12, 3, "16", "64Gi", mixed); err != nil {
		return err
	}
	db, err := e.postgres()
	if err != nil {
		return err
	}
	var two [2]*server
	for i := range two {
		if two[i], err = newServer(e.control, e.options.server, e.dir, fmt.Sprintf("berth-%d", i), e.address, "--database-url", db.url); err != nil {
			return err
		}
		if err := e.start(two[i]); err != nil {
			return err
		}
	}
	t, err := e.enforced(full, db.url, two[:]...)
	if err != nil {
		return err
	}
	err = e.stream(ctx, 300*time.Millisecond, func(w int) error {
		if w == 7 {
			two[0].proc.kill()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return e.account(ctx, t)
}
