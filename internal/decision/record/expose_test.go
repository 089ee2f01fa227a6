package record_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	otelprom "go.opentelemetry.io/otel/exporters/prometheus"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"berth/internal/cli"
	"berth/internal/config"
	"berth/internal/decision"
	"berth/internal/decision/bind"
	"berth/internal/decision/record"
	"berth/internal/handlers"
	"berth/internal/handlers/admit"
	"berth/internal/handlers/limits"
	"berth/internal/ops/admin"
	"berth/internal/ops/doctor"
	"berth/internal/revision"
	"berth/internal/semantics"
	"berth/internal/store/groupcommit"
	"berth/test/pgtest"
)

// ofRequest are the warnings of an answer, which quote the request to its caller.
var ofRequest = regexp.MustCompile(`"warnings":\[("(\\.|[^"\\])*",?)*\]`)

// expose sends every canary through the API over a backend, and tells which of
// them it found in what was written: the store (files and what they hold once
// decompressed), the log at its most talkative, metrics, traces, and answers.
func expose(t *testing.T, backend string, all []*canary) map[string]map[string]bool {
	t.Helper()
	ctx := context.Background()
	st, address := backends[backend](t)
	var log bytes.Buffer
	lines := &admin.Log{}
	logger := slog.New(lines.Handler(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	g := groupcommit.NewGroup(st, groupcommit.Options{})
	m, err := revision.Open(ctx, st, g, revision.Options{Log: logger})
	if err != nil {
		t.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	exporter, err := otelprom.New(otelprom.WithRegisterer(registry))
	if err != nil {
		t.Fatal(err)
	}
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(exporter))
	spans := tracetest.NewInMemoryExporter()
	tracer := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	l := record.New(m, st, &decision.Configuration{Profiles: config.Default(semantics.Default())}, record.Options{})
	api, err := handlers.New(admit.Options{
		Clusters: m, Decisions: l, Binder: bind.New(m, l, bind.Options{}), ParseProfiles: config.Parse, Limits: limits.Default(),
		Log: logger, Meter: meters.Meter("berth"), Tracer: tracer, Metrics: promhttp.HandlerFor(registry, promhttp.HandlerOpts{}),
	})
	if err != nil {
		t.Fatal(err)
	}
	var answers bytes.Buffer
	send := func(path, body string) int {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		api.Handler().ServeHTTP(w, r)
		answers.Write(ofRequest.ReplaceAll(w.Body.Bytes(), nil))
		return w.Code
	}
	sendAll(t, all, send)
	metrics := httptest.NewRecorder()
	api.Handler().ServeHTTP(metrics, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	bundled := support(t, admin.Options{
		Status: func(context.Context) *admin.Status {
			st := &admin.Status{Calls: api.Calls()}
			for _, v := range m.Held() {
				st.Clusters = append(st.Clusters, admin.Cluster{Name: v.Cluster, Objects: v.Summary.Objects})
			}
			return st
		},
		Doctor: func(context.Context) []doctor.Finding { return nil },
		Log:    lines, Metrics: registry,
	})
	for _, err := range []error{m.Close(), g.Close(ctx)} {
		if err != nil {
			t.Error(err)
		}
	}
	traces, err := json.Marshal(spans.GetSpans())
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{meters.Shutdown(ctx), tracer.Shutdown(ctx)} {
		if err != nil {
			t.Error(err)
		}
	}
	if len(traces) < 1000 || metrics.Body.Len() < 1000 || log.Len() < 1000 {
		t.Errorf("%d bytes of traces, %d of metrics, %d of log: nothing was looked at", len(traces), metrics.Body.Len(), log.Len())
	}
	seen := map[string]map[string]bool{"store": {}, "log": {}, "metrics": {}, "traces": {}, "answers": {}, "bundle": {}}
	look := search(all)
	look(log.Bytes(), seen["log"])
	look(metrics.Body.Bytes(), seen["metrics"])
	look(traces, seen["traces"])
	look(answers.Bytes(), seen["answers"])
	look(bundled, seen["bundle"])
	inStore(t, backend, address, func(b []byte) { look(b, seen["store"]) })
	return seen
}

// support returns what berth support collects from an admin listener, unpacked.
func support(t *testing.T, o admin.Options) []byte {
	t.Helper()
	s := httptest.NewServer(admin.Handler(o))
	defer s.Close()
	path := filepath.Join(t.TempDir(), "bundle")
	streams := cli.Standard()
	if code := cli.Run(t.Context(), "berth", []string{"support", "--admin", strings.TrimPrefix(s.URL, "http://"), "-f", path}, streams, cli.Version{}); code != 0 {
		t.Fatalf("berth support: exit %d", code)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	zip, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"cluster-1", "berth_decisions", "goroutine ", `"msg":`} {
		if !bytes.Contains(all, []byte(want)) {
			t.Errorf("%q is not in the bundle of %d bytes: nothing was looked at", want, len(all))
		}
	}
	return all
}

// sendAll sends what is in order in one snapshot, each pod as a question, and
// the nodes with an extender's call; the rest one by one.
func sendAll(t *testing.T, all []*canary, send func(path, body string) int) {
	t.Helper()
	var items, nodes []string
	for _, c := range all {
		if c.good {
			items = append(items, string(c.json))
			if c.kind == "Node" {
				nodes = append(nodes, string(c.json))
			}
		}
	}
	list := func(items []string) string {
		return `{"kind":"List","apiVersion":"v1","items":[` + strings.Join(items, ",") + `]}`
	}
	if code := send("/v1/snapshots?cluster=aviary", list(items)); code != http.StatusCreated {
		t.Fatalf("the snapshot of %d objects: status %d", len(items), code)
	}
	if code := send("/v1/snapshots?cluster=few", list(nodes[:1])); code != http.StatusCreated {
		t.Fatalf("a snapshot of one node: status %d", code)
	}
	overlaid := false
	for _, c := range all {
		switch {
		case !c.good:
			send("/v1/snapshots?cluster=bad", list([]string{string(c.json)}))
			if c.kind == "Pod" {
				send("/v1/decisions", fmt.Sprintf(`{"snapshot":"few@latest","pod":%s}`, c.json))
			}
		case c.kind == "Pod":
			send("/v1/decisions", fmt.Sprintf(`{"snapshot":"few@latest","explain":"full","pod":%s}`, c.json))
			args := fmt.Sprintf(`{"Pod":%s,"NodeNames":["x"]}`, c.json)
			if !overlaid {
				args = fmt.Sprintf(`{"Pod":%s,"Nodes":{"items":[%s]}}`, c.json, strings.Join(nodes, ","))
				overlaid = true
			}
			send("/clusters/few/filter", args)
			send("/filter", args+`}`) // no such cluster, and no such JSON
		}
	}
}

// search looks for texts as they are and in base64, wherever that begins: the
// letters that all of them share show where to look closer.
func search(all []*canary) func(b []byte, found map[string]bool) {
	const letters = 12 // enough to hold a text's digits, however it is shifted
	cores := []string{"Y25y", "Nucn", "jbnJ"}
	encoded := map[string]string{}
	for _, c := range all {
		for shift, from := range []int{0, 2, 3} {
			e := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("_", shift) + c.text))
			encoded[e[from:from+letters]] = c.text
		}
	}
	return func(b []byte, found map[string]bool) {
		for _, m := range canaryText.FindAll(b, -1) {
			found[string(m)] = true
		}
		for _, core := range cores {
			for at := 0; ; at++ {
				i := bytes.Index(b[at:], []byte(core))
				if i < 0 {
					break
				}
				at += i
				if text, ok := encoded[string(b[at:min(at+letters, len(b))])]; ok {
					found[text] = true
				}
			}
		}
	}
}

// TestSearchFindsBase64 keeps the search itself honest.
func TestSearchFindsBase64(t *testing.T) {
	c := &canary{text: "cnry00123x"}
	look := search([]*canary{c, {text: "cnry00124x"}})
	for shift := range 7 {
		found := map[string]bool{}
		look([]byte("{"+base64.StdEncoding.EncodeToString([]byte(strings.Repeat("a", shift)+c.text+"bc"))+"}"), found)
		if len(found) != 1 || !found[c.text] {
			t.Errorf("shifted by %d: found %v", shift, found)
		}
	}
}

// inStore calls look with what a store wrote: its files, and every value of every table,
// decompressed.
func inStore(t *testing.T, backend, address string, look func([]byte)) {
	t.Helper()
	driver, name, dir := "pgx", address, ""
	tables := `SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'`
	if backend == "sqlite" {
		driver, dir = "sqlite", address
		name = "file:" + (&url.URL{Path: filepath.Join(address, "berth.db")}).EscapedPath() + "?mode=ro"
		tables = `SELECT name FROM sqlite_schema WHERE type = 'table'`
	} else if os.Getenv(pgtest.EnvURL) == "" {
		dir = filepath.Dir(pgtest.Shared(t).Socket())
	}
	db, err := sql.Open(driver, name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	names := column(t, db, tables)
	if len(names) < 5 {
		t.Fatalf("tables %s", names)
	}
	values, compressed := 0, 0
	for _, table := range names {
		for _, v := range column(t, db, `SELECT * FROM `+string(table)) {
			values++
			look(v)
			if bytes.HasPrefix(v, []byte{0x28, 0xb5, 0x2f, 0xfd}) {
				plain, err := record.InputText(v)
				if err != nil {
					t.Fatalf("table %s: %v", table, err)
				}
				compressed++
				look(plain)
			}
		}
	}
	if values < 1000 || compressed < 3 {
		t.Errorf("%d values, %d of them compressed: the store is empty", values, compressed)
	}
	if dir == "" {
		return
	}
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil //nolint:nilerr // a server's files come and go
		}
		f, err := os.Open(path)
		if err != nil {
			return nil //nolint:nilerr // likewise
		}
		defer func() { _ = f.Close() }()
		b, err := io.ReadAll(f)
		look(b)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// column returns all values of a query, row after row.
func column(t *testing.T, db *sql.DB, query string) (out [][]byte) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		for _, v := range values {
			switch v := v.(type) {
			case []byte:
				out = append(out, bytes.Clone(v))
			case string:
				out = append(out, []byte(v))
			}
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}
