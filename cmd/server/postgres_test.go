package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"berth/test/pgtest"
)

// A server over Postgres refuses to start without its schema and names the command that migrates.
// After that it decides, and what it wrote is there after a restart.
func TestPostgres(t *testing.T) {
	url := pgtest.URL(t)
	onPostgres := func(s *settings) { s.DatabaseURL = url }
	code, _, errs := command(t, "serve", "--listen", "127.0.0.1:0", "--database-url", url)
	if code == 0 || !strings.Contains(errs, "server migrate up") {
		t.Fatalf("%d %s", code, errs)
	}
	var have, want int
	code, out, errs := command(t, "migrate", "up", "--database-url", url)
	if _, err := fmt.Sscanf(out, "schema %d of %d", &have, &want); code != 0 || err != nil || have != want || have == 0 {
		t.Fatalf("%d %s %s", code, out, errs)
	}
	r := serve(t, t.TempDir(), onPostgres)
	if code, out := r.post(t, "/v1/snapshots", oneNode); code != http.StatusCreated {
		t.Fatalf("%d %s", code, out)
	}
	code, answer := r.post(t, "/v1/decisions", `{"snapshot":"default@latest","bind":true,"pod":{"metadata":{"name":"p"},"spec":{"containers":[{"name":"c"}]}}}`)
	var d struct{ ID, Outcome, BoundSnapshot string }
	if err := json.Unmarshal(answer, &d); err != nil || code != http.StatusCreated || d.Outcome != "Scheduled" || d.BoundSnapshot != "default@2" {
		t.Fatalf("%d %s", code, answer)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	r = serve(t, t.TempDir(), onPostgres)
	code, answer = r.post(t, "/v1/decisions/"+d.ID+"/replay", `{}`)
	if code != http.StatusOK || !strings.HasPrefix(string(answer), `{"identical":true`) {
		t.Fatalf("%d %s", code, answer)
	}
}
