package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// beside is what kube-scheduler has beside berth in a row of woken.
type beside struct {
	lag      time.Duration // of berth's way to the apiserver, in both replicas
	profile  profile
	replicas int // 0: no extender at all
}

func (b beside) String() string {
	who := map[profile]string{full: "beside the in-tree filters", extenderOnly: "the only filter"}[b.profile]
	if b.replicas == 0 {
		return "no extender"
	}
	return fmt.Sprintf("%d ms late, %s, %d berth", b.lag.Milliseconds(), who, b.replicas)
}

// stranded is from when on a pod that has room counts as forgotten: in a quiet
// cluster kube-scheduler would look at it after five minutes
// (pkg/scheduler/backend/queue flushUnschedulablePodsLeftover).
const stranded = 15 * time.Second

// woken makes pods wait and then makes room for each in a cluster where nothing
// else happens: a rejection by what was known before strands the pod.
func woken(ctx context.Context, e *env) error {
	rows := []beside{{profile: full}}
	for _, replicas := range []int{1, 2} {
		for _, p := range []profile{extenderOnly, full} {
			for _, lag := range []time.Duration{0, 50, 200, 1000} {
				rows = append(rows, beside{lag * time.Millisecond, p, replicas})
			}
		}
	}
	all := 0
	for i, b := range rows {
		times, left, err := e.wokenBeside(ctx, i, b)
		if err != nil {
			return fmt.Errorf("%s: %w", b, err)
		}
		all += len(times) + left
		e.check(left == 0, "%s: %d pods stranded", b, left)
		e.figure("%s: %d moments, %d stranded, time to bound p50 %d ms, p99 %d ms", b, len(times)+left, left, quantile(times, 0.5).Milliseconds(), quantile(times, 0.99).Milliseconds())
	}
	e.check(all >= 200, "only %d moments were tried", all)
	return nil
}

func quantile(list []time.Duration, q float64) time.Duration {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[min(int(q*float64(len(list))), len(list)-1)]
}

// wokenBeside tries all kinds of moments with one set-up.
func (e *env) wokenBeside(ctx context.Context, i int, b beside) (times []time.Duration, left int, err error) {
	sub := &env{control: e.control, kubelets: e.kubelets, options: e.options, namespace: e.namespace, dir: filepath.Join(e.dir, fmt.Sprint(i))}
	if err := os.Mkdir(sub.dir, 0o700); err != nil {
		return nil, 0, err
	}
	defer func() {
		for _, f := range slices.Backward(sub.cleanups) {
			f()
		}
		e.failed = append(e.failed, sub.failed...)
	}()
	// without a node no filter would be called
	other := &scene{env: sub, ctx: ctx, name: fmt.Sprintf("other-%d", i)}
	if err := other.node(func(n *corev1.Node) { delete(n.Labels, "moment") }); err != nil {
		return nil, 0, err
	}
	defer other.tidy()
	t, err := sub.lateTrial(b)
	if err != nil {
		return nil, 0, err
	}
	for round := range e.options.rounds {
		for _, m := range moments {
			took, ok, err := sub.moment(ctx, t, b, m, fmt.Sprintf("%s-%d-%d", m.name, i, round))
			switch {
			case err != nil:
				return nil, 0, fmt.Errorf("%s: %w", m.name, err)
			case ok:
				times = append(times, took)
			default:
				left++
				e.check(false, "%s: a pod was still pending %s after %s", b, stranded, m.what)
			}
		}
	}
	if err := sub.quiet(ctx, t, b, func() bool { return true }); err != nil { // the last bind is on its way to the record
		return nil, 0, err
	}
	t.stop()
	if b.replicas > 0 {
		books, err := sub.bookkeeping(ctx, t.s, t.database)
		if err != nil {
			return nil, 0, err
		}
		sub.answered(books, t.f)
		e.answerTimes(b, t.f)
	}
	return times, left, nil
}

// answerTimes reports how long answers to /filter took that let a node pass, and
// those that let none, which were held.
func (e *env) answerTimes(b beside, f *frontend) {
	var passed, rejected []time.Duration
	errors := 0
	for _, x := range f.said("filter") {
		var a struct {
			NodeNames []string
			Error     string
		}
		switch {
		case json.Unmarshal(x.answer, &a) != nil || a.Error != "":
			errors++
		case len(a.NodeNames) > 0:
			passed = append(passed, x.took)
		default:
			rejected = append(rejected, x.took)
		}
	}
	e.figure("   /filter: %d passed, p50 %d ms; %d rejected, p50 %d ms, p99 %d ms; %d errors", len(passed), quantile(passed, 0.5).Milliseconds(),
		len(rejected), quantile(rejected, 0.5).Milliseconds(), quantile(rejected, 0.99).Milliseconds(), errors)
}

// lateTrial starts as many berths as wanted, each with a late way to the
// apiserver, and a kube-scheduler.
func (e *env) lateTrial(b beside) (t *trial, err error) {
	if b.replicas == 0 {
		t = &trial{}
		t.stop, err = e.schedule(b.profile, extender{})
		return t, err
	}
	args := []string{"--hold-rejections", e.options.hold.String()}
	database := ""
	if b.replicas > 1 {
		db, err := e.postgres()
		if err != nil {
			return nil, err
		}
		database, args = db.url, append(args, "--database-url", db.url)
	}
	var servers []*server
	for i := range b.replicas {
		w, err := newWire(e.address, b.lag)
		if err != nil {
			return nil, err
		}
		e.later(w.close)
		s, err := newServer(e.control, e.options.server, e.dir, fmt.Sprintf("berth-%d", i), w.address(), args...)
		if err != nil {
			return nil, err
		}
		if err := e.start(s); err != nil {
			return nil, err
		}
		servers = append(servers, s)
	}
	return e.enforced(b.profile, database, servers...)
}

// moment makes a pod wait, then room for it, and returns how long it took until
// the pod was on a node.
func (e *env) moment(ctx context.Context, t *trial, b beside, m moment, name string) (took time.Duration, ok bool, err error) {
	s := &scene{env: e, ctx: ctx, name: name}
	defer s.tidy()
	if err := m.before(s); err != nil {
		return 0, false, err
	}
	if err := e.quiet(ctx, t, b, func() bool { return true }); err != nil {
		return 0, false, err
	}
	if err := s.waitingPod(m.change); err != nil {
		return 0, false, err
	}
	if err := e.quiet(ctx, t, b, s.unschedulable); err != nil {
		return 0, false, fmt.Errorf("the pod that is to wait: %w", err)
	}
	began := time.Now()
	if err := m.room(s); err != nil {
		return 0, false, err
	}
	if until(ctx, stranded, "the pod bound", func() bool { return !s.bound().IsZero() }) != nil {
		return 0, false, ctx.Err()
	}
	return s.bound().Sub(began), true, nil
}

// quiet waits until a condition holds and berth has had no call for a while, in which it receives
// all events.
func (e *env) quiet(ctx context.Context, t *trial, b beside, ok func() bool) error {
	var since time.Time
	asked := -1
	return until(ctx, 30*time.Second, "a quiet cluster", func() bool {
		n := 0
		if t.f != nil {
			n = t.f.count()
		}
		if n != asked || !ok() {
			asked, since = n, time.Now()
		}
		return time.Since(since) > 250*time.Millisecond+b.lag
	})
}
