package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// fetch reads a path with a token, and returns the status and the answer.
func (r *running) fetch(t *testing.T, path, token string) (int, string) {
	t.Helper()
	if token == "" {
		return ask(t, r.url+path)
	}
	return ask(t, r.url+path, "Authorization", "Bearer "+token)
}

// TestFirstRun makes a token, starts a server that requires one, and asks.
func TestFirstRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	code, out, errs := command(t, "token", "--data-dir", dir, "create", "--name", "me", "--role", "admin")
	token := strings.TrimSpace(out)
	if code != 0 || !strings.HasPrefix(token, "berth_") || strings.Contains(errs, token) {
		t.Fatalf("%d %q %q", code, out, errs)
	}
	r := serve(t, dir, func(s *settings) {
		s.Access.RequireIdentity = true
		s.MetricsListen = "127.0.0.1:0"
		s.Pages = "read-only"
	})
	r.url, _, _ = strings.Cut(r.url, "\n")
	for path, want := range map[string]int{"/livez": 200, "/readyz": 200, "/docs": 200, "/": 401, "/v1/clusters": 401, "/v1/whoami": 401, "/metrics": 401, "/assets/none": 401} {
		if code, text := r.fetch(t, path, ""); code != want {
			t.Errorf("%s without a token: %d %s", path, code, text)
		}
	}
	if code, text := r.fetch(t, "/v1/whoami", token); code != 200 || !strings.Contains(text, `"kind":"token","name":"me"`) {
		t.Errorf("whoami: %d %s", code, text)
	}
	if code, text := r.fetch(t, "/", token); code != 200 {
		t.Errorf("a page: %d %.200s", code, text)
	}
	if code, _, errs := command(t, "token", "--data-dir", dir, "list"); code == 0 || !strings.Contains(errs, "/v1/tokens") {
		t.Errorf("list beside a server: %d %s", code, errs)
	}
	status, answer := r.post(t, "/v1/snapshots?cluster=prod", `{"apiVersion":"v1","kind":"List","items":[]}`, "Authorization", "Bearer "+token, "Content-Type", "application/json")
	if status != 201 {
		t.Fatalf("upload: %d %s", status, answer)
	}
	if _, text := r.fetch(t, "/v1/snapshots/prod@1", token); !strings.Contains(text, `"askedBy":"token:me"`) {
		t.Errorf("the revision: %s", text)
	}
	_, text := r.fetch(t, "/v1/access/changes", token)
	var changes struct {
		Items []struct {
			Action, Object, AskedBy string
			Detail                  struct{ ProfileDigests map[string]string }
		}
	}
	if err := json.Unmarshal([]byte(text), &changes); err != nil || len(changes.Items) != 2 || changes.Items[0].Action != "server.start" || changes.Items[1].Action != "token.create" || !strings.HasPrefix(changes.Items[1].AskedBy, "shell") {
		t.Fatalf("changes: %v %s", err, text)
	}
	digest := changes.Items[0].Detail.ProfileDigests["default-scheduler"]
	if status, text := r.fetch(t, "/v1/profiles/"+digest, token); status != 200 || !strings.Contains(text, `"profile":"default-scheduler"`) {
		t.Errorf("the configuration of the start, %q: %d %s", digest, status, text)
	}
	if err := r.stop(); err != nil {
		t.Error(err)
	}
	if strings.Contains(r.log.String(), token[6:30]) {
		t.Error("the log holds the token")
	}
	if !strings.Contains(r.log.String(), `"changed"`) || !strings.Contains(r.log.String(), `"askedBy":"token:me"`) {
		t.Errorf("the log does not name who uploaded: %s", r.log)
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		if bytes.Contains(raw, []byte(token)) {
			t.Errorf("%s holds the token", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	code, out, _ = command(t, "token", "--data-dir", dir, "list")
	if code != 0 || !strings.Contains(out, "admin:*/*") || !strings.Contains(out, time.Now().UTC().Format("2006-01-02")) {
		t.Errorf("list: %d %s", code, out)
	}
	if code, out, _ := command(t, "token", "--data-dir", dir, "revoke", "me"); code != 0 || !strings.Contains(out, "revoked me") {
		t.Errorf("revoke: %d %s", code, out)
	}
}
