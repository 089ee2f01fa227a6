package web

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"berth/internal/access"
	"berth/internal/config"
	"berth/internal/decision"
	"berth/internal/decision/bind"
	"berth/internal/decision/record"
	"berth/internal/handlers"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/limits"
	"berth/internal/jobs"
	"berth/internal/jobs/replays"
	"berth/internal/jobs/simulations"
	"berth/internal/priorityclass"
	"berth/internal/revision"
	"berth/internal/semantics"
	"berth/internal/store/groupcommit"
	"berth/internal/store/sqlite"
)

// serve starts a server with the API and the pages over a store of its own.
func serve(t testing.TB) string {
	t.Helper()
	base, _ := serveSlowly(t, 0)
	return base
}

// serveSlowly starts a server whose forms wait for a time, and returns what works on a job.
func serveSlowly(t testing.TB, wait time.Duration) (base string, work func()) {
	t.Helper()
	ctx := context.Background()
	st, err := sqlite.Open(ctx, t.TempDir(), sqlite.Options{})
	check(t, err)
	g := groupcommit.NewGroup(st, groupcommit.Options{})
	m, err := revision.Open(ctx, st, g, revision.Options{ProfileOf: (&decision.Configuration{Profiles: config.Default(semantics.Default())}).Named})
	check(t, err)
	registry, err := priorityclass.Open(ctx, st, priorityclass.Options{})
	check(t, err)
	l := record.New(m, st, &decision.Configuration{Profiles: config.Default(semantics.Default())}, record.Options{Classes: registry})
	batches := replays.New(st, l, jobs.Options{ParseProfiles: config.Parse, Unfinished: 3})
	sims := simulations.New(st, jobs.Options{})
	api, err := handlers.New(admit.Options{
		Clusters: m, Decisions: l, Binder: bind.New(m, l, bind.Options{}), Replays: batches, Simulations: sims, Queries: st, PriorityClasses: registry,
		ParseProfiles: config.Parse, Limits: limits.Default(),
	})
	check(t, err)
	site, err := New(Options{API: api.InProcess(), Writable: true, Version: "test", Wait: wait, Settings: []Setting{{Name: "listen", Value: "127.0.0.1:8080", From: "flag"}}})
	check(t, err)
	api.Unknown(site.Unknown)
	routes := api.Handler(site.Routes)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if role, namespace, ok := strings.Cut(r.Header.Get("Test-Caller"), "/"); ok {
			grants := access.Grants{{Role: role, Clusters: []string{"*"}, Namespaces: []string{namespace}}}
			r = r.WithContext(access.With(r.Context(), &access.Identity{Kind: access.KindToken, Name: role, Grants: grants}, "", ""))
		}
		routes.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		s.Close()
		http.DefaultClient.CloseIdleConnections()
		for _, err := range []error{registry.Close(), m.Close(), g.Close(ctx), st.Close()} {
			check(t, err)
		}
	})
	return s.URL, func() {
		worked, err := sims.Step(ctx, api.RunSimulation)
		if !worked || err != nil {
			t.Fatalf("no job was worked on: %v, %v", worked, err)
		}
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// sampled starts a server that holds the sample.
func sampled(t testing.TB) string {
	t.Helper()
	base := serve(t)
	loadSample(t, base)
	return base
}

func loadSample(t testing.TB, base string) {
	t.Helper()
	resp, err := http.PostForm(base+"/sample", url.Values{}) //nolint:noctx // a test
	check(t, err)
	check(t, resp.Body.Close())
	if got := resp.Request.URL.String(); got != base+"/?cluster=sample" || resp.StatusCode != http.StatusOK {
		t.Fatalf("the sample leads to %s, %d", got, resp.StatusCode)
	}
}

// reply is an answer without its body.
type reply struct {
	StatusCode int
	Header     http.Header
	URL        string // behind redirects
}

// get requests a page, with values of headers in pairs.
func get(t testing.TB, address string, headers ...string) (string, reply) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	check(t, err)
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	check(t, err)
	defer func() { _ = resp.Body.Close() }()
	all, err := io.ReadAll(resp.Body)
	check(t, err)
	return string(all), reply{resp.StatusCode, resp.Header, resp.Request.URL.String()}
}

// decided records a decision about a pod of the examples and returns its id.
func decided(t testing.TB, base, pod string) string {
	t.Helper()
	return post(t, base+"/v1/decisions", `{"snapshot":"sample@latest","podRef":{"namespace":"shop","name":"`+pod+`"}}`).Get("Berth-Decision-Id")
}

// apply makes a change to the sample.
func apply(t testing.TB, base, body string) {
	t.Helper()
	post(t, base+"/v1/snapshots/sample@latest/changes", body)
}

// post sends JSON to a route and returns the headers of its answer.
func post(t testing.TB, address, body string) http.Header {
	t.Helper()
	resp, err := http.Post(address, "application/json", strings.NewReader(body)) //nolint:noctx // a test
	check(t, err)
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode/100 != 2 {
		text, _ := io.ReadAll(resp.Body)
		t.Fatalf("%s: %d %s", address, resp.StatusCode, text)
	}
	return resp.Header
}
