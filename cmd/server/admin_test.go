package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"berth/internal/ops/admin"
)

// adminURL returns the address of the admin listener that a server's log names.
func adminURL(t *testing.T, log *logs) string {
	t.Helper()
	for began := time.Now(); time.Since(began) < 10*time.Second; time.Sleep(5 * time.Millisecond) {
		if m := regexp.MustCompile(`admin serves.*(http://[0-9.:]+)/`).FindStringSubmatch(log.String()); m != nil {
			return m[1]
		}
	}
	t.Fatalf("the log names no admin listener: %s", log)
	return ""
}

func ask(t *testing.T, url string, headers ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(body)
}

// TestAdmin walks over the admin listener: each path answers there and on no other listener.
func TestAdmin(t *testing.T) {
	r := serve(t, t.TempDir(), func(s *settings) { s.AdminListen, s.Extender.Listen = "127.0.0.1:0", "127.0.0.1:0" })
	rest, extender, _ := strings.Cut(r.url, "\n")
	r.url = rest
	if code, body := r.post(t, "/v1/snapshots?cluster=prod", oneNode); code != http.StatusCreated {
		t.Fatalf("upload: %d %s", code, body)
	}
	at := adminURL(t, r.log)
	for path, want := range map[string]string{
		"/": "/statusz", "/statusz": "name: prod\n", "/flagz": "", "/logz": `"msg":"admin serves"`, "/metrics": "berth_build_info",
		"/debug/pprof/": "goroutine", "/debug/pprof/goroutine?debug=2": "net/http", "/debug/pprof/heap": "", "/debug/pprof/symbol?0x1": "num_symbols",
	} {
		if code, body := ask(t, at+path); code != http.StatusOK || !strings.Contains(body, want) {
			t.Errorf("%s: %d, want 200 and %q in\n%s", path, code, want, body)
		}
		if path == "/" || path == "/metrics" {
			continue // which other listeners have
		}
		for _, other := range []string{rest, "http://" + extender} {
			if code, _ := ask(t, other+path); code != http.StatusNotFound {
				t.Errorf("%s%s: %d, want 404", other, path, code)
			}
		}
	}
	for _, p := range admin.Paths {
		if code, _ := ask(t, at+p.Path); code != http.StatusOK {
			t.Errorf("%s is listed and answers %d", p.Path, code)
		}
	}
	for _, path := range []string{"/v1/clusters", "/readyz", "/debug/pprof/cmdline"} {
		if code, _ := ask(t, at+path); code != http.StatusNotFound {
			t.Errorf("the admin listener has %s: %d", path, code)
		}
	}
	for _, bad := range []struct {
		header, value string
		want          int
	}{
		{"Host", "evil.example:80", http.StatusMisdirectedRequest},
		{"Sec-Fetch-Site", "cross-site", http.StatusForbidden},
		{"Sec-Fetch-Site", "same-site", http.StatusForbidden},
		{"Sec-Fetch-Site", "same-origin", http.StatusOK},
	} {
		if code, body := ask(t, at+"/statusz", bad.header, bad.value); code != bad.want {
			t.Errorf("%s %s: %d, want %d: %s", bad.header, bad.value, code, bad.want, body)
		}
	}
}

// TestAdminStatus: the status has the server's parts, and no names where they are hidden.
func TestAdminStatus(t *testing.T) {
	r := serve(t, t.TempDir(), func(s *settings) { s.AdminListen = "127.0.0.1:0" })
	if code, body := r.post(t, "/v1/snapshots?cluster=prod", oneNode); code != http.StatusCreated {
		t.Fatalf("upload: %d %s", code, body)
	}
	at := adminURL(t, r.log)
	var s admin.Status
	_, body := ask(t, at+"/statusz", "Accept", "application/json")
	if err := json.Unmarshal([]byte(body), &s); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	switch {
	case len(s.Clusters) != 1 || s.Clusters[0].Revision != 1 || s.Clusters[0].Objects["Node"] != 1 || s.Clusters[0].Bytes == 0 || s.Clusters[0].Age == "":
		t.Errorf("clusters: %s", body)
	case s.Store.Backend != "sqlite" || s.Store.Problem != "" || s.Store.Files["berth.db"] == 0:
		t.Errorf("store: %s", body)
	case len(s.Calls) != 10 || s.Calls[0].Class != "filter" || s.Calls[0].Slots != 64:
		t.Errorf("calls: %s", body)
	case s.Memory.Heap == 0 || s.Memory.Budget == 0 || s.Goroutines == 0 || s.Records.Capacity != queueCapacity || s.Version == "":
		t.Errorf("process: %s", body)
	}
	for _, path := range []string{"/statusz", "/metrics", "/logz", "/flagz"} {
		if _, body := ask(t, at+path+"?names=hidden"); strings.Contains(body, "prod") || body == "" && path != "/flagz" {
			t.Errorf("%s?names=hidden: %s", path, body)
		}
	}
}

// TestAdminStaysOnLoopback: no other setting lets the admin listener out.
func TestAdminStaysOnLoopback(t *testing.T) {
	for _, address := range []string{"0.0.0.0:6060", ":6060", "[::]:6060", "192.0.2.1:6060", "berth.example:6060", "127.0.0.1", "127.0.0.1:x"} {
		code, _, errs := command(t, "serve", "--insecure", "--data-dir", t.TempDir(), "--listen", "127.0.0.1:0", "--admin-listen", address)
		if code != 1 || !strings.Contains(errs, "--admin-listen") {
			t.Errorf("%s: exit %d: %s", address, code, errs)
		}
		if l, err := listenAdmin(address); err == nil {
			t.Errorf("%s was opened", address)
			_ = l.Close()
		}
	}
}

// TestAdminFlags: the settings in force are there, without the secrets in them.
func TestAdminFlags(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	log, ready := &logs{}, filepath.Join(t.TempDir(), "ready")
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{
			"serve", "--data-dir", t.TempDir(), "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0", "--ready-file", ready,
			"--otlp-endpoint", "http://canary-user:canary-word@127.0.0.1:1/v1?token=canary-token", "--scenario-jobs", "33",
		}, &bytes.Buffer{}, log)
	}()
	defer func() {
		cancel()
		<-ended
		http.DefaultClient.CloseIdleConnections()
	}()
	_, body := ask(t, adminURL(t, log)+"/flagz")
	for _, want := range []string{"scenario-jobs: 33  # flag\n", `otlp-endpoint: "http://xxxxx@127.0.0.1:1/v1?xxxxx"`, `data-dir: `} {
		if !strings.Contains(body, want) {
			t.Errorf("want %q in\n%s", want, body)
		}
	}
	if strings.Contains(body, "canary") {
		t.Errorf("a secret is in\n%s", body)
	}
}
