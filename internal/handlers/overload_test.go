package handlers

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/decision"
	"berth/internal/decision/bind"
	"berth/internal/decision/record"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/handlers/limits"
)

// slow is a decision log that holds every question until it is let go.
type slow struct {
	admit.Decisions
	entered chan struct{}
	let     chan struct{}
	err     error
}

func (s *slow) hold(ctx context.Context) error {
	s.entered <- struct{}{}
	select {
	case <-s.let:
		return s.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *slow) Decide(ctx context.Context, q decision.Question) (*decision.Answer, error) {
	if err := s.hold(ctx); err != nil {
		return nil, err
	}
	return s.Decisions.Decide(ctx, q)
}

func (s *slow) Evaluate(ctx context.Context, q decision.Question) (*record.Entry, error) {
	if err := s.hold(ctx); err != nil {
		return nil, err
	}
	return s.Decisions.Evaluate(ctx, q)
}

// slowBinder binds as slowly.
type slowBinder struct {
	admit.Binder
	s *slow
}

func (b *slowBinder) Bind(ctx context.Context, c string, pod decision.PodRef, node string) (bind.Bound, error) {
	if err := b.s.hold(ctx); err != nil {
		return bind.Bound{}, err
	}
	return b.Binder.Bind(ctx, c, pod, node)
}

func startSlow(t *testing.T, change func(*limits.Limits)) (*harness, *slow) {
	t.Helper()
	s := &slow{entered: make(chan struct{}, 100), let: make(chan struct{})}
	h := start(t, func(o *admit.Options) {
		s.Decisions = o.Decisions
		o.Decisions, o.Binder = s, &slowBinder{o.Binder, s}
		change(&o.Limits)
	})
	h.upload("default", small())
	h.upload("other", small())
	return h, s
}

// TestOverloadIsRefusedFast fills every slot and every place in the queue: what comes then is
// refused at once, in the caller's own terms, and never with 200.
func TestOverloadIsRefusedFast(t *testing.T) {
	web := pod("web", "1", "")
	for _, c := range []struct {
		path, other, body string
		status            int
		limit             string
	}{
		{"/filter", "/clusters/other/filter", filterBody(web, "n1"), 503, "filter-queue"},
		{"/prioritize", "/clusters/other/prioritize", filterBody(web, "n1"), 503, "filter-queue"},
		{"/bind", "/clusters/other/bind", `{"PodName":"web","PodNamespace":"shop","PodUID":"uid-web","Node":"n1"}`, 503, "bind-queue"},
		{"/v1/decisions", "", `{"pod":` + pod("new", "1", "") + `}`, 429, "decision-queue"},
	} {
		t.Run(c.path, func(t *testing.T) {
			h, s := startSlow(t, func(l *limits.Limits) {
				l.FilterInFlight, l.FilterQueue, l.BindInFlight, l.BindQueue, l.DecisionInFlight, l.DecisionQueue = 1, 1, 1, 1, 1, 1
				l.ExtenderQueueWait, l.ExtenderDeadline = time.Minute, time.Minute
			})
			var group sync.WaitGroup
			group.Go(func() { h.do("POST", c.path, c.body) })
			<-s.entered
			group.Go(func() { h.do("POST", c.path, c.body) })
			waitFor(t, func() bool { return waiting(h.api) == 1 })
			began := time.Now()
			a := h.do("POST", c.path, c.body)
			if took := time.Since(began); a.StatusCode != c.status || took > 30*time.Second {
				t.Errorf("%d after %s", a.StatusCode, took)
			}
			if c.status == 503 && len(a.body) > 0 {
				t.Errorf("kube-scheduler reads no body: %s", a.body)
			}
			if c.status == 429 && (a.Header.Get("Retry-After") == "" || !strings.Contains(string(a.body), c.limit)) {
				t.Errorf("%v %s", a.Header, a.body)
			}
			if c.other != "" { // another cluster has slots of its own
				group.Go(func() {
					if a := h.do("POST", c.other, c.body); a.StatusCode != 200 {
						t.Errorf("another cluster: %d", a.StatusCode)
					}
				})
				<-s.entered
			}
			close(s.let)
			group.Wait()
			text := string(h.want(200, nil, "GET", "/metrics", "").body)
			if !strings.Contains(text, `berth_shed_total{cause="`+c.limit+`",route="`+c.path+`"} 1`) {
				t.Error("not counted")
			}
			if c.path == "/prioritize" && !strings.Contains(text, `berth_prioritize_failures_total{cause="overload"} 1`) {
				t.Error("a refused /prioritize is not counted")
			}
			if n := strings.Count(h.log.String(), `"overloaded"`); n != 1 {
				t.Errorf("%d lines in the log", n)
			}
		})
	}
}

func waiting(a *API) int {
	n := 0
	for _, c := range a.Calls() {
		n += c.Waiting
	}
	return n
}

func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	for began := time.Now(); !ok(); time.Sleep(time.Millisecond) {
		if time.Since(began) > 30*time.Second {
			t.Fatal("it did not come to that")
		}
	}
}

func TestQueueWaitsNoLongerThanTold(t *testing.T) {
	h, s := startSlow(t, func(l *limits.Limits) { l.FilterInFlight, l.ExtenderQueueWait = 1, 20*time.Millisecond })
	var group sync.WaitGroup
	body := filterBody(pod("web", "1", ""), "n1")
	group.Go(func() { h.do("POST", "/filter", body) })
	<-s.entered
	if a := h.do("POST", "/filter", body); a.StatusCode != 503 {
		t.Errorf("%d", a.StatusCode)
	}
	close(s.let)
	group.Wait()
	h.want(200, nil, "POST", "/filter", body)
}

// TestDeadline ends what takes too long: kube-scheduler would have given up a moment later.
func TestDeadline(t *testing.T) {
	h, _ := startSlow(t, func(l *limits.Limits) {
		l.ExtenderDeadline, l.ExtenderQueueWait, l.DecisionDeadline = 50*time.Millisecond, 10*time.Millisecond, 50*time.Millisecond
	})
	if a := h.do("POST", "/filter", filterBody(pod("web", "1", ""), "n1")); a.StatusCode != 503 || len(a.body) > 0 {
		t.Errorf("%d %s", a.StatusCode, a.body)
	}
	var p exchange.Problem
	h.want(503, &p, "POST", "/v1/decisions", `{"pod":`+pod("new", "1", "")+`}`)
	if p.Type != "urn:berth:problem:deadline" {
		t.Errorf("%+v", p)
	}
}

// TestInnerFailuresStayInside answers a fault of ours without its words, and never as "no node
// fits".
func TestInnerFailuresStayInside(t *testing.T) {
	h, s := startSlow(t, func(*limits.Limits) {})
	s.err = errors.New("disk of secret.example is broken")
	close(s.let)
	body := filterBody(pod("web", "1", ""), "n1")
	for _, c := range []struct{ path, body string }{
		{"/filter", body}, {"/prioritize", body}, {"/bind", `{"PodName":"web","PodNamespace":"shop","PodUID":"uid-web","Node":"n1"}`}, {"/v1/decisions", `{"pod":` + pod("new", "1", "") + `}`},
	} {
		a := h.do("POST", c.path, c.body)
		if a.StatusCode != 500 || strings.Contains(string(a.body), "secret") {
			t.Errorf("%s: %d %s", c.path, a.StatusCode, a.body)
		}
		if id := a.Header.Get("X-Request-Id"); !strings.Contains(h.log.String(), "secret.example") || id == "" {
			t.Errorf("%s: the log does not say what failed", c.path)
		}
	}
}
