package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"berth/api"
	"berth/test/pgtest"
)

// freeAddress is one that can be listened on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// answers sends a request to a server that may not listen yet.
func answers(t *testing.T, method, url string) (status int, text string) {
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader("{}"))
		if err != nil {
			t.Error(err)
			return 0, ""
		}
		res, err := client.Do(req)
		if err != nil {
			continue
		}
		raw, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		return res.StatusCode, string(raw)
	}
	return 0, "no answer"
}

// TestStartsWithoutDatabase: a server that starts while Postgres is away listens, is not ready,
// with the reason, never answers no to what it cannot know, and becomes ready by itself.
func TestStartsWithoutDatabase(t *testing.T) {
	pg := pgtest.Private(t, pgtest.Options{})
	t.Cleanup(client.CloseIdleConnections)
	if code, out, errs := command(t, "migrate", "up", "--database-url", pg.URL()); code != 0 {
		t.Fatalf("%d %s %s", code, out, errs)
	}
	dir, address := t.TempDir(), freeAddress(t)
	set := func(s *settings) { s.DatabaseURL, s.Listen = pg.URL(), address }
	r := serve(t, dir, set)
	if code, out := r.post(t, "/v1/snapshots", oneNode); code != http.StatusCreated {
		t.Fatalf("%d %s", code, out)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if err := pg.Halt(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	looked := make(chan struct{})
	go func() {
		defer close(looked)
		base, at := "http://"+address, ""
		for _, m := range operation.FindAllStringSubmatch(string(api.OpenAPI), -1) {
			if m[1] != "" {
				at = strings.NewReplacer("{cluster}", "default", "{id}", "default@1", "{namespace}", "d", "{name}", "p", "{file}", "f").Replace(m[1])
				continue
			}
			status, text := answers(t, strings.ToUpper(m[2]), base+at)
			switch at {
			case "/livez", "/metrics":
				if status != http.StatusOK || at == "/metrics" && !strings.Contains(text, "berth_database_up 0") {
					t.Errorf("%s: %d %.2000s", at, status, text)
				}
			case "/readyz":
				if status != http.StatusServiceUnavailable || !strings.Contains(text, "[-]store: not ready: it has not been read") || !strings.Contains(text, "connect") {
					t.Errorf("%s: %d %s", at, status, text)
				}
			default:
				if status != http.StatusServiceUnavailable || !strings.Contains(text, "its store cannot be reached yet") {
					t.Errorf("%s: %d %s", at, status, text)
				}
			}
		}
		if err := pg.Launch(); err != nil {
			t.Error(err)
		}
	}()
	r = serve(t, dir, set) // returns when it is ready
	<-looked
	if status, text := answers(t, http.MethodGet, r.url+"/readyz"); status != http.StatusOK || text != "ok\n" {
		t.Errorf("readyz: %d %s", status, text)
	}
	if _, text := answers(t, http.MethodGet, r.url+"/metrics"); !strings.Contains(text, "berth_database_up 1") {
		t.Error("berth_database_up is not 1")
	}
	if code, out := r.post(t, "/v1/decisions", decisionOn("p")); code != http.StatusCreated {
		t.Errorf("%d %s", code, out)
	}
	for _, line := range []string{"the database is away: this server waits for it", "the database is there"} {
		if !strings.Contains(r.log.String(), line) {
			t.Errorf("the log lacks %q:\n%s", line, r.log)
		}
	}
}

// TestEndsWhileItWaits: a server that waits for its database ends in order, and one whose database
// is there and refuses does not wait.
func TestEndsWhileItWaits(t *testing.T) {
	t.Cleanup(client.CloseIdleConnections)
	address := freeAddress(t)
	c := &serveCmd{}
	r := func(ctx context.Context, url string) error {
		*c = serveCmd{settings: valid(t)}
		c.Listen, c.DatabaseURL = address, url
		return c.serve(ctx, newLogger(io.Discard, "json", "info"))
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- r(ctx, fmt.Sprintf("postgres://u@%s/none", freeAddress(t))) }()
	if status, text := answers(t, http.MethodGet, "http://"+address+"/readyz"); status != http.StatusServiceUnavailable {
		t.Errorf("readyz: %d %s", status, text)
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("told to end: %v", err)
	}
	if err := r(t.Context(), strings.Replace(pgtest.Database(t, ""), "/test", "/nothing_of_this_name", 1)+"&dbname=nothing_of_this_name"); err == nil || !strings.Contains(err.Error(), "nothing_of_this_name") {
		t.Errorf("a database that is not there: %v", err)
	}
}
