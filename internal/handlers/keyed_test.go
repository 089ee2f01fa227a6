package handlers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/decision"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/exchange"
	"berth/internal/handlers/keyed"
	"berth/internal/handlers/rest"
	"berth/internal/store"
)

// dyingCalls are the keyed calls of a server that dies before it ends one.
type dyingCalls struct {
	store.KeyedCalls
	dead bool
}

var errDead = errors.New("the server has died")

func (d *dyingCalls) EndCall(ctx context.Context, c *store.KeyedCall) error {
	if d.dead {
		return errDead
	}
	return d.KeyedCalls.EndCall(ctx, c)
}

func (d *dyingCalls) DropCall(ctx context.Context, c *store.KeyedCall) error {
	if d.dead {
		return errDead
	}
	return d.KeyedCalls.DropCall(ctx, c)
}

// lapse ends the lease of a call, as time does where its server is dead.
func (d *dyingCalls) BeginCall(ctx context.Context, c *store.KeyedCall, lease time.Duration) (*store.KeyedCall, error) {
	if d.dead {
		lease = -time.Second
	}
	return d.KeyedCalls.BeginCall(ctx, c, lease)
}

// startDying starts a server whose keyed calls can be left as by a death.
func startDying(t *testing.T) (*harness, *dyingCalls) {
	d := &dyingCalls{}
	h := start(t, func(o *admit.Options) {
		d.KeyedCalls = o.Calls
		o.Calls = d
	})
	return h, d
}

// write is a call that writes.
type write struct{ name, path, body string }

// keptWrites are calls whose answers are kept with what they write.
func keptWrites() []write {
	return []write{
		{"upload", "/v1/snapshots?cluster=new", small()},
		{"fork", "/v1/clusters/copy/fork", `{"from":"default@latest"}`},
		{"change", "/v1/snapshots/default@latest/changes?fieldValidation=Warn", `{"apply":[` + pod("extra", "1", `,"unknown":1`) + `]}`},
		{"decision", "/v1/decisions", `{"snapshot":"default@latest","pod":` + pod("asked", "1", "") + `}`},
		{"bind", "/v1/decisions", `{"snapshot":"default@latest","bind":true,"pod":` + pod("bound", "1", "") + `}`},
		{"pending", "/v1/decisions", `{"snapshot":"default@latest","bind":true,"pod":` + pod("huge", "999", "") + `}`},
		{"placement", "/v1/placements", `{"snapshot":"default@latest","bind":true,"count":2,"template":` + pod("job", "1", "") + `}`},
		{"placement of none", "/v1/placements", `{"snapshot":"default@latest","bind":true,"atomic":true,"count":2,"template":` + pod("wide", "999", "") + `}`},
		{"commit", "/v1/holds/HOLD/commit", ""},
		{"release", "/v1/holds/HOLD/release", ""},
	}
}

// ready makes the hold that a write is about, if it is about one.
func (w *write) ready(h *harness) {
	if !strings.Contains(w.path, "HOLD") {
		return
	}
	var held struct{ ID string }
	h.want(http.StatusCreated, &held, "POST", "/v1/placements", `{"snapshot":"default@latest","hold":"1h","template":`+pod("held", "1", "")+`,"count":1}`)
	w.path = strings.Replace(w.path, "HOLD", held.ID, 1)
}

// written counts what is stored: revisions, and records.
func (h *harness) written() string {
	h.Helper()
	var clusters rest.ClusterList
	h.want(http.StatusOK, &clusters, "GET", "/v1/clusters", "")
	out := ""
	for _, c := range clusters.Items {
		out += fmt.Sprintf("%s: %d revisions, %d decisions; ", c.Name, c.Revisions, c.Decisions)
	}
	return out
}

// again repeats a call and wants its first answer, byte for byte.
func (h *harness) again(first answer, path, body string, headers ...string) {
	h.Helper()
	got := h.do("POST", path, body, headers...)
	if got.StatusCode != first.StatusCode || string(got.body) != string(first.body) || got.Header.Get(keyed.ReplayedHeader) != "true" {
		h.Errorf("POST %s again: %d %q %s\nwant %d %s", path, got.StatusCode, got.Header.Get(keyed.ReplayedHeader), got.body, first.StatusCode, first.body)
	}
	for _, name := range []string{"Content-Type", "Location", "Warning", "Berth-Decision-Id"} {
		if a, b := got.Header.Values(name), first.Header.Values(name); strings.Join(a, "\n") != strings.Join(b, "\n") {
			h.Errorf("POST %s again: %s: %q, want %q", path, name, a, b)
		}
	}
}

// TestKeyedCallsAreDoneOnce: a call with a key writes once, and is answered alike each time; a call
// without one writes each time.
func TestKeyedCallsAreDoneOnce(t *testing.T) {
	for _, w := range keptWrites() {
		t.Run(w.name, func(t *testing.T) {
			h := cellOf(t, node("n1", "16"))
			w.ready(h)
			key := []string{keyed.Header, "order-1"}
			first := h.do("POST", w.path, w.body, key...)
			if first.StatusCode >= 300 || first.Header.Get(keyed.ReplayedHeader) != "" {
				t.Fatalf("%d %v %s", first.StatusCode, first.Header, first.body)
			}
			h.untouched(func() {
				before := h.written()
				h.again(first, w.path, w.body, key...)
				h.again(first, w.path, w.body, key...)
				if now := h.written(); now != before {
					t.Errorf("%s, before %s", now, before)
				}
			})
		})
	}
}

// TestKeyedCallsOutliveTheirServer: what was written before the server died is answered as it would
// have been, and a second server writes nothing.
func TestKeyedCallsOutliveTheirServer(t *testing.T) {
	for _, w := range keptWrites() {
		t.Run(w.name, func(t *testing.T) {
			h, calls := startDying(t)
			h.upload("default", listOf(node("n1", "16")))
			w.ready(h)
			calls.dead = true
			first := h.do("POST", w.path, w.body, keyed.Header, "k")
			calls.dead = false
			before := h.written()
			h.again(first, w.path, w.body, keyed.Header, "k")
			if now := h.written(); now != before || first.StatusCode >= 300 {
				t.Errorf("%d, %s, before %s", first.StatusCode, now, before)
			}
		})
	}
}

// TestKeyedAnswerThatIsNotKnown: where the answer is not part of the commit, a call that is
// repeated after a death learns what was written, and writes nothing.
func TestKeyedAnswerThatIsNotKnown(t *testing.T) {
	for _, w := range []struct{ path, body, about string }{
		{"/v1/priorityclasses", `{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"high"},"value":5}`, "/v1/priorityclasses?cluster=default"},
		{"/v1/replays", `{"cluster":"default","since":"2020-01-01T00:00:00Z","until":"2030-01-01T00:00:00Z"}`, "/v1/replays/"},
		{"/v1/clusters/default/drains", `{"nodes":["n1"],"wait":"0s"}`, "/v1/simulations/"},
	} {
		t.Run(w.path, func(t *testing.T) {
			h, calls := startDying(t)
			h.upload("default", small())
			calls.dead = true
			first := h.do("POST", w.path, w.body, keyed.Header, "k")
			if first.StatusCode >= 300 {
				t.Fatalf("%d %s", first.StatusCode, first.body)
			}
			calls.dead = false
			p := h.problem(http.StatusConflict, "POST", w.path, w.body, keyed.Header, "k")
			if p.Type != "urn:berth:problem:written" || !strings.HasPrefix(p.Location, w.about) {
				t.Errorf("%+v", p)
			}
			if p := h.problem(http.StatusUnprocessableEntity, "POST", w.path, w.body+" ", keyed.Header, "k"); p.Type != "urn:berth:problem:key-reused" {
				t.Errorf("%+v", p)
			}
		})
	}
}

// TestKeyedCallIsTakenOver: a call whose server died before it wrote is done by who repeats it, and
// a server that was only slow writes nothing then.
func TestKeyedCallIsTakenOver(t *testing.T) {
	h, calls := startDying(t)
	h.upload("default", small())
	body := `{"snapshot":"default@latest","bind":true,"pod":` + pod("p", "1", "") + `}`
	_, err := calls.BeginCall(t.Context(), &store.KeyedCall{Caller: "anonymous", Key: "k", Token: "dead", Route: "POST /v1/decisions"}, -time.Second)
	if err != nil {
		t.Fatal(err)
	}
	first := h.do("POST", "/v1/decisions", body, keyed.Header, "k")
	if first.StatusCode != http.StatusCreated || first.Header.Get(keyed.ReplayedHeader) != "" {
		t.Fatalf("%d %v %s", first.StatusCode, first.Header, first.body)
	}
	h.again(first, "/v1/decisions", body, keyed.Header, "k")
}

// TestKeyedRaces: of calls with one key at once, over two servers on one store, one is done.
func TestKeyedRaces(t *testing.T) {
	h := cellOf(t, node("n1", "1000"))
	second, err := New(h.o)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(second.Handler())
	defer s.Close()
	other := &harness{T: t, url: s.URL, client: h.client}
	for round := range 4 {
		body := `{"snapshot":"default@latest","bind":true,"pod":` + pod(fmt.Sprintf("p%d", round), "1", "") + `}`
		var wg sync.WaitGroup
		answers := make([]answer, 8)
		for i := range answers {
			wg.Go(func() {
				at := h
				if i%2 == 1 {
					at = other
				}
				answers[i] = at.do("POST", "/v1/decisions", body, keyed.Header, fmt.Sprint("k", round))
			})
		}
		wg.Wait()
		done := 0
		for _, a := range answers {
			if a.Header.Get(keyed.ReplayedHeader) == "" {
				done++
			}
			if a.StatusCode != http.StatusCreated || string(a.body) != string(answers[0].body) {
				t.Errorf("%d %s\nwant %s", a.StatusCode, a.body, answers[0].body)
			}
		}
		if done != 1 {
			t.Errorf("%d calls were done", done)
		}
	}
	if got := h.written(); got != "default: 5 revisions, 4 decisions; " {
		t.Error(got)
	}
}

// TestKeyOfAnotherRequest: a key is for one route and one body.
func TestKeyOfAnotherRequest(t *testing.T) {
	h := cellOf(t, node("n1", "16"))
	body := `{"snapshot":"default@latest","pod":` + pod("p", "1", "") + `}`
	first := h.want(http.StatusCreated, nil, "POST", "/v1/decisions", body, keyed.Header, "k")
	for _, w := range []write{
		{"another body", "/v1/decisions", strings.Replace(body, `"1"`, `"2"`, 1)},
		{"a longer body", "/v1/decisions", body + "\n"},
		{"a shorter body", "/v1/decisions", body[:len(body)-1]},
		{"another query", "/v1/decisions?fieldValidation=Warn", body},
		{"another route", "/v1/placements", body},
	} {
		h.untouched(func() {
			p := h.problem(http.StatusUnprocessableEntity, "POST", w.path, w.body, keyed.Header, "k")
			if p.Type != "urn:berth:problem:key-reused" || len(p.Errors) != 1 || p.Errors[0].Field != keyed.Header {
				t.Errorf("%s: %+v", w.name, p)
			}
		})
	}
	h.again(first, "/v1/decisions", body, keyed.Header, "k")
}

// TestKeysAreChecked names the header, and what it wants.
func TestKeysAreChecked(t *testing.T) {
	h := cellOf(t, node("n1", "16"))
	body := `{"snapshot":"default@latest","pod":` + pod("p", "1", "") + `}`
	for _, key := range []string{"", "a b", "é", "a\tb", strings.Repeat("k", 256)} {
		p := h.problem(http.StatusBadRequest, "POST", "/v1/decisions", body, keyed.Header, key)
		if len(p.Errors) != 1 || p.Errors[0].Field != keyed.Header || !strings.Contains(p.Detail, "1 to 255 visible") {
			t.Errorf("%q: %+v", key, p)
		}
	}
	h.want(http.StatusCreated, nil, "POST", "/v1/decisions", body, keyed.Header, strings.Repeat("~", 255))
}

// TestKeyedRefusals: what was refused is refused again in the same words, though it would be done
// now. What failed in the server is not kept: the next call is done.
func TestKeyedRefusals(t *testing.T) {
	busy := &busyBinder{}
	h := start(t, func(o *admit.Options) {
		busy.Binder = o.Binder
		o.Binder = busy
	})
	h.upload("default", small())
	body := `{"apply":[` + node("n9", "1") + `]}`
	gone := h.want(http.StatusNotFound, nil, "POST", "/v1/snapshots/later@latest/changes", body, keyed.Header, "k")
	h.upload("later", small())
	h.again(gone, "/v1/snapshots/later@latest/changes", body, keyed.Header, "k")

	bind := `{"snapshot":"default@latest","bind":true,"pod":` + pod("p", "1", "") + `}`
	for _, busy.err = range []error{store.ErrUnavailable, errDead, &exchange.Error{Status: http.StatusTooManyRequests, Kind: "overload", Detail: "busy"}} {
		if a := h.do("POST", "/v1/decisions", bind, keyed.Header, "b"); a.StatusCode < 500 && a.StatusCode != http.StatusTooManyRequests {
			t.Errorf("%d %s", a.StatusCode, a.body)
		}
	}
	busy.err = nil
	first := h.do("POST", "/v1/decisions", bind, keyed.Header, "b")
	if first.StatusCode != http.StatusCreated || first.Header.Get(keyed.ReplayedHeader) != "" {
		t.Errorf("%d %s", first.StatusCode, first.body)
	}
}

// busyBinder is a binder that fails.
type busyBinder struct {
	admit.Binder
	err error
}

func (b *busyBinder) Decide(ctx context.Context, q decision.Question) (*decision.Answer, error) {
	if b.err != nil {
		return nil, b.err
	}
	return b.Binder.Decide(ctx, q)
}

// TestKeysBelongToCallers: another identity's key of the same name is another key, and a repeated
// answer hides what the first one hid. A secret is not kept: who repeats the call learns which
// token there is.
func TestKeysBelongToCallers(t *testing.T) {
	g := startGuarded(t)
	g.want(http.StatusCreated, nil, "POST", "/v1/snapshots", listOf(node("n1", "16")), "Authorization", "Bearer "+g.token("up", "admin", "*", "*"))
	as := func(token, path, body string) answer {
		return g.do("POST", path, body, keyed.Header, "k", "Authorization", "Bearer "+token)
	}
	one, two := g.token("one", "decider", "*", "*"), g.token("two", "decider", "*", "*")
	body := `{"snapshot":"default@latest","pod":` + pod("p", "1", "") + `}`
	first := as(one, "/v1/decisions", body)
	other := as(two, "/v1/decisions", body)
	if first.StatusCode != http.StatusCreated || other.StatusCode != http.StatusCreated || other.Header.Get(keyed.ReplayedHeader) != "" || string(first.body) == string(other.body) {
		t.Errorf("%d %s\n%d %s", first.StatusCode, first.body, other.StatusCode, other.body)
	}
	g.again(first, "/v1/decisions", body, keyed.Header, "k", "Authorization", "Bearer "+one)

	root := g.token("root", "admin", "*", "*")
	made := as(root, "/v1/tokens", `{"name":"new","grants":[{"role":"viewer","clusters":["*"],"namespaces":["*"]}]}`)
	var token rest.NewToken
	if err := json.Unmarshal(made.body, &token); err != nil || token.Secret == "" {
		t.Fatalf("%d %s", made.StatusCode, made.body)
	}
	again := as(root, "/v1/tokens", `{"name":"new","grants":[{"role":"viewer","clusters":["*"],"namespaces":["*"]}]}`)
	if again.StatusCode != http.StatusConflict || !strings.Contains(string(again.body), "/v1/tokens/"+token.ID) || strings.Contains(string(again.body), token.Secret) {
		t.Errorf("%d %s", again.StatusCode, again.body)
	}
	if kept, err := g.o.Calls.BeginCall(t.Context(), &store.KeyedCall{Caller: "token:root", Key: "k", Token: "x", Route: "POST /v1/tokens"}, time.Second); err != nil || kept.Answer != nil || kept.State != store.CallWritten {
		t.Errorf("%+v %v", kept, err)
	}
}

// TestEveryWriteIsKeyed: each POST below /v1 that writes takes a key.
func TestEveryWriteIsKeyed(t *testing.T) {
	writesNothing := map[string]bool{
		"/v1/clusters/{cluster}/garbage": true, "/v1/pods/termination": true, "/v1/nodes/eviction-ranking": true, "/v1/nodes/eviction": true,
		"/v1/pods/admission": true, "/v1/pods/lifecycle": true, "/v1/previews": true,
	}
	for _, e := range cellOf(t).api.rest.Endpoints() {
		path, post := strings.CutPrefix(e.Route, "POST ")
		if want := post && !writesNothing[path]; (e.Keyed != keyed.None) != want {
			t.Errorf("%s: %v", e.Route, e.Keyed)
		}
	}
}

// problem wants a call to be refused, and returns how.
func (h *harness) problem(status int, method, path, body string, headers ...string) (p exchange.Problem) {
	h.Helper()
	h.want(status, &p, method, path, body, headers...)
	return p
}
