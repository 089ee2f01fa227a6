package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.uber.org/goleak"

	"berth/api"
	"berth/internal/config"
	"berth/internal/decision"
	"berth/internal/decision/bind"
	"berth/internal/decision/record"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/limits"
	"berth/internal/handlers/rest"
	"berth/internal/jobs"
	"berth/internal/jobs/replays"
	"berth/internal/jobs/simulations"
	"berth/internal/priorityclass"
	"berth/internal/revision"
	"berth/internal/semantics"
	"berth/internal/store"
	"berth/internal/store/groupcommit"
	"berth/internal/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// harness is a server over real rooms, and a client that holds every answer to the API's
// description.
type harness struct {
	*testing.T
	api    *API
	url    string
	client *http.Client
	log    *syncBuffer
	m      *revision.Manager
	o      admit.Options
	// ahead is by how much the revisions' clock is before the real one.
	ahead *atomic.Int64
}

type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// openLog opens a store in a directory of its own and the rooms over it.
func openLog(t testing.TB) (*revision.Manager, *record.Log, store.Store) {
	t.Helper()
	m, l, _, st := openLogAndClasses(t, new(atomic.Int64))
	return m, l, st
}

func openLogAndClasses(t testing.TB, ahead *atomic.Int64) (*revision.Manager, *record.Log, *priorityclass.Registry, store.Store) {
	t.Helper()
	ctx := context.Background()
	file, err := sqlite.Open(ctx, t.TempDir(), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	st := store.Traced(file)
	g := groupcommit.NewGroup(st, groupcommit.Options{CallersWrite: true})
	m, err := revision.Open(ctx, st, g, revision.Options{
		ProfileOf: (&decision.Configuration{Profiles: config.Default(semantics.Default())}).Named,
		Clock:     func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) },
	})
	if err != nil {
		t.Fatal(err)
	}
	stored, err := priorityclass.Open(ctx, st, priorityclass.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, err := range []error{stored.Close(), m.Close(), g.Close(ctx), st.Close()} {
			if err != nil {
				t.Error(err)
			}
		}
	})
	return m, record.New(m, st, &decision.Configuration{Profiles: config.Default(semantics.Default())}, record.Options{Classes: stored}), stored, st
}

func optionsFor(m *revision.Manager, l *record.Log, st store.Store) admit.Options {
	batches := replays.New(st, l, jobs.Options{ParseProfiles: config.Parse, Unfinished: 3})
	return admit.Options{Clusters: m, Decisions: l, Binder: bind.New(m, l, bind.Options{}), Replays: batches, Simulations: simulations.New(st, jobs.Options{Unfinished: 3, PerCluster: 2}), Capacities: st, Queries: st, Seals: st, Calls: st, Events: st, ParseProfiles: config.Parse, Limits: limits.Default()}
}

// start serves real rooms; change may alter the options before.
func start(t *testing.T, change func(*admit.Options)) *harness {
	t.Helper()
	ahead := new(atomic.Int64)
	m, l, stored, st := openLogAndClasses(t, ahead)
	log := &syncBuffer{}
	registry := prometheus.NewRegistry()
	exporter, err := otelprom.New(otelprom.WithRegisterer(registry), otelprom.WithoutScopeInfo(), otelprom.WithoutTargetInfo())
	if err != nil {
		t.Fatal(err)
	}
	provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter))
	t.Cleanup(func() { _ = provider.Shutdown(context.Background()) })
	o := optionsFor(m, l, st)
	o.PriorityClasses = stored
	o.Log = slog.New(slog.NewJSONHandler(log, &slog.HandlerOptions{Level: slog.LevelInfo}))
	o.Meter, o.Metrics = provider.Meter("berth"), promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true})
	if change != nil {
		change(&o)
	}
	a, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(a.Handler())
	client := &http.Client{Transport: &http.Transport{}, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		t.Errorf("redirected to %s", r.URL)
		return http.ErrUseLastResponse
	}}
	t.Cleanup(func() {
		client.CloseIdleConnections()
		s.Close()
	})
	return &harness{T: t, api: a, url: s.URL, client: client, log: log, m: m, o: o, ahead: ahead}
}

// answer is a response, read whole.
type answer struct {
	*http.Response
	body []byte
}

// do sends a request and validates the response against api/openapi.yaml.
func (h *harness) do(method, path, body string, headers ...string) answer {
	h.Helper()
	req, err := http.NewRequest(method, h.url+path, strings.NewReader(body))
	if err != nil {
		h.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := h.client.Do(req)
	if err != nil {
		h.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		h.Fatal(err)
	}
	if resp.Header.Get("X-Request-Id") == "" {
		h.Errorf("%s %s: no X-Request-Id", method, path)
	}
	if err := conforms(req, resp, text); err != nil {
		h.Errorf("%s %s: %d %.500s\nis not as described: %v", method, path, resp.StatusCode, text, err)
	}
	return answer{resp, text}
}

// want sends a request, checks the status and decodes the answer into out unless that is nil.
func (h *harness) want(status int, out any, method, path, body string, headers ...string) answer {
	h.Helper()
	a := h.do(method, path, body, headers...)
	if a.StatusCode != status {
		h.Fatalf("%s %s: %d, want %d: %.800s", method, path, a.StatusCode, status, a.body)
	}
	if out != nil {
		if err := json.Unmarshal(a.body, out); err != nil {
			h.Fatalf("%s %s: %v: %.300s", method, path, err, a.body)
		}
	}
	return a
}

// described is the API's description, made strict: an answer may hold nothing that it does not
// name.
var described = sync.OnceValues(func() (routers.Router, error) {
	doc, err := openapi3.NewLoader().LoadFromData(api.OpenAPI)
	if err != nil {
		return nil, err
	}
	for _, s := range doc.Components.Schemas {
		if len(s.Value.Properties) > 0 && s.Value.AdditionalProperties.Schema == nil {
			no := false
			s.Value.AdditionalProperties.Has = &no
		}
		nullIsAny(s)
	}
	return gorillamux.NewRouter(doc)
})

// nullIsAny lets properties of any type be null, as OpenAPI 3.0.3 does and the library does not.
func nullIsAny(s *openapi3.SchemaRef) {
	if s == nil || s.Ref != "" {
		return
	}
	s.Value.Nullable = s.Value.Nullable || s.Value.IsEmpty()
	nullIsAny(s.Value.Items)
	for _, p := range s.Value.Properties {
		nullIsAny(p)
	}
}

func conforms(req *http.Request, resp *http.Response, body []byte) error {
	router, err := described()
	if err != nil {
		return err
	}
	// The description has no servers; paths alone are matched.
	at := req.Clone(context.Background())
	at.URL.Scheme, at.URL.Host, at.Host = "", "", ""
	route, params, err := router.FindRoute(at)
	if err != nil {
		if resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusMethodNotAllowed {
			if got := resp.Header.Get("Content-Type"); got != "application/problem+json" {
				return fmt.Errorf("outside the routes: Content-Type %q", got)
			}
			return nil
		}
		return err
	}
	media := resp.Header.Get("Content-Type")
	opts := &openapi3filter.Options{IncludeResponseStatus: true, MultiError: true}
	if !strings.HasSuffix(media, "/json") && !strings.HasSuffix(media, "+json") && !strings.HasPrefix(media, "text/plain") {
		opts.ExcludeResponseBody = true
	}
	return openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: at, PathParams: params, Route: route},
		Status:                 resp.StatusCode, Header: resp.Header, Body: io.NopCloser(bytes.NewReader(body)), Options: opts,
	})
}

// Objects of the tests' clusters.

func node(name, cpu string, labels ...string) string {
	l := `"kubernetes.io/hostname":"` + name + `"`
	for i := 0; i+1 < len(labels); i += 2 {
		l += fmt.Sprintf(`,%q:%q`, labels[i], labels[i+1])
	}
	return fmt.Sprintf(`{"kind":"Node","apiVersion":"v1","metadata":{"name":%q,"labels":{%s}},"status":{"allocatable":{"cpu":%q,"memory":"8Gi","pods":"110"}}}`, name, l, cpu)
}

func pod(name, cpu, more string) string {
	return fmt.Sprintf(`{"kind":"Pod","apiVersion":"v1","metadata":{"name":%q,"namespace":"shop","uid":"uid-%s"},"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":%q}}}]%s}}`, name, name, cpu, more)
}

func listOf(items ...string) string {
	return `{"kind":"List","apiVersion":"v1","items":[` + strings.Join(items, ",") + `]}`
}

// small is a cluster of three nodes, one of them full and one tainted.
func small() string {
	tainted := strings.Replace(node("n3", "4"), `"status"`, `"spec":{"taints":[{"key":"gpu","value":"true","effect":"NoSchedule"}]},"status"`, 1)
	return listOf(node("n1", "4"), node("n2", "1"), tainted, pod("web", "2", ""), pod("busy", "500m", `,"nodeName":"n2"`))
}

func (h *harness) upload(cluster, body string) rest.Snapshot {
	h.Helper()
	var s rest.Snapshot
	a := h.do("POST", "/v1/snapshots?cluster="+cluster, body)
	if a.StatusCode != 201 && a.StatusCode != 200 {
		h.Fatalf("upload: %d %s", a.StatusCode, a.body)
	}
	if err := json.Unmarshal(a.body, &s); err != nil {
		h.Fatal(err)
	}
	return s
}
