package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"berth/api"
	"berth/internal/config"
	"berth/internal/semantics"
	"berth/internal/store/postgres"
	"berth/migrations"
	"berth/test/pgtest"
)

const (
	somePod  = `{"metadata":{"name":"p","namespace":"shop"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}}`
	someWork = `{"workloads":[{"pod":` + somePod + `,"count":2}]}`
	extended = `{"Pod":` + somePod + `,"NodeNames":["n1"]}`
	oneCell  = `{"kind":"List","apiVersion":"v1","items":[
{"kind":"Node","apiVersion":"v1","metadata":{"name":"n1"},"status":{"allocatable":{"cpu":"64","memory":"8Gi","pods":"110"}}},
{"kind":"Pod","apiVersion":"v1","metadata":{"name":"waits","namespace":"shop","uid":"u1"},"spec":{"containers":[{"name":"c","resources":{"requests":{"cpu":"1"}}}]}},
` + someDeployment + `]}`
	someDeployment = `{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"d","namespace":"shop"},"spec":{"replicas":1,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c"}]}}}}`
)

// bodies are what the operations with a body get, and what belongs behind a path; NEW is a name
// that is not taken.
var bodies = map[string]string{
	"POST filter": extended, "POST prioritize": extended,
	"POST preempt": `{"Pod":` + somePod + `,"NodeNameToMetaVictims":{"n1":{"Pods":[]}}}`,
	"POST bind":    `{"PodName":"waits","PodNamespace":"shop","PodUID":"u1","Node":"n1"}`,

	"POST /v1/snapshots":                oneCell,
	"POST /v1/snapshots/{id}/changes":   `{"patch":[{"kind":"Node","name":"n1","type":"merge","patch":{"metadata":{"labels":{"a":"NEW"}}}}]}`,
	"GET /v1/snapshots/{id}/diff":       `?to=default@latest`,
	"GET /v1/clusters/{cluster}/events": `?wait=0s`,
	"GET /v1/queries/{name}":            `?cluster=default`,
	"GET /v1/views/{view}":              `?cluster=default&since=2026-01-01T00:00:00Z`,
	"POST /v1/decisions":                `{"snapshot":"default@latest","pod":` + somePod + `}`,
	"POST /v1/placements":               `{"snapshot":"default@latest","bind":true,"pods":[{"metadata":{"name":"NEW"},"spec":{"containers":[{"name":"c"}]}}]}`,
	"POST /v1/holds/{id}/commit":        ``,
	"POST /v1/holds/{id}/release":       ``,
	"POST /v1/previews":                 `{"objects":` + oneCell + `,"pod":` + somePod + `}`,
	"POST /v1/decisions/{id}/replay":    `{}`,
	"POST /v1/replays":                  `{"cluster":"default"}`,
	"POST /v1/simulations":              `{"base":"default@latest","wait":"0s","clock":true,"arrivals":` + someWork + `}`,
	"GET /v1/simulations/{id}/at":       `?time=0s`,
	"POST /v1/priorityclasses":          `{"metadata":{"name":"NEW"},"value":7}`,
	"PUT /v1/priorityclasses/{name}":    `{"metadata":{"name":"mine"},"value":5,"description":"NEW"}`,
	"POST /v1/tokens":                   `{"name":"NEW","grants":[{"role":"viewer","clusters":["*"],"namespaces":["*"]}]}`,
	"POST /v1/tokens/{id}/rotate":       `{}`,

	"POST /v1/clusters/{cluster}/drains":   `{"nodes":["n1"],"force":true}`,
	"POST /v1/clusters/{cluster}/fit":      `{"pod":` + somePod + `}`,
	"POST /v1/clusters/{cluster}/fork":     `{"from":"default@latest"}`,
	"POST /v1/clusters/{cluster}/garbage":  `{}`,
	"POST /v1/clusters/{cluster}/losses":   `{"nodes":["n1"]}`,
	"POST /v1/clusters/{cluster}/pools":    `{"pools":[{"name":"a","like":"n1"}]}`,
	"POST /v1/clusters/{cluster}/rollouts": `{"deployment":` + someDeployment + `}`,
	"POST /v1/nodes/eviction":              `{"signals":{"memory.available":{"available":"1Mi","capacity":"8Gi"}},"pods":[]}`,
	"POST /v1/nodes/eviction-ranking":      `{"signal":"memory","pods":[]}`,
	"POST /v1/pods/admission":              `{"operation":"CREATE","pod":` + somePod + `}`,
	"POST /v1/pods/lifecycle":              `{"pod":` + somePod + `}`,
	"POST /v1/pods/termination":            `{"cause":"delete","pod":` + somePod + `}`,
}

// sitePages are addresses of the explorer.
var sitePages = []string{
	"/", "/pods/shop/waits", "/queue", "/nodes", "/nodes/n1", "/decisions", "/decisions/ID", "/decisions/ID/nodes/n1", "/decisions/ID/replay", "/compare?a=default@1&b=default@latest", "/snapshots",
	"/snapshots/default@1", "/play", "/jobs/JOB", "/sql", "/sql?query=revisions", "/settings", "/find?q=waits", "/capacity", "/map", "/fit", "/drain?ask=1&nodes=n1&force=on", "/lose", "/pools", "/simulate?ask=1",
}

var operation = regexp.MustCompile(`(?m)^  (/\S*):$|^    (get|post|put|delete):$`)

// beneath is a server with a cluster, whose schema changes.
type beneath struct {
	*running
	t   *testing.T
	ids map[string]string // by the part of the path before them
	n   int
}

// try sends a request and wants one of the statuses, or one below 400.
func (b *beneath) try(what, method, address, body string, statuses []int) {
	b.t.Helper()
	b.n++
	body = strings.ReplaceAll(body, "NEW", fmt.Sprint("new-", b.n))
	if strings.HasPrefix(body, "?") {
		address, body = address+body, ""
	}
	req, err := http.NewRequestWithContext(b.t.Context(), method, b.url+address, strings.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := client.Do(req)
	if err != nil {
		b.t.Fatalf("%s: %s %s: %v", what, method, address, err)
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	if res.StatusCode >= 400 && !slices.Contains(statuses, res.StatusCode) || strings.Contains(string(text), "nternal error") || strings.Contains(string(text), "inside berth") {
		b.t.Errorf("%s: %s %s: %d %.300s", what, method, address, res.StatusCode, text)
	}
}

// all tries every operation that takes something away or binds, or every other one and every page.
func (b *beneath) all(what string, takes bool, statuses ...int) {
	b.t.Helper()
	at := ""
	for _, m := range operation.FindAllStringSubmatch(string(api.OpenAPI), -1) {
		if m[1] != "" {
			at = m[1]
			continue
		}
		method := strings.ToUpper(m[2])
		op := method + " " + at
		body, has := bodies[op]
		if !strings.HasPrefix(at, "/v1/") {
			body, has = bodies[method+" "+path.Base(at)]
		}
		if takes != (method == http.MethodDelete || strings.HasSuffix(at, "/cancel") || strings.HasSuffix(at, "/rotate") || strings.HasSuffix(at, "/release") || strings.HasSuffix(at, "bind")) {
			continue
		}
		if !has && (method == http.MethodPost || method == http.MethodPut) && !strings.HasSuffix(at, "/cancel") {
			b.t.Fatalf("%s has no body in the table", op)
		}
		address := strings.NewReplacer("{namespace}/{name}", "shop/waits", "{node}", "n1", "{cluster}", "default", "{file}", "swagger-ui.css", "{view}", "decision_log", "{digest}", config.Default(semantics.Default())[0].Digest).Replace(at)
		if strings.HasSuffix(at, "/fork") { // of a cluster that is not there yet
			address = fmt.Sprintf("/v1/clusters/copy-%d/fork", b.n)
		}
		for kind, id := range b.ids {
			address = strings.NewReplacer("/"+kind+"/{id}", "/"+kind+"/"+id, "/"+kind+"/{name}", "/"+kind+"/"+id).Replace(address)
		}
		b.try(what, method, address, body, statuses)
	}
	for _, page := range sitePages {
		if takes {
			break
		}
		b.try(what, http.MethodGet, strings.NewReplacer("ID", b.ids["decisions"], "JOB", b.ids["simulations"]).Replace(page), "", statuses)
	}
}

// made posts something and keeps its id.
func (b *beneath) made(kind, address, body string) {
	b.t.Helper()
	code, out := b.post(b.t, address, body)
	var got struct{ ID string }
	if err := json.Unmarshal(out, &got); err != nil || code >= 300 {
		b.t.Fatalf("%s: %d %s", address, code, out)
	}
	b.ids[kind] = got.ID
}

func (b *beneath) fill() {
	b.t.Helper()
	b.n++
	b.made("snapshots", "/v1/snapshots", oneCell)
	b.ids["snapshots"] = "default@latest"
	b.made("decisions", "/v1/decisions", bodies["POST /v1/decisions"])
	b.made("holds", "/v1/placements", `{"snapshot":"default@latest","hold":"24h","pods":[`+strings.Replace(somePod, `"p"`, fmt.Sprintf(`"held-%d"`, b.n), 1)+`]}`)
	b.made("replays", "/v1/replays", bodies["POST /v1/replays"])
	b.made("simulations", "/v1/simulations", bodies["POST /v1/simulations"])
	b.until("v1/simulations/"+b.ids["simulations"], func(text string) bool { return strings.Contains(text, `"state":"done"`) })
	b.made("tokens", "/v1/tokens", strings.ReplaceAll(bodies["POST /v1/tokens"], "NEW", fmt.Sprint("t", b.n)))
	b.ids["priorityclasses"], b.ids["queries"] = "mine", "revisions"
	if code, out := b.post(b.t, "/v1/priorityclasses", `{"metadata":{"name":"mine"},"value":5}`); code >= 300 && code != http.StatusConflict {
		b.t.Fatalf("%d %s", code, out)
	}
}

// TestSchemaBeneath takes the schema away under a server, down to every version, and tries every
// operation and every page, at once and when the server has noticed: none is a 500, and after the
// way up all goes on.
func TestSchemaBeneath(t *testing.T) {
	url := pgtest.URL(t)
	if err := postgres.MigrateUp(t.Context(), url, postgres.MigrateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.CloseIdleConnections)
	b := &beneath{t: t, ids: map[string]string{}, running: serve(t, t.TempDir(), func(s *settings) {
		s.DatabaseURL, s.Pages, s.PollInterval, s.LogSample = url, "read-write", 500*time.Millisecond, 0
	})}
	newest, err := migrations.Postgres.Newest()
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []int{newest - 1, 18, 16, migrations.Oldest, 0} { // each lacks something more
		b.fill()
		b.all("healthy", false)
		for _, takes := range []bool{false, true} {
			down(t, url, version)
			if !takes {
				b.all(fmt.Sprintf("schema %d, at once", version), false, http.StatusServiceUnavailable)
			} else { // a call that works takes away what the next one names
				b.all(fmt.Sprintf("schema %d, at once", version), true, http.StatusServiceUnavailable, http.StatusConflict, http.StatusNotFound)
			}
			b.until("readyz?verbose", func(text string) bool {
				return strings.Contains(text, "[-]store: not ready") && strings.Contains(text, "the schema is not")
			})
			if !takes {
				b.all(fmt.Sprintf("schema %d", version), false, http.StatusServiceUnavailable)
				b.all(fmt.Sprintf("schema %d", version), true, http.StatusServiceUnavailable)
			}
			if err := postgres.MigrateUp(t.Context(), url, postgres.MigrateOptions{}); err != nil {
				t.Fatal(err)
			}
			b.until("readyz?verbose", func(text string) bool { return !strings.Contains(text, "database") })
		}
	}
	b.fill()
	b.all("at the end", false)
	for line := range strings.Lines(b.log.String()) {
		if strings.Contains(line, `"status":500`) || strings.Contains(line, "panic") {
			t.Error(line)
		}
	}
}

// down migrates beneath a server, which a way down waits for otherwise.
func down(t *testing.T, url string, version int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	for err = postgres.ErrServing; errors.Is(err, postgres.ErrServing); { // its row may come back meanwhile
		if _, err := conn.Exec(t.Context(), `DELETE FROM servers`); err != nil {
			t.Fatal(err)
		}
		err = postgres.MigrateTo(t.Context(), url, version, postgres.MigrateOptions{ServersTimeout: time.Millisecond})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// until waits until a page is as wanted.
func (b *beneath) until(page string, wanted func(text string) bool) {
	b.t.Helper()
	text := ""
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if _, text = b.fetch(b.t, "/"+page, ""); wanted(text) {
			return
		}
	}
	b.t.Fatalf("%s: %s\n%s", page, text, b.log)
}
