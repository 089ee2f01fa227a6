package handlers

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/access"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/handlers/limits"
)

// unread is a body that no handler may read.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("the body of a refused call was read")
	return 0, http.ErrBodyReadAfterClose
}

func (u unread) Close() error { return nil }

// A call that is refused for want of a place is refused before its body is read.
func TestRefusedBeforeTheBodyIsRead(t *testing.T) {
	h, s := startSlow(t, func(l *limits.Limits) { l.DecisionInFlight, l.DecisionQueue = 1, 1 })
	var group sync.WaitGroup
	defer group.Wait()
	defer close(s.let)
	body := `{"pod":` + pod("new", "1", "") + `}`
	group.Go(func() { h.do("POST", "/v1/decisions", body) })
	<-s.entered
	group.Go(func() { h.do("POST", "/v1/decisions", strings.Replace(body, "new", "next", 1)) })
	waitFor(t, func() bool { return waiting(h.api) == 1 })
	w := httptest.NewRecorder()
	h.api.Handler().ServeHTTP(w, httptest.NewRequest("POST", "/v1/decisions", unread{t}))
	if w.Code != http.StatusTooManyRequests {
		t.Errorf("status %d", w.Code)
	}
}

// TestUnknownClusterIsRefusedBeforeItsBody: made-up names do not get their bodies read, however
// large.
func TestUnknownClusterIsRefusedBeforeItsBody(t *testing.T) {
	h := start(t, nil)
	for path, status := range map[string]int{
		"/clusters/x/filter": 200, "/clusters/x/prioritize": 404, "/clusters/x/score-only/prioritize": 404, "/clusters/x/preempt": 404, "/clusters/x/bind": 200,
		"/clusters/x/shadow/filter": 404, "/clusters/x/score-only/filter": 404, "/clusters/x/shadow/prioritize": 404, "/clusters/x/shadow/preempt": 404,
		"/clusters/NoName/shadow/filter": 422, "/v1/snapshots/x@latest/changes": 404,
	} {
		r := httptest.NewRequest("POST", path, unread{t})
		r.ContentLength = 110 << 20
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.api.Handler().ServeHTTP(w, r)
		if w.Code != status || status == 200 && !strings.Contains(w.Body.String(), "has no snapshot") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

// held is a body that is never sent to its end before it is let go.
type held struct{ entered, let chan struct{} }

func (b held) Read([]byte) (int, error) {
	b.entered <- struct{}{}
	<-b.let
	return 0, http.ErrBodyReadAfterClose
}

// TestShadowIsAdmittedBeforeItsBody: bodies in Nodes mode are read a few at a time over all
// clusters, those of shadows too; small ones are let pass without being judged.
func TestShadowIsAdmittedBeforeItsBody(t *testing.T) {
	h := start(t, func(o *admit.Options) {
		o.Limits.NodesInFlight, o.Limits.NodesTotal, o.Limits.FilterInFlight, o.Limits.FilterTotal = 1, 2, 1, 3
		o.Limits.ExtenderQueueWait = 20 * time.Millisecond
	})
	b := held{make(chan struct{}, 9), make(chan struct{})}
	var group sync.WaitGroup
	for _, name := range []string{"a", "b", "c"} {
		h.upload(name, small())
	}
	for _, name := range []string{"a", "b"} {
		for _, size := range []int64{110 << 20, 1 << 20} {
			group.Go(func() {
				r := httptest.NewRequest("POST", "/clusters/"+name+"/shadow/filter", b)
				r.ContentLength = size
				h.api.Handler().ServeHTTP(httptest.NewRecorder(), r)
			})
			<-b.entered
		}
	}
	r := httptest.NewRequest("POST", "/clusters/c/shadow/filter", unread{t})
	r.ContentLength = 110 << 20
	w := httptest.NewRecorder()
	h.api.Handler().ServeHTTP(w, r)
	if w.Code != http.StatusServiceUnavailable || w.Body.Len() > 0 {
		t.Errorf("a third body in Nodes mode: %d %s", w.Code, w.Body)
	}
	if a := h.do("POST", "/clusters/a/shadow/filter", filterBody(pod("web", "1", ""), "n1")); a.StatusCode != 200 || !strings.Contains(string(a.body), `"n1"`) || a.Header.Get("Berth-Decision-Id") != "" {
		t.Errorf("a small body of a busy cluster: %d %s", a.StatusCode, a.body)
	}
	close(b.let)
	group.Wait()
}

// TestOneCallerLeavesRoom: one address does not take all slots of decisions, and its calls that
// wait give way to those of another.
func TestOneCallerLeavesRoom(t *testing.T) {
	h, s := startSlow(t, func(l *limits.Limits) { l.DecisionInFlight, l.DecisionQueue = 8, 8 })
	var group sync.WaitGroup
	body := `{"pod":` + pod("new", "1", "") + `}`
	ask := func(from string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("POST", "/v1/decisions", strings.NewReader(body))
		r.RemoteAddr = from
		w := httptest.NewRecorder()
		h.api.Handler().ServeHTTP(w, r)
		return w
	}
	answers := make(chan int, 15)
	for range cap(answers) {
		group.Go(func() { answers <- ask("192.0.2.1:1000").Code })
	}
	for range 7 {
		<-s.entered
	}
	waitFor(t, func() bool { return waiting(h.api) == 8 })
	if w := ask("192.0.2.1:2000"); w.Code != http.StatusTooManyRequests {
		t.Errorf("the caller that has all places to wait: %d", w.Code)
	}
	for range 2 { // the first has a slot at once, the second a place to wait
		group.Go(func() {
			if w := ask("192.0.2.2:1000"); w.Code != http.StatusCreated {
				t.Errorf("another caller: %d %s", w.Code, w.Body)
			}
		})
	}
	<-s.entered
	if got := <-answers; got != http.StatusTooManyRequests || waiting(h.api) != 8 {
		t.Errorf("the call that gave way: %d, %d wait", got, waiting(h.api))
	}
	close(s.let)
	group.Wait()
	for range 14 {
		if got := <-answers; got != http.StatusCreated {
			t.Errorf("a call that had its place: %d", got)
		}
	}
}

// blocked is a caller that takes nothing of its answer until it is let.
type blocked struct {
	*httptest.ResponseRecorder
	writes chan struct{}
	let    chan struct{}
}

func (u blocked) Write(p []byte) (int, error) {
	u.writes <- struct{}{}
	<-u.let
	return len(p), nil
}

// TestOneReaderLeavesRoom: a caller that does not read its answers leaves slots to others.
func TestOneReaderLeavesRoom(t *testing.T) {
	h := start(t, func(o *admit.Options) { o.Limits.ReadInFlight, o.Limits.ReadQueue = 8, 8 })
	writes, let := make(chan struct{}), make(chan struct{})
	var group sync.WaitGroup
	for range 14 {
		group.Go(func() {
			r := httptest.NewRequest("GET", "/v1/clusters", nil)
			r.RemoteAddr = "192.0.2.1:1000"
			h.api.Handler().ServeHTTP(blocked{httptest.NewRecorder(), writes, let}, r)
		})
	}
	for range 7 {
		<-writes
	}
	r := httptest.NewRequest("GET", "/v1/clusters", nil)
	r.RemoteAddr = "192.0.2.2:1000"
	w := httptest.NewRecorder()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if h.api.Handler().ServeHTTP(w, r.WithContext(ctx)); w.Code != http.StatusOK {
		t.Errorf("another caller: %d %s", w.Code, w.Body)
	}
	go func() {
		for range writes { // those that waited
		}
	}()
	close(let)
	group.Wait()
	close(writes)
}

func TestCaller(t *testing.T) {
	for from, want := range map[string]string{
		"192.0.2.1:80": "192.0.2.1", "[::ffff:192.0.2.1]:80": "192.0.2.1", "[2001:db8:1:2:3::4%eth0]:80": "2001:db8:1:2::/64", "pipe": "",
	} {
		r := &http.Request{RemoteAddr: from}
		if got := exchange.CallerOf(r); got.String() != want || got.Exempt() != (want == "") {
			t.Errorf("%s: %s, exempt %v", from, got, got.Exempt())
		}
	}
	r := httptest.NewRequest("GET", "/", nil)
	r.RemoteAddr = "127.0.0.1:80"
	as := func(i *access.Identity) exchange.Caller {
		return exchange.CallerOf(r.WithContext(access.With(r.Context(), i, "", "")))
	}
	if got := as(access.Anonymous()); got.String() != "127.0.0.1" || !got.Exempt() {
		t.Errorf("%s, exempt %v", got, got.Exempt())
	}
	if got := as(&access.Identity{Kind: access.KindToken, Name: "ci"}); got != (exchange.Caller{Identity: "token:ci"}) || got.Exempt() {
		t.Errorf("%s, exempt %v", got, got.Exempt())
	}
	if got := as(access.Server()); !got.Exempt() {
		t.Errorf("%s is limited", got)
	}
}
